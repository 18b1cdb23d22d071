"""Models of the toolbox: which can simulate what, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.robot import RobotFault
from geodrome_robots.tasks.models import DYNAMIC_MODELS, require_inertia, require_masses, toolbox_model
from geodrome_robots.tasks.simulation import Arm, panda

USABLE = r"models with dynamics that come with the toolbox are DH\.Panda, DH\.Puma560, DH\.TwoLink, DH\.Stanford"


@pytest.mark.parametrize("name", [*DYNAMIC_MODELS, "DH.UR10", "URDF.px100"])
def test_a_model_with_inertia_is_taken(name):
    require_inertia(toolbox_model(name))


@pytest.mark.parametrize("name", ["DH.LWR4", "DH.Planar3", "URDF.Panda", "URDF.LBR", "URDF.Puma560", "ETS.Panda"])
def test_a_model_without_masses_is_refused_for_torques_and_for_accelerations(name):
    model = toolbox_model(name)
    message = rf"the model {name} has no masses, and so no torques; {USABLE}"

    with pytest.raises(RobotFault, match=message):
        require_masses(model)
    with pytest.raises(RobotFault, match=message):
        require_inertia(model)


@pytest.mark.parametrize("name", ["DH.UR5", "DH.UR3", "URDF.AL5D", "URDF.FrankieOmni"])
def test_a_model_with_a_singular_inertia_has_torques_but_no_accelerations(name):
    model = toolbox_model(name)

    require_masses(model)
    with pytest.raises(RobotFault, match=rf"the model {name} has a singular inertia matrix, eigenvalues .*; {USABLE}"):
        require_inertia(model)


def test_a_model_with_its_mass_200_km_away_is_refused():
    with pytest.raises(RobotFault, match=rf"DH\.IRB140 has a centre of mass 2189\d\d m from its joint; {USABLE}"):
        require_masses(toolbox_model("DH.IRB140"))


@pytest.mark.parametrize("name", ["URDF.UR5", "URDF.KinovaGen3"])
def test_a_model_that_would_be_cloned_is_refused_and_others_are_named(name, monkeypatch, tmp_path):
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))

    with pytest.raises(RobotFault, match=rf"the model {name} is not on this machine: .*; {USABLE}"):
        toolbox_model(name)


def test_a_name_that_the_toolbox_does_not_know_is_refused():
    with pytest.raises(RobotFault, match=r"the model DH\.Panther is not on this machine"):
        toolbox_model("DH.Panther")


def test_an_arm_of_ones_own_goes_by_the_name_of_its_class():
    with pytest.raises(RobotFault, match="the model DHRobot has no masses"):
        require_masses(rtb.DHRobot([rtb.RevoluteDH(a=1)]))


def test_an_arm_is_checked_for_what_it_is_asked_for():
    limits = np.full(6, 2.0)

    Arm(toolbox_model("DH.UR5"), velocity_limits=limits)
    with pytest.raises(RobotFault, match="singular inertia"):
        Arm(toolbox_model("DH.UR5"), velocity_limits=limits, dynamics=True)


def test_the_inertia_of_the_arm_is_that_of_the_toolbox():
    q = np.array([0, -0.3, 0, -2.2, 0, 2, np.pi / 4])

    inertia = panda(dynamics=True).inertia(q)

    # Columns of inverse dynamics without gravity.
    model = rtb.models.DH.Panda()
    columns = [model.rne(q, np.zeros(7), unit, gravity=np.zeros(3)) for unit in np.eye(7)]
    np.testing.assert_allclose(inertia, np.transpose(columns), atol=1e-9)


def test_an_arm_without_stops_turns_on():
    q = panda(stops=False).step(np.full(7, 3.0), np.full(7, 2.0), dt=1.0)

    np.testing.assert_allclose(q, 5.0)


def test_joints_are_off_the_middle_by_one_at_their_stops():
    arm = panda()
    lower, upper = rtb.models.DH.Panda().qlim

    assert arm.off_middle(arm.middle) == 0
    assert arm.off_middle(upper) == pytest.approx(1)
    assert arm.off_middle((arm.middle + lower) / 2) == pytest.approx(0.25)
    assert (arm.clip(upper + 1) == upper).all()
