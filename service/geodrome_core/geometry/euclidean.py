"""Flat space R^n and boxes in it."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.flat import Flat
from geodrome_core.geometry.slack import Slack

FLOAT32_ROUNDING = 2.0**-23
"""Relative change of a number that is stored as float32, doubled to be safe in sums."""


class Euclidean(Flat):
    """R^n; with ``boxed``, its unit box [0, 1]^n, to which bounds in natural units are mapped where points are read."""

    def __init__(self, dim: int, *, boxed: bool = False) -> None:
        self.dim = self.width = dim
        self.is_bounded = self.has_border = boxed
        self.diameter = math.sqrt(dim)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``x + u``."""
        return x + u

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """``y - x``."""
        return y - x

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Length of the difference."""
        return torch.linalg.vector_norm(y - x, dim=-1)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v`` itself."""
        return v

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Uniform in the box; without one, standard normal."""
        draw = torch.rand if self.is_bounded else torch.randn
        return draw(count, self.dim, generator=generator, dtype=torch.float64)

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the points lie in the box."""
        if not self.is_bounded:
            return super().contains(x)
        return ((x >= 0) & (x <= 1)).all(-1)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """All x and 1 - x."""
        return [torch.cat([x, 1 - x], -1)[..., None, None]] if self.is_bounded else []

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """Straight."""
        if not self.is_bounded:
            return []
        eye = torch.eye(self.dim, dtype=x.dtype)
        slope = torch.cat([eye, -eye], -1)[..., None, None].expand(len(x), -1, -1, -1, -1)
        flat = torch.zeros(len(x), self.dim, self.dim, dtype=x.dtype)
        return [Slack(self.slacks(x)[0], slope, lambda _: flat)]

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Into the box. Float32 safety belongs to natural units, where the bounds are."""
        return x.clamp(margin, 1 - margin) if self.is_bounded else x
