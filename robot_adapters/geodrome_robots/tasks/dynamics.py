"""Dynamics shared by tasks: critical damping, and a planar arm of two links with its exact mass matrix.

Units are radians, metres, seconds, kilograms, newtons and their products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRAVITY = 9.81  # m/s²


def critical_damping(inertia: np.ndarray, stiffness: np.ndarray, *, ratio: float) -> np.ndarray:
    """The damping matrix that gives every mode of M x'' + D x' + K x = 0 the damping ratio ``ratio``, (n, n).

    D = 2 ratio M^(1/2) (M^(-1/2) K M^(-1/2))^(1/2) M^(1/2). It is what double diagonalization gives: with M = Q Q^T and
    K = Q diag(k) Q^T, D is 2 ratio Q diag(sqrt k) Q^T. For scalars it is 2 ratio sqrt(m k).
    """
    lower = np.linalg.cholesky(inertia)
    whitened = np.linalg.solve(lower, np.linalg.solve(lower, stiffness).T)
    eigenvalues, axes = np.linalg.eigh((whitened + whitened.T) / 2)
    modes = lower @ axes
    damping = 2 * ratio * (modes * np.sqrt(eigenvalues)) @ modes.T
    return np.array((damping + damping.T) / 2)


@dataclass(frozen=True)
class TwoLinks:
    """Two uniform rods in a vertical plane, gravity along -y, with a point mass at the tip.

    The angle of the first is measured from the x axis, that of the second from the first.

    Attributes:
        lengths: Of the rods, m.
        masses: Of the rods, kg.
        payload: The mass at the tip, kg.
        rotor: Inertia of each motor, as its joint feels it through the gear, kg m².
    """

    lengths: tuple[float, float]
    masses: tuple[float, float]
    payload: float = 0.0
    rotor: float = 0.0

    def inertia(self, q: np.ndarray) -> np.ndarray:
        """Mass matrix, kg m², (2, 2)."""
        near, far, coupling = self._inertia_constants()
        cosine = coupling * np.cos(q[1])
        links = np.array([[near + far + 2 * cosine, far + cosine], [far + cosine, far]])
        return np.array(links + self.rotor * np.eye(2))

    def bias(self, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Torques of gravity and of the Coriolis and centrifugal forces, N m, (2,)."""
        sine = self._inertia_constants()[2] * np.sin(q[1])
        first, second = velocity
        centrifugal = np.array([-sine * second * (2 * first + second), sine * first**2])
        return np.array(centrifugal + self.gravity_torques(q))

    def gravity_torques(self, q: np.ndarray) -> np.ndarray:
        """Torques that hold the arm at rest, N m, (2,)."""
        (a, b), (m, n) = self.lengths, self.masses
        far = (n / 2 + self.payload) * GRAVITY * b * np.cos(q[0] + q[1])
        return np.array([(m / 2 + n + self.payload) * GRAVITY * a * np.cos(q[0]) + far, far])

    def acceleration(self, q: np.ndarray, velocity: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Joint accelerations, rad/s², (2,)."""
        return np.array(np.linalg.solve(self.inertia(q), torques - self.bias(q, velocity)))

    def _inertia_constants(self) -> tuple[float, float, float]:
        (a, b), (m, n) = self.lengths, self.masses
        return (m / 3 + n + self.payload) * a**2, (n / 3 + self.payload) * b**2, (n / 2 + self.payload) * a * b
