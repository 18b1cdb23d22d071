"""Critical damping and the planar arm, against linear algebra of another kind and the toolbox."""

from __future__ import annotations

import numpy as np
import pytest
import roboticstoolbox as rtb
from geodrome_robots.tasks.dynamics import TwoLinks, critical_damping
from numpy.testing import assert_allclose
from scipy.linalg import eigh, sqrtm

ARM = TwoLinks(lengths=(0.4, 0.35), masses=(3.0, 2.0), payload=0.5, rotor=0.05)


def spd(generator: np.random.Generator, size: int) -> np.ndarray:
    root = generator.standard_normal((size, size))
    return root @ root.T + 0.1 * np.eye(size)


@pytest.fixture
def model() -> rtb.DHRobot:
    """The same arm: uniform rods, and the payload as part of the second link."""
    (a, b), (m, n), payload = ARM.lengths, ARM.masses, ARM.payload
    both = n + payload
    centre = (n * b / 2 + payload * b) / both
    spread = n * b**2 / 12 + n * (b / 2 - centre) ** 2 + payload * (b - centre) ** 2
    links = [
        # The toolbox measures a link's centre from its end.
        rtb.RevoluteDH(a=a, m=m, r=[-a / 2, 0, 0], I=[0, 0, m * a**2 / 12], Jm=ARM.rotor, G=1),
        rtb.RevoluteDH(a=b, m=both, r=[centre - b, 0, 0], I=[0, 0, spread], Jm=ARM.rotor, G=1),
    ]
    return rtb.DHRobot(links, gravity=[0, -9.81, 0])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_critical_damping_is_that_of_double_diagonalization(generator, size):
    inertia, stiffness = spd(generator, size), spd(generator, size)
    eigenvalues, axes = eigh(stiffness, inertia)  # axes^T M axes = 1
    modes = inertia @ axes

    damping = critical_damping(inertia, stiffness, ratio=0.7)

    assert_allclose(damping, 1.4 * modes @ np.diag(np.sqrt(eigenvalues)) @ modes.T, rtol=1e-9, atol=1e-12)


def test_critical_damping_is_the_formula_with_square_roots(generator):
    inertia, stiffness = spd(generator, 3), spd(generator, 3)
    root = sqrtm(inertia)
    inverse = np.linalg.inv(root)

    damping = critical_damping(inertia, stiffness, ratio=1.0)

    assert_allclose(damping, 2 * root @ sqrtm(inverse @ stiffness @ inverse) @ root, rtol=1e-9)


def test_critical_damping_gives_every_mode_its_ratio(generator):
    inertia, stiffness = spd(generator, 3), spd(generator, 3)
    damping = critical_damping(inertia, stiffness, ratio=0.5)
    companion = np.block(
        [[np.zeros((3, 3)), np.eye(3)], [-np.linalg.solve(inertia, stiffness), -np.linalg.solve(inertia, damping)]]
    )

    poles = np.linalg.eigvals(companion)

    assert_allclose(-poles.real / np.abs(poles), 0.5, rtol=1e-9)


def test_the_planar_arm_is_that_of_the_toolbox(model, generator):
    for _ in range(20):
        q, velocity, acceleration = generator.uniform(-3, 3, (3, 2))
        torques = model.rne(q, velocity, acceleration)

        assert_allclose(ARM.inertia(q), model.inertia(q), atol=1e-12)
        assert_allclose(ARM.gravity_torques(q), model.gravload(q), atol=1e-12)
        assert_allclose(ARM.inertia(q) @ acceleration + ARM.bias(q, velocity), torques, atol=1e-11)
        assert_allclose(ARM.acceleration(q, velocity, torques), acceleration, atol=1e-10)


def test_gravity_torques_are_the_derivative_of_the_potential_energy():
    (a, b), (m, n) = ARM.lengths, ARM.masses

    def energy(q):
        elbow, beyond = a * np.sin(q[0]), b * np.sin(q[0] + q[1])
        return 9.81 * (m * elbow / 2 + n * (elbow + beyond / 2) + ARM.payload * (elbow + beyond))

    q, h = np.array([0.3, -0.8]), 1e-6

    slopes = [(energy(q + step) - energy(q - step)) / (2 * h) for step in h * np.eye(2)]

    assert_allclose(ARM.gravity_torques(q), slopes, atol=1e-8)
