"""The gains task: its arm is the toolbox's, and the best gain is a full matrix."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.gains import Gains
from numpy.testing import assert_allclose
from scipy.linalg import eigh

GOOD = {"proportional": [[90.0, 46.0], [46.0, 46.0]], "damping_ratio": 0.85}


def rods(payload: float) -> rtb.DHRobot:
    """Rods of 0.4 m and 3 kg, 0.35 m and 2 kg, the payload at the tip as part of the second."""
    mass = 2 + payload
    centre = (2 * 0.175 + payload * 0.35) / mass
    spread = 2 * 0.35**2 / 12 + 2 * (0.175 - centre) ** 2 + payload * (0.35 - centre) ** 2
    links = [
        rtb.RevoluteDH(a=0.4, m=3, r=[-0.2, 0, 0], I=[0, 0, 3 * 0.4**2 / 12], Jm=0.05, G=1),
        rtb.RevoluteDH(a=0.35, m=mass, r=[centre - 0.35, 0, 0], I=[0, 0, spread], Jm=0.05, G=1),
    ]
    return rtb.DHRobot(links, gravity=[0, -9.81, 0])


def test_the_cost_is_that_of_the_toolboxs_arm():
    known, loaded = rods(0.0), rods(0.5)
    gain, goal, start = np.array(GOOD["proportional"]), np.array([-0.4, 0.6]), np.array([-1.2, 1.6])
    inertia = known.inertia(goal)
    eigenvalues, axes = eigh(gain, inertia)
    damping = 2 * 0.85 * inertia @ axes @ np.diag(np.sqrt(eigenvalues)) @ axes.T @ inertia
    q, v = start, np.zeros(2)
    states, efforts = [(q, v)], []
    for period in range(200):
        # What the controller sees is one period old.
        old_q, old_v = states[max(0, period - 1)]
        efforts.append(gain @ (goal - old_q) - damping @ old_v)
        torques = efforts[-1] + known.gravload(old_q)
        for _ in range(8):
            v = v + 1e-3 * loaded.accel(q, v, torques)
            q = q + 1e-3 * v
        states.append((q, v))
    passed = np.array([state[0] for state in states[:-1]]) - goal
    passed_by = max(0.0, (passed * [1, -1]).max())
    torque = np.sqrt(np.mean(np.linalg.norm(efforts, axis=1) ** 2))

    measured = Gains().evaluate(GOOD, seed=0, stop=Stop())

    assert_allclose(measured.metrics["torque_rms_Nm"], torque, rtol=1e-7)
    assert_allclose(measured.metrics["final_error_rad"], np.linalg.norm(goal - q), rtol=1e-6)
    expected = 5.5 * np.mean(np.linalg.norm(passed, axis=1)) + 0.1 * torque + 2.4 * passed_by
    assert_allclose(measured.cost, expected, rtol=1e-7)


def test_a_full_matrix_beats_a_diagonal_one():
    robot = Gains()

    full = robot.evaluate(GOOD, seed=0, stop=Stop()).cost
    diagonals = [
        robot.evaluate({"proportional": np.diag(gains).tolist(), "damping_ratio": ratio}, seed=0, stop=Stop()).cost
        for gains in [(67.0, 50.0), (47.0, 32.0), (40.0, 60.0)]
        for ratio in (0.9, 1.2)
    ]

    assert full < min(diagonals) - 0.3


@pytest.mark.parametrize(
    ("gain", "ratio", "time"),
    [
        ([[190.0, 0], [0, 190]], 1.0, r"0\.024"),  # too hard a step
        ([[190.0, 0], [0, 190]], 2.0, r"0\.120"),  # damping that the delay turns round
        ([[120.0, 60], [60, 120]], 0.2, r"1\.584"),  # an oscillation that grows
    ],
)
def test_gains_that_lose_control_are_infeasible(gain, ratio, time):
    with pytest.raises(Infeasible, match=rf"after {time} s a joint turns with .* rad/s, more than 30 rad/s"):
        Gains().evaluate({"proportional": gain, "damping_ratio": ratio}, seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"damping_ratio": 0.01}, r"damping_ratio has 0\.01 outside"),
        ({"damping_ratio": float("inf")}, "damping_ratio is inf"),
        ({"proportional": [[1.0, 0], [0, 50.0]]}, "proportional has 1 outside"),
        ({"proportional": [[50.0, 0], [10.0, 50.0]]}, "proportional is not symmetric"),
        ({"integral": 1.0}, "not an object of"),
    ],
)
def test_what_are_no_gains_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Gains().evaluate({**GOOD, **change}, seed=0, stop=Stop())


def test_it_describes_itself():
    described = Gains().describe()

    assert described["parameters"].keys() == Gains.space["factors"].keys()
    assert described["equations_of_motion"] == "geodrome_robots.tasks.dynamics"
