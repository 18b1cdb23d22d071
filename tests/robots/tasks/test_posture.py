"""The posture tasks: the arm draws its circle, and what it measures on the way is the toolbox's."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.posture import Posture, PostureOnTorus, circle
from numpy.testing import assert_allclose

READY = [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, np.pi / 4]
KINDS = [Posture, PostureOnTorus]


@pytest.fixture(scope="module")
def way() -> tuple[np.ndarray, np.ndarray]:
    """Postures and velocities from the ready posture on, by the toolbox's own kinematics and normal equations."""
    model = rtb.models.DH.Panda()
    q = np.array(READY)
    begin = model.fkine(q).t
    way, velocities = [q], []
    for step in range(200):
        angle = np.pi / 2 * step * 0.02
        wanted = begin + 0.05 * np.array([0, np.sin(angle), 1 - np.cos(angle)])
        speed = 0.05 * np.pi / 2 * np.array([0, np.cos(angle), np.sin(angle)])
        jacobian = model.jacob0(q)[:3]
        rhs = jacobian.T @ (speed + 5 * (wanted - model.fkine(q).t))
        velocities.append(np.linalg.solve(jacobian.T @ jacobian + 1e-4 * np.eye(7), rhs))
        q = q + 0.02 * velocities[-1]
        way.append(q)
    return np.array(way), np.array(velocities)


def load(way: np.ndarray) -> float:
    model = rtb.models.DH.Panda()
    torque = np.sqrt(np.mean([np.sum(model.rne(q, np.zeros(7), np.zeros(7)) ** 2) for q in way]))
    volume = np.mean([model.manipulability(q, method="yoshikawa", axes="trans") for q in way])
    return 0.1 * torque - 25 * volume


def test_the_cost_of_a_posture_is_its_formula(way):
    lower, upper = rtb.models.DH.Panda().qlim
    share = np.abs(2 * way[0] - lower - upper) / (upper - lower)

    measured = Posture().evaluate(READY, seed=0, stop=Stop())

    assert_allclose(measured.cost, 10 * np.mean(share**2) + load(way[0]), rtol=1e-7)


def test_the_cost_of_a_posture_without_stops_is_its_formula(way):
    share = np.abs(way[1]) / [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]

    measured = PostureOnTorus().evaluate(READY, seed=0, stop=Stop())

    assert_allclose(measured.cost, 6 * share.max() + load(way[0]), rtol=1e-7)


def test_the_circle_is_closed_and_its_velocity_is_its_derivative():
    h = 1e-6

    assert_allclose(circle(0)[0], 0)
    assert_allclose(circle(4)[0], 0, atol=1e-15)
    assert_allclose(circle(2)[0], [0, 0, 0.1], atol=1e-15)
    for time in (0.3, 1.9, 3.1):
        assert_allclose(circle(time)[1], (circle(time + h)[0] - circle(time - h)[0]) / (2 * h), atol=1e-9)


def test_the_torus_has_no_seam():
    robot = PostureOnTorus()

    above, below = ([*READY[:6], side * (np.pi - 1e-9)] for side in (1, -1))

    costs = [robot.evaluate(point, seed=0, stop=Stop()).cost for point in (above, below)]
    assert_allclose(*costs, rtol=1e-7)


def test_an_arm_that_meets_a_stop_is_infeasible():
    with pytest.raises(Infeasible, match=r"after \d\.\d\d s, joint 4 would go to -3\.07\d rad"):
        Posture().evaluate([0, 0.3, 0, -2.9, 0, 0.6, 0], seed=0, stop=Stop())


@pytest.mark.parametrize("kind", KINDS)
def test_an_arm_that_is_stretched_out_cannot_follow(kind):
    with pytest.raises(Infeasible, match=r"the tool is 0\.01\d\d m off its circle: the arm cannot follow"):
        kind().evaluate([0, 0, 0, -0.3, 0, 2.0, 0], seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("kind", "point", "message"),
    [
        (Posture, READY[:6], "shape"),
        (Posture, [3.0, *READY[1:]], r"3 outside \[-2\.75, 2\.75\]"),
        (PostureOnTorus, [float("nan"), *READY[1:]], "not finite"),
    ],
)
def test_what_is_no_posture_is_refused(kind, point, message):
    with pytest.raises(ValueError, match=message):
        kind().evaluate(point, seed=0, stop=Stop())


@pytest.mark.parametrize("kind", KINDS)
def test_it_describes_itself(kind):
    robot = kind()

    described = robot.describe()

    assert described["parameters"]["posture"]["unit"] == robot.space["unit"]


def test_starts_lie_inside_the_stops():
    lower, upper = rtb.models.DH.Panda().qlim
    begin, end = np.transpose(Posture.space["bounds"])

    assert (begin > lower + 0.14).all()
    assert (end < upper - 0.14).all()
