"""Poses: a position and an orientation, also as the homogeneous matrix that robots write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

from geodrome_core.geometry.codec import BoxCodec, Reading
from geodrome_core.geometry.faults import point_fault
from geodrome_core.geometry.reading import is_laid_out, laid_out, matrix, vector

METRES: dict[str, float] = {"m": 1.0, "mm": 1e-3}
"""The units of positions; the first is meant where none is named."""

LAST_ROW_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PositionCodec(BoxCodec):
    """Three numbers in the spec's unit, or in another that is named."""

    unit: Literal["m", "mm"]

    def read(self, value: Any) -> Reading:
        """Numbers in the spec's unit, or ``{mm: […]}`` or ``{m: […]}``."""
        if isinstance(value, dict) and len(value) == 1 and (unit := next(iter(value))) in METRES:
            factor = METRES[unit] / METRES[self.unit]
            value = [factor * number for number in vector(value[unit], self.dim, f"/{unit}")]
        return super().read(value)

    def _hint(self, item: float, low: float, high: float) -> str:
        """Names the other unit where it would fit."""
        for unit, metres in METRES.items():
            other = item * metres / METRES[self.unit]
            if unit != self.unit and low <= other <= high:
                return f" {self.unit}; in {unit} it would be {other:g} {self.unit}: say {{{unit}: […]}} if it is"
        return ""


def is_homogeneous(value: Any) -> bool:
    """Whether a JSON value stands for a 4 x 4 matrix: four rows, or one list with its layout."""
    return is_laid_out(value) or (isinstance(value, list | tuple) and len(value) == 4)


def opened(value: Any) -> dict[str, Any]:
    """The position and the orientation of a homogeneous matrix.

    Raises:
        PointError: It is none: its last row is not 0, 0, 0, 1.
    """
    m = laid_out(value, 4) if is_laid_out(value) else matrix(value, 4)
    last = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    if not bool(((m[3] - last).abs() <= LAST_ROW_TOLERANCE).all()):
        detail = f"the last row is {[round(item, 6) for item in m[3].tolist()]}"
        if bool(((m[:, 3] - last).abs() <= LAST_ROW_TOLERANCE).all()):
            detail += "; transposed it would be that of a pose: is it laid out the other way?"
        raise point_fault(detail, m[3].tolist(), "0, 0, 0, 1")
    return {"position": m[:3, 3].tolist(), "orientation": m[:3, :3].tolist()}
