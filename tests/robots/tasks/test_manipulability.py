"""The manipulability task: its arm draws the line and nears the ellipsoid, its cost is the formula."""

from __future__ import annotations

import contextlib
import sys
from subprocess import run

import numpy as np
import pytest
import roboticstoolbox as rtb
import scipy.linalg
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.robot import Infeasible, Measurement
from geodrome_robots.stop import Stop
from geodrome_robots.tasks import manipulability as task
from geodrome_robots.tasks.manipulability import Manipulability, ManipulabilityOfTheAppendix
from numpy.testing import assert_allclose

KINDS = [Manipulability, ManipulabilityOfTheAppendix]
NEAR_THE_START = [[0.8, 0.3], [0.3, 0.7]]
FAR = [[2.0, 0.5], [0.5, 0.3]]  # the limit of the nullspace holds the arm back for 0.12 s
BEYOND_JOINT_6 = [[0.911, 0.561], [0.561, 1.744]]


def measured_by(robot, targets) -> list[Measurement]:
    """What the arm measures at those of the targets that no joint limit forbids."""
    measured = []
    for target in targets:
        with contextlib.suppress(Infeasible):
            measured.append(robot.evaluate(target, seed=0, stop=Stop()))
    return measured


@pytest.fixture(scope="module")
def targets() -> list[list[list[float]]]:
    space, generator = parse_space(Manipulability.space), np.random.default_rng(20211115)
    return [random_point(space, generator) for _ in range(40)]


@pytest.fixture(scope="module")
def measured(targets) -> dict[type, list[Measurement]]:
    return {kind: measured_by(kind(), targets) for kind in KINDS}


def test_most_ellipsoids_can_be_tried_and_the_hand_stays_on_its_line(measured):
    metrics = [one.metrics for one in measured[Manipulability]]

    assert len(metrics) >= 34
    assert max(m["final_error_mm"] for m in metrics) < 3
    assert max(m["off_line_mm"] for m in metrics) < 10


def test_the_nullspace_brings_the_arm_nearer_to_its_ellipsoid(monkeypatch, measured, targets):
    tracked = [one.metrics["final_distance"] for one in measured[Manipulability]]
    monkeypatch.setattr(task, "NULLSPACE_LIMIT", 1e-6)

    at_leisure = [one.metrics["final_distance"] for one in measured_by(Manipulability(), targets[:15])]

    assert np.median(tracked) < 0.8 * np.median(at_leisure)


def logarithm(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    ratios, vectors = scipy.linalg.eigh(target, matrix)
    return matrix @ (vectors * np.log(ratios)) @ vectors.T @ matrix


def reference(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The run once more, with the toolbox's kinematics, generalized eigenvalues and inverses of normal equations."""
    model = rtb.DHRobot([rtb.RevoluteDH(a=0.2) for _ in range(8)]).ets()
    vec = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 2**0.5, 0, 0]])
    q, velocity = np.array([1.8] + [-0.61] * 7), np.zeros(8)
    positions, ellipsoids = [model.eval(q)[:2, 3]], []
    for step in range(200):
        time = step / 200
        way = 0.3 * (10 * time**3 - 15 * time**4 + 6 * time**5)
        speed = 0.3 / 2 * (30 * time**2 - 60 * time**3 + 30 * time**4)
        j = model.jacob0(q)[:2]
        m = j @ j.T
        inverse = np.linalg.inv(j.T @ j + 1e-4 * np.eye(8)) @ j.T
        along = inverse @ (np.array([0, speed]) + 75 * (positions[0] + [0, way] - model.eval(q)[:2, 3]))
        slopes = [dj @ j.T + j @ dj.T for dj in model.hessian0(q)[:, :2]]
        jm = vec @ np.array([slope.ravel() for slope in slopes]).T
        posture = np.linalg.inv(jm.T @ jm + 0.04 * np.eye(8)) @ jm.T @ (7 * vec @ logarithm(m, target).ravel())
        across = (np.eye(8) - inverse @ j) @ posture
        command = along + across * min(1, 4 / np.linalg.norm(across))
        velocity = velocity * np.exp(-0.2) + command * (1 - np.exp(-0.2))
        q = q + 0.01 * velocity
        positions.append(model.eval(q)[:2, 3])
        ellipsoids.append(model.jacob0(q)[:2] @ model.jacob0(q)[:2].T)
    return np.array(positions), np.array(ellipsoids)


@pytest.fixture(scope="module")
def run_again() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    target = np.array(FAR)
    return target, *reference(target)


@pytest.mark.parametrize(
    ("weighting", "weights"), [("balanced", (1.0, 0.65, 2.4, 0.0)), ("printed", (0.1, 0.1, 0, 15))]
)
def test_the_cost_is_the_formula_along_a_run_computed_otherwise(run_again, weighting, weights):
    target, positions, ellipsoids = run_again
    rest = np.vstack((positions[:1], positions[:1], positions))
    jerks = (rest[3:] - 3 * rest[2:-1] + 3 * rest[1:-2] - rest[:-3]) / 0.01**3
    logs = np.array([logarithm(m, target) for m in ellipsoids])
    expected = (
        weights[0] * np.linalg.norm(jerks, axis=1).mean()
        + weights[1] * (abs(logs[:, 0, 0]) + abs(logs[:, 1, 1]) + 2**0.5 * abs(logs[:, 0, 1])).mean()
        + weights[2] * np.mean([np.linalg.inv(m)[1, 1] for m in ellipsoids])
        + weights[3] * np.mean(ellipsoids[:, 1, 1])
    )

    cost = Manipulability(weighting).evaluate(target.tolist(), seed=0, stop=Stop()).cost

    assert_allclose(cost, expected, rtol=1e-6)


@pytest.mark.parametrize(("weighting", "weights"), [("balanced", (33.0, 1.0)), ("printed", (0.1, 1.0))])
def test_the_cost_of_the_appendix_is_its_formula(run_again, weighting, weights):
    target, positions, ellipsoids = run_again
    rest = np.vstack((positions[:1], positions))
    accelerations = (rest[2:] - 2 * rest[1:-1] + rest[:-2]) / 0.01**2
    ratios = np.array([scipy.linalg.eigh(target, m, eigvals_only=True) for m in ellipsoids])
    expected = (
        weights[0] * np.linalg.norm(accelerations, axis=1).mean()
        + weights[1] * np.sqrt((np.log(ratios) ** 2).sum(axis=1)).mean()
    )

    cost = ManipulabilityOfTheAppendix(weighting).evaluate(target.tolist(), seed=0, stop=Stop()).cost

    assert_allclose(cost, expected, rtol=1e-6)


def test_shorter_steps_give_the_same_terms(monkeypatch, targets):
    coarse = [one.metrics for one in measured_by(Manipulability(), targets[:8])]
    monkeypatch.setattr(task, "TIME_STEP", 0.0025)

    fine = [one.metrics for one in measured_by(Manipulability(), targets[:8])]

    for name in Manipulability.weightings["balanced"]:
        assert_allclose([m[name] for m in coarse], [m[name] for m in fine], rtol=0.05)


def test_near_ellipsoids_have_near_costs(targets):
    robot = Manipulability()
    costs = [
        robot.evaluate((np.exp(step) * np.array(NEAR_THE_START)).tolist(), seed=0, stop=Stop()).cost
        for step in np.linspace(0, 1e-3, 5)
    ]

    assert max(abs(np.diff(costs))) < 1e-2


def test_a_matrix_and_its_transpose_give_the_same_bits():
    robot = Manipulability()
    near = [[0.8, 0.3], [0.3 + 1e-9, 0.7]]

    assert robot.evaluate(near, seed=0, stop=Stop()) == robot.evaluate(np.transpose(near).tolist(), seed=0, stop=Stop())


def test_an_ellipsoid_that_folds_the_arm_is_infeasible():
    with pytest.raises(Infeasible, match="joint 6 would bend by over 170 degrees"):
        Manipulability().evaluate(BEYOND_JOINT_6, seed=0, stop=Stop())


def test_an_arm_that_is_stretched_has_no_ellipsoid(monkeypatch):
    monkeypatch.setattr(task, "START", (0.0,) * 8)

    with pytest.raises(Infeasible, match=r"after 0\.00 s, the arm is singular"):
        Manipulability().evaluate(NEAR_THE_START, seed=0, stop=Stop())


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([[1.0, 0.0], [0.0, 0.01]], "0.01 outside"),
        ([[1.0, 0.5], [0.2, 1.0]], "not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "not all positive"),
        ([1.0, 0.0, 1.0], "shape"),
        ([[float("nan"), 0.0], [0.0, 1.0]], "not finite"),
        ("round", "numbers"),
    ],
)
def test_what_is_no_ellipsoid_is_refused(point, message):
    with pytest.raises(ValueError, match=message):
        Manipulability().evaluate(point, seed=0, stop=Stop())


@pytest.mark.parametrize("kind", KINDS)
def test_it_describes_itself(kind):
    described = kind("printed").describe()

    assert described["parameters"]["ellipsoid"]["unit"] == kind.space["unit"] == "m²"
    assert (described["time_step_s"], described["horizon_s"], described["lag_s"]) == (0.01, 2.0, 0.05)


def test_it_runs_without_the_toolbox():
    program = (
        "import sys; from geodrome_robots.stop import Stop; from geodrome_robots.registry import load;"
        f"robot = load('manipulability'); robot.describe(); robot.evaluate({NEAR_THE_START}, seed=0, stop=Stop());"
        "sys.exit('roboticstoolbox' in sys.modules)"
    )

    assert run([sys.executable, "-c", program], check=False).returncode == 0
