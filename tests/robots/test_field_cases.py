"""Cases from the field: adapters of the Robotics Toolbox."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome import Client, RobotFault
from geodrome_robots.loop import Limits
from geodrome_robots.robot import Measurement
from geodrome_robots.runner import run
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.simulation import Arm, toolbox_model

LIMITS = np.full(7, 2.0)


def test_an_arm_without_masses_is_refused_at_the_start_where_torques_are_wanted():
    """L64, petercorke/robotics-toolbox-python#636, #236."""
    with pytest.raises(RobotFault, match=r"no masses, and so no torques; .*DH\.Panda"):
        Arm(rtb.models.Panda(), velocity_limits=LIMITS)


def test_an_arm_without_masses_moves():
    """L64: a trial of velocities needs no masses."""
    arm = Arm(rtb.models.Panda(), velocity_limits=LIMITS, torques=False)

    q = arm.step(np.array([0, -0.3, 0, -2.2, 0, 2, 0.8]), np.full(7, 0.1), dt=0.1)

    assert q[0] == pytest.approx(0.01)
    assert arm.pose(q).shape == (4, 4)


def test_a_model_that_would_be_cloned_is_a_clear_error(monkeypatch, tmp_path):
    """L65, petercorke/robotics-toolbox-python#681: with the network or without, nothing is fetched."""
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))

    with pytest.raises(RobotFault, match=r"the model URDF\.UR5 is not on this machine: .*models\.DH\.UR5, if there is"):
        toolbox_model("URDF.UR5")

    assert toolbox_model("DH.UR5").n == 6


def test_a_simulation_that_takes_too_long_is_cut_and_told_as_failed(server, pointer):
    """L65: the friction of the Puma makes its dynamics stiff."""
    puma = rtb.models.DH.Puma560()

    class Stiff(pointer):
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            puma.fdyn(60, puma.qn)
            return super().evaluate(point, seed=seed, stop=stop)

    with Client(server) as client:
        study = client.create_study(f"puma-{uuid4().hex}", space=pointer.space)
        report = run(Stiff(), study, 1, limits=Limits(trial_s=0.2))
        [trial] = study.trials()

    assert report.trials[0].reason == "timeout: the trial took longer than 0.2 s"
    assert (trial.state, trial.reason) == ("failed", "timeout: the trial took longer than 0.2 s")
