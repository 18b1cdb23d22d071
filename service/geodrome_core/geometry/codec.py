"""From JSON points to rows and back, one class for each type of space; all tolerances live here.

A codec reads any accepted form, checks it, and gives the canonical form (what is stored, modelled and answered). Rows
are made of canonical points only, so a stored point always gives the same row.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.faults import Correction, Fault, point_fault
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.rotation import (
    Rotation,
    canonical_quaternion,
    matrix_to_quaternion,
    quaternion_to_matrix,
)
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere

NORM_TOLERANCE = 0.01  # three decimals are 8e-4 off; 1 % is a wrong number, not a rounded one
UNSET_NORM = 1e-6  # an all-zero message was never filled in
REPORTED = 1e-6  # smaller deviations are float32 and go unmentioned
ROUNDING = 4e-15  # what is closer is left alone, so that canonical points come back to the last digit
ORTHOGONALITY_TOLERANCE = 2e-3  # three decimals
ASYMMETRY_TOLERANCE = 1e-6  # relative; inertias identified from data are 5e-8 off
CONDITION_LIMIT = 1e-12  # a smaller ratio of eigenvalues is lost in the digits of a double
CLAMP_TOLERANCE = 1e-9  # relative; what arithmetic in another program may add to a bound


@dataclass(frozen=True)
class Reading:
    """A point that was read.

    Attributes:
        point: Canonical JSON form.
        corrections: What was mended.
        outside: Where it leaves the domain; empty inside.
    """

    point: Any
    corrections: tuple[Correction, ...] = ()
    outside: tuple[Fault, ...] = ()


class Codec(ABC):
    """JSON forms of the points of one manifold."""

    manifold: Manifold

    @abstractmethod
    def read(self, value: Any) -> Reading:
        """Checks a point in any accepted form.

        Raises:
            PointError: It is in no accepted form, or off the manifold beyond the tolerance.
        """

    @abstractmethod
    def row(self, point: Any) -> Tensor:
        """Row (d,) of a canonical point."""

    @abstractmethod
    def write(self, row: Tensor) -> Any:
        """Canonical point of a row that lies on the manifold; inside the domain if the row is, float32 included."""


def number(value: Any, pointer: str = "") -> float:
    """A finite number, or a PointError with a hint."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise point_fault(f"expected a number, got {value!r}", value, "a finite JSON number", pointer)
    if not math.isfinite(value):
        raise point_fault(f"expected a finite number, got {value}", str(value), "a finite JSON number", pointer)
    return float(value)


def vector(value: Any, length: int) -> list[float]:
    """A list of ``length`` finite numbers; a column ``[[a], [b]]`` counts, and a bare number when length is 1."""
    if length == 1 and isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple):
        raise point_fault(f"expected a list of {length} numbers, got {value!r}", value, f"{length} numbers")
    if len(value) != length:
        raise point_fault(f"expected {length} numbers, got {len(value)}", value, f"{length} numbers")
    flat = [item[0] if isinstance(item, list | tuple) and len(item) == 1 else item for item in value]
    return [number(item, f"/{index}") for index, item in enumerate(flat)]


def matrix(value: Any, size: int) -> Tensor:
    """A square matrix given as ``size`` rows, as a float64 tensor."""
    shape = f"{size} rows of {size} numbers"
    if not isinstance(value, list | tuple) or len(value) != size:
        raise point_fault(f"expected {shape}, got {value!r}", value, shape)
    for index, line in enumerate(value):
        if not isinstance(line, list | tuple) or len(line) != size:
            raise point_fault(f"expected a row of {size} numbers, got {line!r}", line, shape, f"/{index}")
    rows = [[number(item, f"/{i}/{j}") for j, item in enumerate(line)] for i, line in enumerate(value)]
    return torch.tensor(rows, dtype=torch.float64)


def normalized(values: list[float], noun: str, rule: str) -> tuple[Tensor, tuple[Correction, ...]]:
    """Unit vector along ``values``, and a correction when it was noticeably off."""
    v = torch.tensor(values, dtype=torch.float64)
    norm = float(torch.linalg.vector_norm(v))
    if norm < UNSET_NORM:
        raise point_fault(f"{noun} has norm {norm:.3g}: was it never set?", values, rule)
    unit = v if abs(norm - 1) <= ROUNDING else v / norm
    if abs(norm - 1) > NORM_TOLERANCE:
        shown = [round(item, 6) for item in unit.tolist()]
        raise point_fault(f"{noun} has norm {norm:.6g}; normalized it would be {shown}", values, rule)
    if abs(norm - 1) <= REPORTED:
        return unit, ()
    return unit, (Correction("", f"{noun} was normalized", abs(norm - 1)),)


@dataclass(frozen=True)
class BoxCodec(Codec):
    """Reals and vectors of reals; rows are measured in the unit box, after the logarithm for a log scale."""

    dim: int
    bounds: tuple[tuple[float, float], ...] | None
    scale: Literal["linear", "log"]
    scalar: bool

    @property
    def manifold(self) -> Euclidean:  # type: ignore[override]
        """The unit box, or R^n without bounds."""
        return Euclidean(self.dim, boxed=self.bounds is not None)

    def read(self, value: Any) -> Reading:
        """Numbers; outside the bounds by at most 1e-9 relative is clamped."""
        values = [number(value)] if self.scalar else vector(value, self.dim)
        outside: list[Fault] = []
        for index, item in enumerate(values):
            pointer = "" if self.scalar else f"/{index}"
            if self.scale == "log" and item <= 0:
                raise point_fault(f"{item:g} has no logarithm", item, "positive, for the scale is log", pointer)
            if self.bounds is None:
                continue
            low, high = self.bounds[index]
            slack = CLAMP_TOLERANCE * max(abs(low), abs(high))
            if low - slack <= item <= high + slack:
                values[index] = min(max(item, low), high)
            else:
                excess = max(low - item, item - high)
                outside.append(
                    Fault(
                        pointer, f"{item:g} is outside [{low:g}, {high:g}] by {excess:.6g}", item, "within the bounds"
                    )
                )
        return Reading(values[0] if self.scalar else values, outside=tuple(outside))

    def row(self, point: Any) -> Tensor:
        """Position in the unit box."""
        values = torch.tensor([point] if self.scalar else point, dtype=torch.float64)
        low, span = self._frame()
        return (self._warp(values) - low) / span

    def write(self, row: Tensor) -> Any:
        """Natural units, pulled to where a float32 is still within the bounds."""
        low, span = self._frame()
        warped = low + span * row
        values = (torch.exp(warped) if self.scale == "log" else warped).tolist()
        if self.bounds is not None:
            values = [_pulled_inside(item, *bounds) for item, bounds in zip(values, self.bounds, strict=True)]
        return values[0] if self.scalar else values

    def _warp(self, values: Tensor) -> Tensor:
        return torch.log(values) if self.scale == "log" else values

    def _frame(self) -> tuple[Tensor, Tensor]:
        if self.bounds is None:
            return torch.zeros(self.dim, dtype=torch.float64), torch.ones(self.dim, dtype=torch.float64)
        ends = self._warp(torch.tensor(self.bounds, dtype=torch.float64))
        return ends[:, 0], ends[:, 1] - ends[:, 0]


def _pulled_inside(value: float, low: float, high: float) -> float:
    """The value, moved to where a float32 is within the bounds; within the bounds alone if no float32 is."""
    inner_low, inner_high = _float32_inside(low, +1), _float32_inside(high, -1)
    if inner_low > inner_high:
        return min(max(value, low), high)
    return min(max(value, inner_low), inner_high)


def _float32_inside(bound: float, direction: int) -> float:
    """The float32 nearest to ``bound`` on its inner side: above a lower bound (+1), below an upper one (-1)."""
    exact = torch.tensor(bound, dtype=torch.float64)
    rounded = exact.to(torch.float32)
    if (rounded.to(torch.float64) - exact) * direction < 0:
        rounded = torch.nextafter(rounded, torch.tensor(direction * math.inf, dtype=torch.float32))
    return float(rounded)


@dataclass(frozen=True)
class SphereCodec(Codec):
    """Directions as unit vectors."""

    manifold: Sphere

    def read(self, value: Any) -> Reading:
        """A vector whose norm is 1 within 1 %."""
        rule = "norm 1 within 1 %"
        unit, corrections = normalized(vector(value, self.manifold.width), "the vector", rule)
        return Reading(unit.tolist(), corrections)

    def row(self, point: Any) -> Tensor:
        """The numbers themselves."""
        return torch.tensor(point, dtype=torch.float64)

    def write(self, row: Tensor) -> Any:
        """The numbers themselves."""
        return row.tolist()


@dataclass(frozen=True)
class RotationCodec(Codec):
    """Rotations as matrices, quaternions (list or named), or rotation vectors."""

    manifold: Rotation
    representation: Literal["matrix", "quaternion"]
    order: Literal["wxyz", "xyzw"]

    def read(self, value: Any) -> Reading:
        """A 3x3 matrix, four numbers in the spec's order, ``{w, x, y, z}``, or ``{rotvec: [x, y, z]}`` in radians."""
        if isinstance(value, list | tuple) and len(value) == 3:
            r, corrections = _orthogonal(matrix(value, 3))
            return Reading(self.write(r), corrections)
        if isinstance(value, dict) and set(value) == {"rotvec"}:
            a = torch.tensor(vector(value["rotvec"], 3), dtype=torch.float64)
            identity = torch.eye(3, dtype=torch.float64).flatten()
            return Reading(self.write(self.manifold.exp(identity, a @ self.manifold.basis(identity))))
        unit, corrections = normalized(self._wxyz(value), "the quaternion", "norm 1 within 1 %")
        q = canonical_quaternion(unit)
        if self.representation == "matrix":
            return Reading(quaternion_to_matrix(q).tolist(), corrections)
        # Not through a matrix: a canonical quaternion comes back to the last digit.
        return Reading(self._ordered(q.tolist()), corrections)

    def row(self, point: Any) -> Tensor:
        """Rotation matrix, row by row."""
        values = torch.tensor(point, dtype=torch.float64)
        if self.representation == "matrix":
            return values.flatten()
        wxyz = values[[self.order.index(letter) for letter in "wxyz"]]
        return quaternion_to_matrix(wxyz).flatten()

    def write(self, row: Tensor) -> Any:
        """Matrix rows, or the quaternion with w > 0 in the spec's order."""
        r = row.unflatten(-1, (3, 3))
        if self.representation == "matrix":
            return r.tolist()
        return self._ordered(matrix_to_quaternion(r).tolist())

    def _ordered(self, wxyz: list[float]) -> list[float]:
        """The numbers in the spec's order."""
        return [dict(zip("wxyz", wxyz, strict=True))[letter] for letter in self.order]

    def _wxyz(self, value: Any) -> list[float]:
        """Four numbers, scalar first, of a list in the spec's order or of named members."""
        if isinstance(value, list | tuple) and len(value) == 4:
            values = vector(value, 4)
            return [values[self.order.index(letter)] for letter in "wxyz"]
        rule = f"3 rows of 3 numbers, 4 numbers in order {self.order}, {{w, x, y, z}} or {{rotvec: [x, y, z]}}"
        if not isinstance(value, dict):
            raise point_fault(f"expected a rotation, got {value!r}", value, rule)
        missing = [letter for letter in "wxyz" if letter not in value]
        if missing:
            raise point_fault(f"a quaternion by name needs w, x, y and z: missing {', '.join(missing)}", value, rule)
        if len(value) != 4:
            raise point_fault(f"unknown members in {sorted(value)}", value, rule)
        return [number(value[letter], f"/{letter}") for letter in "wxyz"]


def _orthogonal(r: Tensor) -> tuple[Tensor, tuple[Correction, ...]]:
    """Nearest rotation (9,) to a matrix that is nearly one."""
    determinant = float(torch.linalg.det(r))
    deviation = float((r @ r.mT - torch.eye(3, dtype=torch.float64)).abs().max())
    rule = "max |R R^T - I| up to 2e-3 and det R > 0"
    if determinant <= 0:
        raise point_fault(f"this is a reflection, det = {determinant:.3f}", r.tolist(), rule)
    if deviation > ORTHOGONALITY_TOLERANCE:
        raise point_fault(f"the rows are not orthonormal: max |R R^T - I| = {deviation:.3g}", r.tolist(), rule)
    if deviation <= ROUNDING:
        return r.flatten(), ()
    nearest = Rotation().nearest(r.flatten())
    if deviation <= REPORTED:
        return nearest, ()
    return nearest, (Correction("", "the matrix was moved to the nearest rotation", deviation),)


@dataclass(frozen=True)
class SPDCodec(Codec):
    """Symmetric positive definite matrices in full, by their diagonal, or by a Cholesky factor."""

    manifold: SPD

    def read(self, value: Any) -> Reading:
        """Matrix rows, ``{diag: […]}``, or ``{cholesky_lower: rows}``."""
        size = self.manifold.size
        if isinstance(value, dict):
            if set(value) == {"diag"}:
                m = torch.diag(torch.tensor(vector(value["diag"], size), dtype=torch.float64))
            elif set(value) == {"cholesky_lower"}:
                factor = matrix(value["cholesky_lower"], size).tril()
                m = factor @ factor.mT
            else:
                rule = f"{size} rows of {size} numbers, {{diag: […]}} or {{cholesky_lower: rows}}"
                raise point_fault(f"unknown form {sorted(value)}", value, rule)
        else:
            m = matrix(value, size)
        asymmetry = float((m - m.mT).abs().max() / m.abs().max().clamp_min(1e-300))
        if asymmetry > ASYMMETRY_TOLERANCE:
            raise point_fault(
                f"the matrix is not symmetric: relative difference {asymmetry:.3g}", m.tolist(), "symmetric within 1e-6"
            )
        m = 0.5 * (m + m.mT)
        eigenvalues = torch.linalg.eigvalsh(m).tolist()
        if eigenvalues[0] <= CONDITION_LIMIT * abs(eigenvalues[-1]):
            shown = ", ".join(f"{item:.6g}" for item in eigenvalues)
            raise point_fault(
                f"the matrix is not positive definite: eigenvalues {shown}",
                m.tolist(),
                "smallest eigenvalue above 1e-12 of the largest",
            )
        corrections: tuple[Correction, ...] = ()
        if asymmetry > 0:
            corrections = (Correction("", "the matrix was symmetrized", asymmetry),)
        return Reading(m.tolist(), corrections, self._outside(eigenvalues))

    def _outside(self, eigenvalues: list[float]) -> tuple[Fault, ...]:
        if self.manifold.eigenvalues is None:
            return ()
        low, high = self.manifold.eigenvalues
        slack = CLAMP_TOLERANCE * high
        if low - slack <= eigenvalues[0] and eigenvalues[-1] <= high + slack:
            return ()
        shown = ", ".join(f"{item:.6g}" for item in eigenvalues)
        return (Fault("", f"eigenvalues {shown} leave [{low:g}, {high:g}]", eigenvalues, "eigenvalues in bounds"),)

    def row(self, point: Any) -> Tensor:
        """The entries, row by row."""
        return torch.tensor(point, dtype=torch.float64).flatten()

    def write(self, row: Tensor) -> Any:
        """Matrix rows."""
        return self.manifold.nearest(row).unflatten(-1, (self.manifold.size, self.manifold.size)).tolist()
