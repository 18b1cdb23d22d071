"""The stiffness task: its motion is that of its equation, and the best stiffness is not diagonal."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.contact import contact_force, desired, shaking
from geodrome_robots.tasks.stiffness import SURFACE, Stiffness
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import sqrtm

ALONG, ACROSS, NORMAL = np.array([1, 2, -2]) / 3, np.array([-2, 2, 1]) / 3, np.array([2, 1, 2]) / 3


def stiffness_of(along: float, across: float, normal: float) -> list[list[float]]:
    axes = np.column_stack((ALONG, ACROSS, NORMAL))
    return (axes @ np.diag([along, across, normal]) @ axes.T).tolist()


@pytest.fixture(scope="module")
def robot() -> Stiffness:
    return Stiffness()


def test_the_inertia_is_what_a_force_feels_while_the_orientation_is_held(robot):
    model = rtb.models.DH.Panda()
    q = np.array([0, -0.3, 0, -2.2, 0, 2, np.pi / 4])
    jacobian = model.jacob0(q)
    # The acceleration of the tip with the force F and whatever moment keeps it from turning.
    mobility = jacobian @ np.linalg.inv(model.inertia(q)) @ jacobian.T
    force = np.array([1.0, -2.0, 0.5])
    moment = -np.linalg.solve(mobility[3:, 3:], mobility[3:, :3] @ force)
    acceleration = mobility[:3] @ np.concatenate((force, moment))

    assert_allclose(robot.inertia @ acceleration, force, atol=1e-9)


def test_the_cost_is_that_of_the_equation_integrated_in_another_way(robot):
    """In the base frame, by a Runge-Kutta method of order 8."""
    stiffness = np.array([[500.0, -320, -200], [-320, 800, -200], [-200, -200, 800]])
    inertia = robot.inertia
    root = sqrtm(inertia)
    inverse = np.linalg.inv(root)
    damping = 2 * root @ sqrtm(inverse @ stiffness @ inverse) @ root

    def wanted(time):
        r = np.clip([(time - 0.5) / 1.5, time / 0.5], 0, 1)
        way, speed = 10 * r**3 - 15 * r**4 + 6 * r**5, 30 * r**2 - 60 * r**3 + 30 * r**4
        return 0.15 * way[0] * ALONG - 0.03 * way[1] * NORMAL, 0.1 * speed[0] * ALONG - 0.06 * speed[1] * NORMAL

    def command(time, x, v):
        x_d, v_d = wanted(time)
        return stiffness @ (x_d - x) + damping @ (v_d - v)

    def pressed(x, v):
        s = x @ ALONG
        depth = 0.002 * np.sin(20 * np.pi * s) - x @ NORMAL
        rate = 0.04 * np.pi * np.cos(20 * np.pi * s) * (v @ ALONG) - v @ NORMAL
        return max(0.0, 5000 * depth + 50 * rate) if depth > 0 else 0.0

    def slope(time, state):
        x, v = state[:3], state[3:]
        slip = v - (v @ NORMAL) * NORMAL
        speed = np.linalg.norm(slip)
        friction = -pressed(x, v) * np.tanh(speed / 0.01) * slip / max(speed, 1e-12)
        phase = 12 * np.pi * time
        sander = 14 * (np.cos(phase) * ALONG + np.sin(phase) * ACROSS)
        force = command(time, x, v) + pressed(x, v) * NORMAL + friction + sander
        return np.concatenate((v, np.linalg.solve(inertia, force)))

    times = np.arange(2000) * 1e-3
    states = solve_ivp(slope, (0, 2), np.zeros(6), "DOP853", times, rtol=1e-7, atol=1e-9, max_step=0.01).y.T
    errors = np.array([wanted(time)[0] - x[:3] for time, x in zip(times, states, strict=True)])
    commands = np.array([command(time, x[:3], x[3:]) for time, x in zip(times, states, strict=True)])
    forces = np.array([pressed(x[:3], x[3:]) for x in states])
    plane = np.stack((ALONG, ACROSS))
    terms = {
        "tracking_rms_m": np.sqrt(np.mean(np.sum((errors @ plane.T) ** 2, axis=1))),
        "force_error_rms_N": np.sqrt(np.mean((forces[500:] - 10) ** 2)),
        "effort_rms_N": np.sqrt(np.mean(np.sum((commands @ plane.T) ** 2, axis=1))),
    }

    measured = robot.evaluate(stiffness.tolist(), seed=0, stop=Stop())

    for name, expected in terms.items():
        assert_allclose(measured.metrics[name], expected, rtol=0.02)
    expected = 110 * terms["tracking_rms_m"] + 0.3 * terms["force_error_rms_N"] + 0.25 * terms["effort_rms_N"]
    assert_allclose(measured.cost, expected, rtol=0.01)


def test_the_axes_of_the_surface_are_a_rotation():
    assert_allclose(SURFACE, [ALONG, ACROSS, NORMAL])
    assert_allclose(SURFACE @ SURFACE.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(SURFACE) > 0


@pytest.mark.parametrize("time", [0.1, 0.3, 0.7, 1.2, 1.9])
def test_the_desired_velocity_is_the_derivative_of_the_desired_tip(time):
    h = 1e-6

    assert_allclose(desired(time)[1], (desired(time + h)[0] - desired(time - h)[0]) / (2 * h), atol=1e-8)


def test_the_surface_presses_and_never_pulls():
    assert contact_force(np.array([0, 0, -0.001]), np.zeros(3)).tolist() == [0, 0, 5]
    assert contact_force(np.array([0, 0, 0.001]), np.zeros(3)).tolist() == [0, 0, 0]
    assert contact_force(np.array([0, 0, -0.001]), np.array([0, 0, 1.0])).tolist() == [0, 0, 0]
    assert_allclose(contact_force(np.array([0, 0, -0.001]), np.array([0, 1.0, 0])), [0, -5, 5])
    assert np.linalg.norm(shaking(0.123)) == pytest.approx(14)


def test_a_stiffness_along_the_directions_of_the_task_beats_equal_and_diagonal_ones(robot):
    def cost(point):
        return robot.evaluate(point, seed=0, stop=Stop()).cost

    aligned = cost(stiffness_of(1000, 500, 280))

    assert aligned < min(cost(np.diag([k, k, k]).tolist()) for k in (200.0, 300, 400, 600)) - 0.3
    assert aligned < cost(np.diag(np.diag(stiffness_of(1000, 500, 280))).tolist()) - 0.3


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (stiffness_of(500, 500, 1990), r"the tool presses with 4\d\.\d N, more than 40 N"),
        (stiffness_of(60, 60, 300), r"the tool is 0\.080 m off its path, more than 0\.08 m"),
    ],
)
def test_what_breaks_the_workpiece_or_leaves_the_path_is_infeasible(robot, point, message):
    with pytest.raises(Infeasible, match=message):
        robot.evaluate(point, seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([[300.0, 0], [0, 300.0]], "shape"),
        ([[300.0, 50, 0], [0, 300, 0], [0, 0, 300]], "not symmetric"),
        (np.diag([-1.0, 300, 300]).tolist(), "positive"),
        (np.diag([10.0, 300, 300]).tolist(), r"10 outside \[50, 2000\]"),
        (np.diag([np.nan, 300, 300]).tolist(), "not finite"),
    ],
)
def test_what_is_no_stiffness_is_refused(robot, point, message):
    with pytest.raises(ValueError, match=message):
        robot.evaluate(point, seed=0, stop=Stop())


def test_it_describes_itself():
    robot = Stiffness()

    described = robot.describe()

    assert described["parameters"]["stiffness"]["frame"] == robot.space["frame"] == "panda_link0"
