"""The planar arm: its kinematics are those of the toolbox, its derivatives those of finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
import scipy.linalg
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.tasks.following import minimum_jerk
from geodrome_robots.tasks.planar import (
    PlanarArm,
    mandel,
    manipulability,
    manipulability_jacobian,
    mean_derivative,
    spd_log,
)
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

LINKS = (0.2, 0.1, 0.3, 0.2, 0.25, 0.2, 0.15, 0.2)
ARM = PlanarArm(LINKS)
SPD = parse_space({"type": "spd", "dim": 2, "eigenvalues": [0.01, 10.0]})


@pytest.fixture
def postures(generator) -> np.ndarray:
    return generator.uniform(-3, 3, (5, 8))


@pytest.fixture
def pairs(generator) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.array(random_point(SPD, generator)), np.array(random_point(SPD, generator))) for _ in range(10)]


def test_kinematics_are_those_of_the_toolbox(postures):
    model = rtb.DHRobot([rtb.RevoluteDH(a=link) for link in LINKS])

    for q in postures:
        assert_allclose(ARM.position(q), model.fkine(q).t[:2], atol=1e-12)
        assert_allclose(ARM.jacobian(q), model.jacob0(q)[:2], atol=1e-12)
        assert_allclose(ARM.hessian(q), model.hessian0(q)[:, :2], atol=1e-12)


def test_derivatives_are_those_of_finite_differences(postures):
    for q in postures:
        jacobian, hessian = ARM.jacobian(q), ARM.hessian(q)

        assert_allclose(jacobian, approx_fprime(q, ARM.position), atol=1e-6)
        flat = approx_fprime(q, lambda at: ARM.jacobian(at).ravel())
        assert_allclose(hessian, flat.reshape(2, 8, 8).transpose(2, 0, 1), atol=1e-6)
        assert_allclose(
            manipulability_jacobian(jacobian, hessian),
            approx_fprime(q, lambda at: mandel(manipulability(ARM.jacobian(at)))),
            atol=1e-5,
        )


def test_mandel_keeps_the_norm(pairs):
    for matrix, _ in pairs:
        assert_allclose(np.linalg.norm(mandel(matrix)), np.linalg.norm(matrix), rtol=1e-14)


def test_the_logarithm_is_that_of_the_generalized_eigenvalues(pairs):
    """T V = M V D with V^T M V = 1 gives Log_M(T) = M V log(D) V^T M."""
    for matrix, target in pairs:
        ratios, vectors = scipy.linalg.eigh(target, matrix)

        tangent, distance = spd_log(matrix, target)

        assert_allclose(tangent, matrix @ (vectors * np.log(ratios)) @ vectors.T @ matrix, rtol=1e-9, atol=1e-10)
        assert_allclose(distance, np.linalg.norm(np.log(ratios)), rtol=1e-10)


def test_many_logarithms_at_once_are_those_one_by_one(pairs):
    matrices = np.array([matrix for matrix, _ in pairs])
    target = pairs[0][1]

    tangents, distances = spd_log(matrices, target)

    for matrix, tangent, distance in zip(matrices, tangents, distances, strict=True):
        assert_allclose(tangent, spd_log(matrix, target)[0], rtol=1e-12, atol=1e-14)
        assert_allclose(distance, spd_log(matrix, target)[1], rtol=1e-12)


def test_a_singular_ellipsoid_has_no_logarithm():
    with pytest.raises(np.linalg.LinAlgError):
        spd_log(np.diag([1.0, 0.0]), np.eye(2))


def test_minimum_jerk_goes_from_rest_to_rest():
    assert (minimum_jerk(0.0), minimum_jerk(1.0)) == ((0.0, 0.0), (1.0, 0.0))
    for time in (0.1, 0.5, 0.8):
        assert_allclose(
            minimum_jerk(time)[1], (minimum_jerk(time + 1e-6)[0] - minimum_jerk(time - 1e-6)[0]) / 2e-6, rtol=1e-8
        )


@pytest.mark.parametrize(("order", "expected"), [(2, 3.75), (3, 40 / 3**0.5)])
def test_mean_derivatives_of_minimum_jerk_are_those_of_the_polynomial(order, expected):
    """A mean |s''| is the way that s' goes up and down: twice 15/8. s'' goes 4 times to or from 10 / sqrt(3)."""
    positions = np.array([[0.0, minimum_jerk(time)[0]] for time in np.linspace(0, 1, 2001)])

    assert_allclose(mean_derivative(positions, order, dt=1 / 2000), expected, rtol=2e-3)
