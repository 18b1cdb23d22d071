"""The tool pose task: the arm reaches the hole, and what it measures while it pushes is the toolbox's."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.following import manipulability, pose_error
from geodrome_robots.tasks.simulation import panda
from geodrome_robots.tasks.tool_pose import ToolPose
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

READY = np.array([0, -0.3, 0, -2.2, 0, 2, np.pi / 4])
GOOD = {"position": [0.6, 0.1, 0.3], "orientation": [0.0, 1.0, 0.0, 0.0]}


@pytest.fixture(scope="module")
def robot() -> ToolPose:
    return ToolPose()


@pytest.fixture
def points(generator) -> list[dict]:
    space = parse_space(ToolPose.space)
    return [random_point(space, generator) for _ in range(80)]


def test_the_cost_is_the_formula_at_a_hole_where_the_tool_already_is(robot):
    """Inverse kinematics has nothing to do there, so all follows from the toolbox and scipy."""
    model = rtb.models.DH.Panda()
    begin = model.fkine(READY)
    orientation = Rotation.from_matrix(begin.R)
    axis = begin.R[:, 2]
    q, way = READY, [READY]
    for step in range(100):
        pose, jacobian = model.fkine(q), model.jacob0(q)
        turn = (orientation * Rotation.from_matrix(pose.R).inv()).as_rotvec()
        error = np.concatenate((begin.t + 0.04 * 0.02 * step * axis - pose.t, turn))
        twist = 5 * error + np.concatenate((0.04 * axis, np.zeros(3)))
        q = q + 0.02 * np.linalg.solve(jacobian.T @ jacobian + 1e-4 * np.eye(7), jacobian.T @ twist)
        way.append(q)
    lower, upper = model.qlim
    torques = [model.gravload(q) + model.jacob0(q)[:3].T @ (60 * axis) for q in way]
    expected = (
        0.1 * np.sqrt(np.mean(np.sum(np.square(torques), axis=1)))
        + 17 * np.mean(((2 * np.array(way) - lower - upper) / (upper - lower)) ** 2)
        - 20 * np.mean([model.manipulability(q, method="yoshikawa", axes="trans") for q in way])
    )
    point = {"position": begin.t.tolist(), "orientation": orientation.as_quat(scalar_first=True).tolist()}

    measured = robot.evaluate(point, seed=0, stop=Stop())

    assert measured.metrics["iterations"] == 0
    assert_allclose(measured.cost, expected, rtol=1e-7)


def test_the_error_of_a_pose_falls_as_the_jacobian_says(generator):
    arm = panda()
    model = rtb.models.DH.Panda()
    h = 1e-6
    for q in generator.uniform(*model.qlim, size=(5, 7)):
        position, orientation = arm.pose(q)[:3, 3], arm.orientation(q)
        slopes = np.transpose(
            [
                (pose_error(arm, q - step, position, orientation) - pose_error(arm, q + step, position, orientation))
                / (2 * h)
                for step in h * np.eye(7)
            ]
        )

        assert_allclose(slopes, model.jacob0(q), atol=1e-7)


def test_the_error_of_a_pose_is_the_rotation_vector_of_scipy(generator):
    arm = panda()
    for target in Rotation.random(10, rng=generator):
        now = Rotation.from_matrix(arm.pose(READY)[:3, :3])

        error = pose_error(arm, READY, np.zeros(3), target.as_quat(scalar_first=True))

        assert_allclose(error[3:], (target * now.inv()).as_rotvec(), atol=1e-9)
        assert_allclose(error[:3], -arm.pose(READY)[:3, 3])


def test_manipulability_is_that_of_the_toolbox():
    model = rtb.models.DH.Panda()

    expected = model.manipulability(READY, method="yoshikawa", axes="trans")

    assert_allclose(manipulability(panda().jacobian(READY)), expected, rtol=1e-9)


def test_both_signs_of_a_quaternion_give_the_same_bits(robot, points):
    for point in [GOOD, *points[:5]]:
        opposite = {**point, "orientation": [-component for component in point["orientation"]]}
        with contextlib.suppress(Infeasible):
            assert robot.evaluate(point, seed=0, stop=Stop()) == robot.evaluate(opposite, seed=0, stop=Stop())


def test_a_hole_out_of_reach_is_infeasible(robot):
    with pytest.raises(Infeasible, match=r"the pose is not reached: the tool is 0\.\d+ m and \d\.\d+ rad off"):
        robot.evaluate({**GOOD, "position": [0.75, 0.45, 0.6]}, seed=0, stop=Stop())


def test_a_joint_that_meets_its_stop_while_the_peg_goes_in_is_infeasible(robot):
    turned = [0.3280985903543583, -0.8644783478087794, 0.3717291043162536, -0.0827404023529147]
    position = [0.305730231744827, 0.3103457880902469, 0.21116645093208516]

    with pytest.raises(Infeasible, match=r"after 1\.66 s, joint 5 would go to 2\.901 rad"):
        robot.evaluate({"position": position, "orientation": turned}, seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": [0.1, 0.0, 0.3]}, r"position has 0\.1 outside"),
        ({"position": [0.6, 0.1]}, "position is"),
        ({"orientation": [0.0, 0.0, 0.0, 0.0]}, "norm 0"),
        ({"orientation": [1.0, 0.0, 0.0, 0.0]}, r"orientation is 3\.14159 rad from the center"),
        ({"orientation": [float("nan"), 1.0, 0.0, 0.0]}, "not finite"),
    ],
)
def test_what_is_no_pose_is_refused(robot, change, message):
    with pytest.raises(ValueError, match=message):
        robot.evaluate({**GOOD, **change}, seed=0, stop=Stop())


def test_it_describes_itself():
    robot = ToolPose()

    described = robot.describe()

    assert set(described["parameters"]) == {"position", "orientation"}
    assert described["parameters"]["orientation"]["order"] == "wxyz"
