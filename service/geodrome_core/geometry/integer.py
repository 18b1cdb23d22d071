"""Whole numbers, as an ordered real that takes some of its values only."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.euclidean import Euclidean


class Integer(Euclidean):
    """The whole numbers between two bounds, as positions 0, 1/steps, …, 1 on a line.

    Geodesics, distances and derivatives are those of the line: a search moves along it, and ``clamp`` ends it.

    Args:
        steps: Upper less lower bound.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(1, boxed=True)
        self.steps = steps
        # What rounds to a whole number of the domain: searches may go half a step beyond the first and the last.
        self._overhang = 0.5 / steps

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Uniform over the whole numbers."""
        number = torch.randint(self.steps + 1, (count, 1), generator=generator)
        return number.to(torch.float64) / self.steps

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the positions are those of whole numbers within the bounds."""
        return (self.clamp(x) == x).all(-1)

    def barrier(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """That of the box, widened by half a step on both sides."""
        return super().barrier(self._widened(x))

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """The nearest whole number of the domain; with a margin, a position on the line, inside the widened box."""
        if margin > 0:
            inside = self._widened(x).clamp(margin, 1 - margin)
            return inside * (1 + 2 * self._overhang) - self._overhang
        return (torch.round(x * self.steps) / self.steps).clamp(0, 1)

    def _widened(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return (x + self._overhang) / (1 + 2 * self._overhang)
