"""The orientation task: its arm arrives, its cost is the formula, and it says what it is."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.orientation import Orientation, OrientationOfTheAppendix
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

READY = np.array([0, -0.3, 0, -2.2, 0, 2, np.pi / 4])
BEYOND_JOINT_4 = [0.8940237197296959, -0.03521894289080416, 0.3259800002722648, 0.3053166455416846]


KINDS = [Orientation, OrientationOfTheAppendix]


@pytest.fixture
def targets(generator) -> list[list[float]]:
    space = parse_space(Orientation.space)
    return [random_point(space, generator) for _ in range(30)]


def measured_by(robot, targets) -> list[Mapping[str, float]]:
    """What the arm measures at those of the targets that no joint limit forbids."""
    measured = []
    for target in targets:
        with contextlib.suppress(Infeasible):
            measured.append(robot.evaluate(target, seed=0, stop=Stop()).metrics)
    return measured


@pytest.fixture
def metrics(orientation, targets) -> list[Mapping[str, float]]:
    return measured_by(orientation, targets)


def test_the_arm_arrives_within_a_twentieth_of_a_degree(metrics):
    errors = [measured["final_error_deg"] for measured in metrics]

    assert len(errors) >= 27
    assert max(errors) < 0.05


def test_both_signs_of_a_quaternion_give_the_same_bits(orientation, targets):
    for target in targets[:3]:
        opposite = [-component for component in target]
        assert orientation.evaluate(target, seed=0, stop=Stop()) == orientation.evaluate(opposite, seed=0, stop=Stop())


def test_both_signs_give_the_same_bits_half_a_turn_from_the_start(orientation):
    start = orientation.arm.orientation(READY)
    target = np.array([-start[1], start[0], -start[3], start[2]])  # orthogonal to the start
    assert abs(target @ start) < 1e-16

    assert orientation.evaluate(target.tolist(), seed=0, stop=Stop()) == orientation.evaluate(
        (-target).tolist(), seed=0, stop=Stop()
    )


@pytest.mark.parametrize(("weighting", "weights"), [("printed", (1.0, 1e-4, 1.0)), ("balanced", (1.0, 2e-3, 50.0))])
def test_the_cost_is_the_formula_at_a_posture_that_need_not_move(weighting, weights):
    """At the start orientation the arm stays, so every term follows from the toolbox and scipy alone."""
    model = rtb.models.DH.Panda()
    q = Rotation.from_matrix(model.fkine(READY).R).as_quat(scalar_first=True)
    preferred = np.array([0.8, 0.6, 0.0, 0.0])
    cosine = q @ preferred
    tangent = np.copysign(1, cosine) * (preferred - cosine * q)
    logarithm = tangent / np.linalg.norm(tangent) * np.arccos(abs(cosine))
    expected = (
        weights[0] * np.abs(logarithm).sum()
        + weights[1] * np.sum(model.rne(READY, np.zeros(7), np.zeros(7)) ** 2)
        - weights[2] * model.manipulability(READY, method="yoshikawa", axes="trans") ** 2
    )

    measured = Orientation(weighting).evaluate(q.tolist(), seed=0, stop=Stop())

    assert_allclose(measured.cost, expected, rtol=1e-9)
    assert measured.metrics["saturated_s"] == 0


@pytest.mark.parametrize(("weighting", "weights"), [("printed", (1.0, 0.1, 1e-4)), ("balanced", (1.0, 1.4e-3, 0.03))])
def test_the_cost_of_the_appendix_is_its_formula_at_a_posture_that_need_not_move(weighting, weights):
    model = rtb.models.DH.Panda()
    rotation = Rotation.from_matrix(model.fkine(READY).R)
    linear = model.jacob0(READY)[:3]
    expected = (
        weights[0] * (rotation.inv() * Rotation.from_quat([0.8, 0.6, 0.0, 0.0], scalar_first=True)).magnitude() / 2
        + weights[1] * np.sum(model.gravload(READY) ** 2)
        + weights[2] * np.divide(*np.linalg.svd(linear)[1][[0, -1]]) ** 2
    )

    measured = OrientationOfTheAppendix(weighting).evaluate(
        rotation.as_quat(scalar_first=True).tolist(), seed=0, stop=Stop()
    )

    assert_allclose(measured.cost, expected, rtol=1e-9)


def test_the_preferred_orientation_has_next_to_no_orientation_term(orientation):
    measured = orientation.evaluate([0.8, 0.6, 0, 0], seed=0, stop=Stop())

    assert measured.metrics["orientation_1norm_rad"] < 1e-4


def test_a_target_that_drives_a_joint_into_its_limit_is_infeasible(orientation):
    with pytest.raises(Infeasible, match=r"after 1\.14 s, joint 4 would go to"):
        orientation.evaluate(BEYOND_JOINT_4, seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([0.0, 0.0, 0.0, 0.0], "norm 0"),
        ([2.0, 0.0, 0.0, 0.0], "norm 2"),
        ([1.0, 0.0, 0.0], "shape"),
        ([float("nan"), 0.0, 0.0, 1.0], "not finite"),
        ("up", "numbers"),
    ],
)
def test_what_is_no_orientation_is_refused(orientation, point, message):
    with pytest.raises(ValueError, match=message):
        orientation.evaluate(point, seed=0, stop=Stop())


def test_it_describes_itself():
    robot = Orientation("printed")

    described = robot.describe()

    assert list(described["cost"]["weights"].values()) == [1.0, 1e-4, -1.0]
    assert described["parameters"]["orientation"]["order"] == "wxyz"
    assert (described["time_step_s"], described["horizon_s"], described["deterministic"]) == (0.01, 2.0, True)
