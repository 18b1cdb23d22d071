"""The unit sphere S^m: directions."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.ball import Ball, BallDomain, cap_angles, random_directions
from geodrome_core.geometry.slack import Slack, of_number

TINY = 1e-300
"""Keeps a division by an exact zero finite; the quotient is then multiplied by that zero."""


class Sphere(BallDomain):
    """S^m, unit vectors of ``dim + 1`` numbers; distances are angles in radians.

    Args:
        dim: m.
        cap: The domain is this ball; None for the whole sphere.
    """

    def __init__(self, dim: int, *, cap: Ball | None = None) -> None:
        self.dim = dim
        self.width = dim + 1
        self._bound(cap, largest=math.pi)

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Dot product of the ambient space."""
        return (u * v).sum(-1)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Cos|u| x + sin|u| u/|u|."""
        angle = torch.linalg.vector_norm(u, dim=-1, keepdim=True)
        return self.nearest(torch.cos(angle) * x + torch.sinc(angle / math.pi) * u)

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """Tangent vector whose norm is the angle; at the antipode, zero or one of the shortest."""
        # The second projection removes what rounding leaves along x near the antipode.
        u = self.project(x, self.project(x, y))
        sine = torch.linalg.vector_norm(u, dim=-1, keepdim=True)
        angle = self.distance(x, y).unsqueeze(-1)
        return torch.where(sine > 0, angle / sine.clamp_min(TINY), 1.0) * u

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Angle in radians, in [0, pi]."""
        # acos(<x, y>) loses half the digits near 0 and pi; atan2 of the two chords keeps them all (Kahan).
        return 2 * torch.atan2(
            torch.linalg.vector_norm(x - y, dim=-1),
            torch.linalg.vector_norm(x + y, dim=-1),
        )

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v`` without its part along ``x``."""
        return v - (x * v).sum(-1, keepdim=True) * x

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v`` scaled to length 1."""
        return v / torch.linalg.vector_norm(v, dim=-1, keepdim=True)

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``x + u`` scaled to length 1; second order, since its error is along u and cubic."""
        return self.nearest(x + u)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """Rotates ``u`` by the rotation that carries ``x`` to ``y`` and fixes what is normal to both."""
        cosine = (x * y).sum(-1, keepdim=True)
        along = (u * y).sum(-1, keepdim=True)
        return self.project(y, u - along / (1 + cosine).clamp_min(TINY) * (x + y))

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """Rows of the Householder reflection that carries the first axis to ``x``, without the first."""
        # The sign avoids the cancellation of 1 - x_0 near the pole.
        sign = torch.where(x[..., :1] >= 0, 1.0, -1.0)
        normal = torch.cat([x[..., :1] + sign, x[..., 1:]], -1)
        normal = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
        axes = torch.eye(self.width, dtype=x.dtype)[1:]
        return axes - 2 * normal[..., 1:, None] * normal[..., None, :]

    def _random_anywhere(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        return random_directions(count, self.width, generator)

    def _random_logarithms(self, count: int, radius: float, generator: torch.Generator) -> Float[Tensor, "n m"]:
        share = torch.rand(count, generator=generator, dtype=torch.float64)
        return cap_angles(share, self.dim, radius).unsqueeze(-1) * random_directions(count, self.dim, generator)

    def _depth(self, x: Float[Tensor, "*b d"], ball: Ball) -> Float[Tensor, "*b"]:
        """(cos t - cos r) / (1 - cos r) for the angle t and the radius r, by the chord, which keeps all digits."""
        chord = x - ball.center
        return 1 - (chord * chord).sum(-1) / (2 * math.sin(ball.radius / 2)) ** 2

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """Great circles obey x'' = -|u|^2 x."""
        if self.ball is None:
            return []
        cosine = self.ball.center / (2 * math.sin(self.ball.radius / 2) ** 2)
        bend = -(x @ cosine)[:, None, None] * torch.eye(self.dim, dtype=x.dtype)
        return [of_number(self._depth(x, self.ball), self.basis(x) @ cosine, bend)]
