"""JSON forms of whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from geodrome_core.geometry.codec import Codec, Reading, pulled_inside
from geodrome_core.geometry.faults import Fault, point_fault
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.reading import number

LARGEST = 2**53
"""Beyond it, not every whole number is a double."""


@dataclass(frozen=True)
class IntegerCodec(Codec):
    """Whole numbers; rows are positions between the bounds."""

    manifold: Integer
    low: int

    @property
    def high(self) -> int:
        """Upper bound."""
        return self.low + self.manifold.steps

    def read(self, value: Any) -> Reading:
        """A whole number, such as 3 or 3.0."""
        found = number(value)
        if abs(found) > LARGEST:
            raise point_fault(f"{found:g} is too large to be told from its neighbours", found, "at most 2^53 in size")
        if found != math.floor(found):
            below = math.floor(found)
            detail = f"{found:g} is no whole number; its neighbours are {below} and {below + 1}"
            raise point_fault(detail, found, "a whole number")
        whole = int(found)
        if self.low <= whole <= self.high:
            return Reading(whole)
        excess = max(self.low - whole, whole - self.high)
        detail = f"{whole} is outside [{self.low}, {self.high}] by {excess}"
        return Reading(whole, outside=(Fault("", detail, whole, "within the bounds"),))

    def row(self, point: Any) -> Tensor:
        """Position between the bounds."""
        return torch.tensor([(point - self.low) / self.manifold.steps], dtype=torch.float64)

    def write(self, row: Tensor) -> Any:
        """The nearest whole number, pulled to where a float32 is still within the bounds."""
        whole = self.low + round(row.item() * self.manifold.steps)
        return int(pulled_inside(float(whole), float(self.low), float(self.high)))
