"""Tori: joints that turn without end."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.flat import Flat

FULL_TURN = 2 * math.pi


def wrapped(angle: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """The angle in (-pi, pi] that differs by whole turns; one that lies there already is not changed in any digit."""
    out = angle - FULL_TURN * torch.ceil((angle - math.pi) / FULL_TURN).detach()
    # Rounding may leave the open end, or what lies beyond it.
    return torch.where(out <= -math.pi, out + FULL_TURN, out).clamp_max(math.pi)


class Torus(Flat):
    """T^m, the product of m unit circles: m angles in radians, in (-pi, pi]."""

    def __init__(self, dim: int) -> None:
        self.dim = self.width = dim
        self.diameter = math.pi * math.sqrt(dim)
        self.injectivity_radius = math.pi

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``x + u``, wrapped."""
        return wrapped(x + u)

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """``y - x``, wrapped; half a turn apart, one of the two ways."""
        return wrapped(y - x)

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Root of the sum of the squared angles between, each at most pi."""
        return torch.linalg.vector_norm(wrapped(y - x), dim=-1)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v``, wrapped."""
        return wrapped(v)

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Uniform."""
        return math.pi * (1 - 2 * torch.rand(count, self.dim, generator=generator, dtype=torch.float64))
