"""Points in numbers to compute with, whatever form they travel in.

======================  ==========================================================
factor                  coordinates
======================  ==========================================================
numbers and vectors     a vector, in the spec's unit
``joints``              angles in the spec's unit
``torus``               angles in rad, in (-pi, pi]
``sphere``              a unit vector
``rotation``            a rotation matrix
``spd``                 the full matrix
``hyperbolic``          a point of Poincaré's ball
======================  ==========================================================

The service has checked all points: here they are read, not judged.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.factors import Factor
from geodrome.figures.rotations import from_quaternion, from_rotvec
from geodrome.figures.symmetric import from_vector
from geodrome.spaces import SPD, Hyperbolic, Joints, Rotation, SpaceSpec, Torus

Array = NDArray[np.float64]

HALF_TURN = {"rad": math.pi, "deg": 180.0}


def coordinates(factor: Factor, point: schemas.Point, form: schemas.Form | None = None) -> Array:
    """A factor's coordinates in a point.

    Args:
        factor: Which.
        point: Of the whole space.
        form: The point's, where it is not that of the space: ``trial.form``.
    """
    return read(factor.spec, factor.of(point), form)


def read(spec: SpaceSpec, value: Any, form: schemas.Form | None = None) -> Array:
    """Coordinates of a point of one manifold."""
    match spec:
        case Rotation():
            order = (form and form.order) or spec.order or "wxyz"
            return _rotation(value, order)
        case Torus():
            angles = _vector(value) * (math.pi / HALF_TURN[(form and form.unit) or spec.unit])
            return wrapped(angles)
        case Joints():
            return _vector(value) * (HALF_TURN[spec.unit] / HALF_TURN[(form and form.unit) or spec.unit])
        case SPD():
            return _symmetric(value, spec.dim)
        case Hyperbolic():
            return _poincare(value, spec.model)
        case _:
            return _vector(value)


def wrapped(angles: Array) -> Array:
    """Angles in (-pi, pi]."""
    # The ceiling, so that half a turn stays what it is.
    return angles - 2 * math.pi * np.ceil((angles - math.pi) / (2 * math.pi))


def _vector(value: Any) -> Array:
    return np.array(value, dtype=np.float64).reshape(-1)


def _rotation(value: Any, order: Literal["wxyz", "xyzw"]) -> Array:
    match value:
        case {"w": w, "x": x, "y": y, "z": z}:
            return from_quaternion([w, x, y, z])
        case {"rotvec": rotvec}:
            return from_rotvec(_vector(rotvec))
        case {"matrix": entries, "layout": layout}:
            rows = _vector(entries).reshape(3, 3)
            return rows if layout == "row_major" else rows.T
    values = np.array(value, dtype=np.float64)
    if values.ndim == 2 and values.shape[0] == values.shape[1]:
        return values
    return from_quaternion(values.reshape(4)[[order.index(letter) for letter in "wxyz"]])


def _symmetric(value: Any, size: int) -> Array:
    match value:
        case {"diag": diagonal}:
            return np.diag(_vector(diagonal))
        case {"cholesky_lower": rows}:
            lower = np.array(rows, dtype=np.float64)
            return lower @ lower.T
        case {"mandel": entries}:
            return from_vector(_vector(entries), "mandel", size)
        case {"voigt": entries}:
            return from_vector(_vector(entries), "voigt", size)
    return np.array(value, dtype=np.float64).reshape(size, size)


def _poincare(value: Any, model: Literal["lorentz", "poincare"]) -> Array:
    named, numbers = next(iter(value.items())) if isinstance(value, dict) else (model, value)
    vector = _vector(numbers)
    return vector if named == "poincare" else vector[1:] / (1 + vector[0])
