"""Balls of directions and rotations: what lies within a distance of a center, and uniform points in there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geodrome import spaces

CELLS = 4096
"""Of the table of a cap's areas, which is exact to 1e-5."""


def direction_of(value: Any) -> np.ndarray:
    """Unit vector of a direction that the service accepts."""
    vector = np.asarray(value, dtype=float).ravel()
    return np.asarray(vector / np.linalg.norm(vector))


def rotation_of(space: spaces.Rotation, value: Any) -> np.ndarray:
    """Matrix of a rotation in any form that the service accepts."""
    from spatialmath.base import q2r

    if isinstance(value, dict) and "rotvec" in value:
        half = np.asarray(value["rotvec"], dtype=float).ravel() / 2
        turn = float(np.linalg.norm(half))
        return np.asarray(q2r(np.append(math.cos(turn), np.sinc(turn / np.pi) * half)))
    if isinstance(value, dict):
        return np.asarray(q2r(direction_of([value[letter] for letter in "wxyz"])))
    if len(value) == 4 and space.dim == 3:
        quaternion = direction_of(value)
        return np.asarray(q2r(quaternion if space.order == "wxyz" else np.roll(quaternion, 1)))
    left, _, right = np.linalg.svd(np.asarray(value, dtype=float))
    return np.asarray(left @ right)


def angle_between(direction: np.ndarray, other: np.ndarray) -> float:
    """Radians from one unit vector to another."""
    return 2 * math.atan2(float(np.linalg.norm(direction - other)), float(np.linalg.norm(direction + other)))


def turn_between(rotation: np.ndarray, other: np.ndarray) -> float:
    """Root of the sum of the squared angles, in radians, of the rotation from one to another."""
    angles = np.angle(np.linalg.eigvals(rotation.T @ other))  # each angle stands there twice, with both signs
    return float(np.linalg.norm(angles)) / math.sqrt(2)


def random_direction(center: np.ndarray, radius: float, generator: np.random.Generator) -> np.ndarray:
    """A unit vector uniform within ``radius`` radians of another."""
    angles = np.linspace(0, radius, CELLS + 1)
    density = np.sin(angles) ** (len(center) - 2)
    areas = np.append(0, np.cumsum(density[1:] + density[:-1]))
    angle = np.interp(generator.random(), areas / areas[-1], angles)
    across = generator.standard_normal(len(center))
    across -= (across @ center) * center
    return np.asarray(math.cos(angle) * center + math.sin(angle) * across / np.linalg.norm(across))


def random_rotation(center: np.ndarray, radius: float, generator: np.random.Generator) -> np.ndarray:
    """A rotation uniform among those within ``radius``, below pi, of another.

    By rejection: of skew matrices A uniform in a ball, exp A is uniform once each is kept with the probability
    prod sinc^2(r/2) over the positive roots r, the sums and differences of the angles, and for odd sizes the angles.
    """
    size = len(center)
    rows, columns = np.tril_indices(size, -1)
    while True:
        coordinates = generator.standard_normal(len(rows))
        length = radius * generator.random() ** (1 / len(rows))
        skew = np.zeros((size, size))
        skew[rows, columns] = length * coordinates / np.linalg.norm(coordinates)
        skew -= skew.T
        frequencies, vectors = np.linalg.eigh(1j * skew)
        angles = frequencies[(size + 1) // 2 :]
        first, second = np.triu_indices(len(angles), 1)
        roots = np.concatenate(
            [angles[second] - angles[first], angles[second] + angles[first], angles if size % 2 else []]
        )
        if generator.random() <= np.prod(np.sinc(roots / (2 * np.pi)) ** 2):
            return np.asarray(center @ (vectors * np.exp(-1j * frequencies) @ vectors.conj().T).real)
