"""Geodesic distances between coordinates, and how far apart two points of a space can be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geodrome.figures.coordinates import HALF_TURN, wrapped
from geodrome.spaces import SPD, Euclidean, Hyperbolic, Integer, Joints, Real, Rotation, SpaceSpec, Sphere, Torus

Array = NDArray[np.float64]

DEGREES = 180 / math.pi


def distances(spec: SpaceSpec, one: Array, others: Array) -> Array:  # noqa: PLR0911 - a case for each
    """How far points are from one of them, in the unit of ``unit``; boxes are measured as unit boxes, logarithms taken.

    Args:
        spec: The manifold's.
        one: Its coordinates.
        others: Those of n points, first axis outermost.

    Returns:
        n distances.
    """
    match spec:
        case Sphere():
            # Not by arcus cosine, which loses half the digits near 0.
            return np.arctan2(_norms(others - one), _norms(others + one)) * 2.0
        case Rotation(dim=3):
            # The chord between two rotations is 2 sqrt(2) sin(angle / 2).
            turns: Array = 2 * DEGREES * np.arcsin((_norms(others - one) / math.sqrt(8)).clip(max=1))
            return turns
        case Rotation():
            # Angles stand in pairs.
            return DEGREES / math.sqrt(2) * _norms(np.angle(np.linalg.eigvals(one.T @ others)))
        case Torus():
            return HALF_TURN[spec.unit] / math.pi * _norms(wrapped(others - one))
        case SPD():
            root = np.linalg.inv(np.linalg.cholesky(one))
            return _norms(np.log(np.linalg.eigvalsh(root @ others @ root.T)))
        case Hyperbolic():
            scale = (1 - one @ one) * (1 - (others * others).sum(1))
            gaps: Array = 2 * np.arcsinh(_norms(others - one) / np.sqrt(scale))
            return gaps
        case _:
            return _norms(in_unit_box(spec, others) - in_unit_box(spec, one))


def unit(spec: SpaceSpec) -> str | None:
    """The unit of ``distances``."""
    match spec:
        case Rotation():
            return "deg"
        case Sphere():
            return "rad"
        case Torus():
            return spec.unit
        case SPD() | Hyperbolic():
            return None
        case _:
            return "share of the bounds"


def natural(spec: SpaceSpec, distance: float) -> float:
    """A distance of the service's slices, radians for angles of all kinds, in the unit of ``unit``."""
    match spec:
        case Rotation():
            return DEGREES * distance
        case Torus():
            return HALF_TURN[spec.unit] / math.pi * distance
        case _:
            return distance


def diameter(spec: SpaceSpec) -> float:  # noqa: PLR0911 - a case for each
    """The largest distance in the domain; where there are no bounds, that of a wide one."""
    match spec:
        case Sphere():
            return math.pi if spec.cap is None else min(math.pi, 2 * spec.cap.radius)
        case Rotation():
            whole = 180 * math.sqrt(spec.dim // 2)
            return whole if spec.ball is None else min(whole, 2 * DEGREES * spec.ball.radius)
        case Torus():
            return HALF_TURN[spec.unit] * math.sqrt(spec.dim)
        case SPD():
            low, high = spec.eigenvalues or (0.1, 10)
            return math.sqrt(spec.dim) * math.log(high / low)
        case Hyperbolic():
            return 2 * (spec.radius or 3.0)
        case Euclidean():
            return math.sqrt(spec.dim)
        case Joints():
            return math.sqrt(len(spec.bounds))
        case _:
            return 1.0


def in_unit_box(spec: Any, values: Array) -> Array:
    """Values between their bounds as numbers from 0 to 1; as they are where there are no bounds."""
    if spec.bounds is None:
        return values
    low, high = np.array([spec.bounds] if isinstance(spec, Real | Integer) else spec.bounds, dtype=np.float64).T
    if getattr(spec, "scale", "linear") == "log":
        low, high, values = np.log(low), np.log(high), np.log(values)
    result: Array = (values - low) / (high - low)
    return result


def _norms(arrays: NDArray[Any]) -> Array:
    norms: Array = np.sqrt((arrays * arrays).reshape(len(arrays), -1).sum(1))
    return norms
