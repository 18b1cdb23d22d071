"""Rotations of three axes: quaternions and rotation vectors to matrices, and matrices into the axis-angle ball."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def from_quaternion(wxyz: Sequence[float] | Array) -> Array:
    """The matrix of a quaternion, its scalar first; q and -q have the same."""
    w, x, y, z = np.asarray(wxyz, dtype=np.float64) / np.linalg.norm(wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_rotvec(rotvec: Array) -> Array:
    """The matrix of a rotation vector: the axis times the angle in rad."""
    angle = float(np.linalg.norm(rotvec))
    # sin(a / 2) / a, also at 0.
    return from_quaternion([math.cos(angle / 2), *(rotvec * (0.5 * np.sinc(angle / (2 * math.pi))))])


def to_rotvec(matrix: Array) -> Array:
    """The rotation vector of a matrix, in the ball of radius pi; of a half turn, that whose first number not 0 is > 0.

    Source:
        Shepperd 1978, "Quaternion from rotation matrix": the largest of four numbers is the one to divide by.
    """
    m, trace = matrix, float(np.trace(matrix))
    squares = [trace, m[0, 0], m[1, 1], m[2, 2]]
    largest = int(np.argmax(squares))
    turn = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    if largest == 0:
        q = np.array([1 + trace, *turn])
    else:
        axis = largest - 1
        column = m[axis] + m[:, axis]
        column[axis] = 1 + 2 * m[axis, axis] - trace
        q = np.array([turn[axis], *column])
    q /= np.linalg.norm(q)
    first = next(value for value in q if abs(value) > 1e-12)
    w, vector = q[0] * np.sign(first), q[1:] * np.sign(first)
    sine = float(np.linalg.norm(vector))
    if sine == 0:
        return np.zeros(3)
    result: Array = vector * (2 * math.atan2(sine, w) / sine)
    return result
