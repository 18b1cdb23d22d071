"""From JSON points to rows and back, one class for each type of space; all tolerances live here.

A codec reads any accepted form, checks it, and gives the canonical form (what is stored, modelled and answered). Rows
are made of canonical points only, so a stored point always gives the same row.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from geodrome_core.geometry.ball import BallDomain
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.faults import Correction, Fault, point_fault, shown
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.reading import (
    REPORTED,
    ROUNDING,
    is_laid_out,
    laid_out,
    matrix,
    normalized,
    number,
    vector,
)
from geodrome_core.geometry.rotation import (
    Rotation,
    canonical_quaternion,
    matrix_to_quaternion,
    quaternion_to_matrix,
)
from geodrome_core.geometry.sphere import Sphere

ORTHOGONALITY_TOLERANCE = 2e-3  # three decimals
CLAMP_TOLERANCE = 1e-9  # relative; what arithmetic in another program may add to a bound
FAR_OUTSIDE = 5.0  # times the larger bound, from which on a number may be one of another unit
LONGEST_TURN = 1e6  # radians; of longer ones less than ten digits are left


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


@dataclass(frozen=True)
class BoxCodec(Codec):
    """Reals and vectors of reals; rows are measured in the unit box, after the logarithm for a log scale."""

    RULE: ClassVar[str] = "within the bounds"
    MIXED_UP: ClassVar[dict[str, float]] = {"mm for m": 1e-3, "m for mm": 1e3}
    """Units that are taken for others, with the factor that mends it."""

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
            # On a log scale each bound has a size of its own: 1e-9 of the upper one may be all of the lower one.
            largest = max(abs(low), abs(high))
            below, above = (low, high) if self.scale == "log" else (largest, largest)
            if low - CLAMP_TOLERANCE * below <= item <= high + CLAMP_TOLERANCE * above:
                values[index] = min(max(item, low), high)
            else:
                excess = max(low - item, item - high)
                detail = f"{item:g} is outside [{low:g}, {high:g}] by {excess:.6g}{self._hint(item, low, high)}"
                outside.append(Fault(pointer, detail, item, self.RULE))
        return Reading(values[0] if self.scalar else values, outside=tuple(outside))

    def row(self, point: Any) -> Tensor:
        """Position in the unit box."""
        values = torch.tensor([point] if self.scalar else point, dtype=torch.float64)
        low, span = self._frame
        return (self._warp(values) - low) / span

    def write(self, row: Tensor) -> Any:
        """Natural units, pulled to where a float32 is still within the bounds."""
        low, span = self._frame
        warped = low + span * row
        values = (torch.exp(warped) if self.scale == "log" else warped).tolist()
        if self.bounds is not None:
            values = [pulled_inside(item, *bounds) for item, bounds in zip(values, self.bounds, strict=True)]
        return values[0] if self.scalar else values

    def _hint(self, item: float, low: float, high: float) -> str:
        """What a number far outside may be; empty where nobody knows."""
        # What is outside by a little is outside, whatever its unit.
        if abs(item) <= FAR_OUTSIDE * max(abs(low), abs(high)):
            return ""
        units = [f"{units} (it would be {item * f:g})" for units, f in self.MIXED_UP.items() if low <= item * f <= high]
        return f"; are these {' or '.join(units)}?" if units else ""

    def _warp(self, values: Tensor) -> Tensor:
        return torch.log(values) if self.scale == "log" else values

    @cached_property
    def _frame(self) -> tuple[Tensor, Tensor]:
        """Where the unit box begins, and how long it is."""
        if self.bounds is None:
            return torch.zeros(self.dim, dtype=torch.float64), torch.ones(self.dim, dtype=torch.float64)
        ends = self._warp(torch.tensor(self.bounds, dtype=torch.float64))
        return ends[:, 0], ends[:, 1] - ends[:, 0]


def pulled_inside(value: float, low: float, high: float) -> float:
    """The value, moved to where a float32 is within the bounds; within the bounds alone if no float32 is."""
    inner_low, inner_high = _float32_inside(low, +1), _float32_inside(high, -1)
    if inner_low > inner_high:
        return min(max(value, low), high)
    return min(max(value, inner_low), inner_high)


@lru_cache(maxsize=4096)
def _float32_inside(bound: float, direction: int) -> float:
    """The float32 nearest to ``bound`` on its inner side: above a lower bound (+1), below an upper one (-1)."""
    exact = torch.tensor(bound, dtype=torch.float64)
    rounded = exact.to(torch.float32)
    if (rounded.to(torch.float64) - exact) * direction < 0:
        rounded = torch.nextafter(rounded, torch.tensor(direction * math.inf, dtype=torch.float32))
    return float(rounded)


class BallCodec(Codec):
    """Points whose domain may be a geodesic ball."""

    manifold: BallDomain

    def _placed(self, point: Any, corrections: tuple[Correction, ...]) -> Reading:
        """A canonical point; clamped where it leaves the ball by a rounding only, else with what leaves it."""
        ball, row = self.manifold.ball, self.row(point)
        if ball is None or bool(self.manifold.contains(row)):
            return Reading(point, corrections)
        distance = float(self.manifold.distance(ball.center, row))
        excess = distance - ball.radius
        if excess <= CLAMP_TOLERANCE * ball.radius:
            return Reading(self.write(self.manifold.clamp(row)), corrections)
        detail = f"the point is {distance:.6g} rad from the center, {excess:.3g} beyond the radius {ball.radius:g}"
        return Reading(point, corrections, (Fault("", detail, distance, "within the radius"),))


@dataclass(frozen=True)
class SphereCodec(BallCodec):
    """Directions as unit vectors."""

    manifold: Sphere

    def read(self, value: Any) -> Reading:
        """A vector whose norm is 1 within 1 %."""
        unit, corrections = normalized(vector(value, self.manifold.width), "the vector")
        return self._placed(unit.tolist(), corrections)

    def row(self, point: Any) -> Tensor:
        """The numbers themselves."""
        return torch.tensor(point, dtype=torch.float64)

    def write(self, row: Tensor) -> Any:
        """The numbers themselves."""
        return row.tolist()


@dataclass(frozen=True)
class RotationCodec(BallCodec):
    """Rotations as matrices, quaternions (list or named), or rotation vectors."""

    manifold: Rotation
    representation: Literal["matrix", "quaternion"]
    order: Literal["wxyz", "xyzw"]

    def read(self, value: Any) -> Reading:
        """A 3x3 matrix, also as one list, a quaternion in the spec's order or by name, or a rotation vector."""
        return self._placed(*self._canonical(value))

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

    def _canonical(self, value: Any) -> tuple[Any, tuple[Correction, ...]]:
        """The canonical point of any accepted form, and what was mended."""
        if is_laid_out(value) or (isinstance(value, list | tuple) and len(value) == 3):
            square = laid_out(value, 3) if is_laid_out(value) else matrix(value, 3)
            r, corrections = orthogonal(self.manifold, square)
            return self.write(r), corrections
        if isinstance(value, dict) and set(value) == {"rotvec"}:
            return self.write(self._turned(vector(value["rotvec"], 3, "/rotvec"))), ()
        # In the order in which they came, so that whoever reads what is wrong finds the numbers that were sent.
        numbers, order = self._quaternion(value)
        unit, corrections = normalized(numbers, "the quaternion")
        q = canonical_quaternion(unit[[order.index(letter) for letter in "wxyz"]])
        if self.representation == "matrix":
            return quaternion_to_matrix(q).tolist(), corrections
        # Not through a matrix: a canonical quaternion comes back to the last digit.
        return self._ordered(q.tolist()), corrections

    def _turned(self, rotvec: list[float]) -> Tensor:
        """Row of the rotation about ``rotvec`` by its length in radians."""
        turn = math.hypot(*rotvec)
        if turn > LONGEST_TURN:
            rule = "a length of at most 1e6 radians"
            raise point_fault(f"a turn of {turn:.3g} radians has lost its digits", rotvec, rule, "/rotvec")
        identity = torch.eye(3, dtype=torch.float64).flatten()
        a = torch.tensor(rotvec, dtype=torch.float64)
        return self.manifold.exp(identity, a @ self.manifold.basis(identity))

    def _ordered(self, wxyz: list[float]) -> list[float]:
        """The numbers in the spec's order."""
        return [dict(zip("wxyz", wxyz, strict=True))[letter] for letter in self.order]

    def _quaternion(self, value: Any) -> tuple[list[float], str]:
        """Four numbers and their order: a list in the spec's order, or named members."""
        if isinstance(value, list | tuple) and len(value) == 4:
            return vector(value, 4), self.order
        rule = (
            f"3 rows of 3 numbers, 4 numbers in order {self.order}, {{w, x, y, z}}, {{rotvec: [x, y, z]}} "
            "or {matrix: 9 numbers, layout}"
        )
        if not isinstance(value, dict):
            raise point_fault(f"expected a rotation, got {shown(value)}", value, rule)
        missing = [letter for letter in "wxyz" if letter not in value]
        if missing:
            raise point_fault(f"a quaternion by name needs w, x, y and z: missing {', '.join(missing)}", value, rule)
        if len(value) != 4:
            raise point_fault(f"unknown members in {shown(sorted(value))}", value, rule)
        return [number(value[letter], f"/{letter}") for letter in "wxyz"], "wxyz"


def orthogonal(manifold: Manifold, r: Tensor) -> tuple[Tensor, tuple[Correction, ...]]:
    """Row of the nearest rotation, a point of ``manifold``, to a matrix that is nearly one."""
    determinant = float(torch.linalg.det(r))
    deviation = float((r @ r.mT - torch.eye(len(r), dtype=torch.float64)).abs().max())
    deviation = math.inf if math.isnan(deviation) else deviation  # squares of huge entries are infinite
    rule = "max |R R^T - I| up to 2e-3 and det R > 0"
    if determinant <= 0:
        raise point_fault(f"this is a reflection, det = {determinant:.3f}", r.tolist(), rule)
    if deviation > ORTHOGONALITY_TOLERANCE:
        raise point_fault(f"the rows are not orthonormal: max |R R^T - I| = {deviation:.3g}", r.tolist(), rule)
    if deviation <= ROUNDING:
        return r.flatten(), ()
    nearest = manifold.nearest(r.flatten())
    if deviation <= REPORTED:
        return nearest, ()
    return nearest, (Correction("", "the matrix was moved to the nearest rotation", deviation, r.tolist()),)
