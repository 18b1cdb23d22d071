"""Whole numbers, as an ordered real that takes some of its values only."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.slack import Slack


class Integer(Euclidean):
    """The whole numbers between two bounds, as positions 0, 1/steps, …, 1 on a line.

    Distances, and all derivatives, are those of the line; a search steps from one number to another.

    Args:
        steps: Upper less lower bound.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(1, boxed=True)
        self.has_border = False
        self.steps = steps

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Uniform over the whole numbers."""
        number = torch.randint(self.steps + 1, (count, 1), generator=generator)
        return number.to(torch.float64) / self.steps

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the positions are those of whole numbers within the bounds."""
        return (self.clamp(x) == x).all(-1)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """None: a whole number is in the domain or not."""
        del x
        return []

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """None."""
        del x
        return []

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """The nearest whole number of the domain, which has no border to keep a distance from."""
        del margin
        return (torch.round(x * self.steps) / self.steps).clamp(0, 1)
