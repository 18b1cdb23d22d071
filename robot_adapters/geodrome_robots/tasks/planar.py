"""A planar serial arm with revolute joints, and the manipulability ellipsoids of its end effector.

With c_i the vector from joint i to the end effector, column i of the Jacobian is c_i turned by a quarter, and turning
joint k turns every c_i that lies on or beyond it:

    J[:, i] = (-c_i,y, c_i,x),    dJ[:, i]/dtheta_k = -c_max(i,k),    dM/dtheta_k = dJ/dtheta_k J^T + J dJ^T/dtheta_k.

Units are radians and metres. Symmetric matrices become vectors in Mandel's order (11, 22, sqrt(2) 12), whose norm is
that of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PlanarArm:
    """An arm in the plane: joint angles (n,) count from the link before, the first from the x axis.

    Attributes:
        links: Length of each link, m.
    """

    links: tuple[float, ...]

    def reaches(self, q: np.ndarray) -> np.ndarray:
        """The vectors from each joint to the end effector, m, (2, n); the first of them is its position."""
        angles = np.cumsum(q)
        links = np.asarray(self.links) * np.stack((np.cos(angles), np.sin(angles)))
        return np.array(np.cumsum(links[:, ::-1], axis=1)[:, ::-1])

    def position(self, q: np.ndarray) -> np.ndarray:
        """Position of the end effector, m, (2,)."""
        return self.reaches(q)[:, 0]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Derivative of the position by the joint angles, m/rad, (2, n)."""
        x, y = self.reaches(q)
        return np.stack((-y, x))

    def hessian(self, q: np.ndarray) -> np.ndarray:
        """Derivative of the Jacobian by each joint angle, m/rad², (n, 2, n): the first axis is that joint."""
        later = np.maximum.outer(np.arange(len(q)), np.arange(len(q)))
        return -self.reaches(q)[:, later].transpose(1, 0, 2)


def manipulability(jacobian: np.ndarray) -> np.ndarray:
    """The velocity ellipsoid J J^T, m², (2, 2): what joint speeds of norm 1 rad/s can do at the end effector."""
    return np.array(jacobian @ jacobian.T)


def manipulability_jacobian(jacobian: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """Derivative of the manipulability, as a Mandel vector, by the joint angles, m²/rad, (3, n)."""
    half = hessian @ jacobian.T  # (n, 2, 2)
    return mandel(half + half.transpose(0, 2, 1)).T


def mandel(matrix: np.ndarray) -> np.ndarray:
    """Symmetric matrices (..., 2, 2) as vectors (..., 3) of the same norm."""
    return np.stack((matrix[..., 0, 0], matrix[..., 1, 1], np.sqrt(2) * matrix[..., 0, 1]), axis=-1)


def spd_log(matrix: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The affine-invariant tangents at ``matrix`` towards ``target``, (..., 2, 2), and their lengths, the distances.

    With any root M = C C^T, Log_M(T) = C log(C^-1 T C^-T) C^T; Cholesky's is the cheapest.

    Raises:
        numpy.linalg.LinAlgError: ``matrix`` is singular.
    """
    root = np.linalg.cholesky(matrix)
    half = np.linalg.solve(root, np.broadcast_to(target, root.shape))
    whitened = np.linalg.solve(root, half.swapaxes(-1, -2))
    eigenvalues, axes = np.linalg.eigh((whitened + whitened.swapaxes(-1, -2)) / 2)
    logarithms = np.log(eigenvalues)
    carried = root @ axes
    tangents = (carried * logarithms[..., None, :]) @ carried.swapaxes(-1, -2)
    return tangents, np.linalg.norm(logarithms, axis=-1)


def mean_derivative(positions: np.ndarray, order: int, *, dt: float) -> float:
    """Mean norm over time of a time derivative of positions (steps, 2), by differences; they rest before the start."""
    rest = np.repeat(positions[:1], order - 1, axis=0)
    differences = np.diff(np.concatenate((rest, positions)), order, axis=0)
    return float(np.linalg.norm(differences, axis=1).mean() / dt**order)
