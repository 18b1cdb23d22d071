"""JSON forms of joint angles: of joints that turn without end, and of joints between stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from geodrome_core.geometry.codec import LONGEST_TURN, BoxCodec, Codec, Reading, pulled_inside
from geodrome_core.geometry.faults import Correction, point_fault
from geodrome_core.geometry.reading import vector
from geodrome_core.geometry.torus import Torus

HALF_TURN = {"rad": math.pi, "deg": 180.0}
"""By unit."""


@dataclass(frozen=True)
class TorusCodec(Codec):
    """Angles of which only the place on the circle counts; rows are in radians."""

    manifold: Torus
    unit: Literal["rad", "deg"]

    def read(self, value: Any) -> Reading:
        """Any angles, wrapped into (-pi, pi], or (-180, 180] degrees; what was wrapped is told, as it was found."""
        angles = vector(value, self.manifold.dim)
        corrections: list[Correction] = []
        half = HALF_TURN[self.unit]
        for index, angle in enumerate(angles):
            if abs(angle) > LONGEST_TURN * half / math.pi:
                rule = f"at most {LONGEST_TURN * half / math.pi:.3g} {self.unit}"
                raise point_fault(f"{angle:g} {self.unit} has lost its digits", angle, rule, f"/{index}")
            if not -half < angle <= half:
                rest = math.remainder(angle, 2 * half)
                angles[index] = half if rest == -half else rest
                detail = f"{angle:g} {self.unit} was wrapped to {angles[index]:g}"
                corrections.append(Correction(f"/{index}", detail, abs(angle - angles[index]), angle))
        return Reading(angles, tuple(corrections))

    def row(self, point: Any) -> Tensor:
        """Radians."""
        return torch.tensor(point, dtype=torch.float64) * (math.pi / HALF_TURN[self.unit])

    def write(self, row: Tensor) -> Any:
        """In the spec's unit, pulled to where a float32 is still within one turn."""
        half = HALF_TURN[self.unit]
        first = math.nextafter(-half, 0)
        return [pulled_inside(angle, first, half) for angle in (row * (half / math.pi)).tolist()]


@dataclass(frozen=True)
class JointsCodec(BoxCodec):
    """Angles between stops: a box, whatever their unit."""

    unit: Literal["rad", "deg"]

    RULE: ClassVar[str] = "within the bounds; joints are never wrapped, a torus is"
    MIXED_UP: ClassVar[dict[str, float]] = {"rad where the unit is deg": 180 / math.pi, "deg for rad": math.pi / 180}
