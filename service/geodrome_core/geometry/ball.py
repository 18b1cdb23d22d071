"""Geodesic balls as domains of spheres and rotation groups: all points near a center."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from scipy.special import betainc, betaincinv
from torch import Tensor

from geodrome_core.geometry.euclidean import FLOAT32_ROUNDING
from geodrome_core.geometry.manifold import Manifold


@dataclass(frozen=True, eq=False)
class Ball:
    """All points within a distance of one.

    Attributes:
        center: The row (d,) of a point.
        radius: Geodesic distance in radians, below pi: from the center, one shortest geodesic leads to each point.
    """

    center: Float[Tensor, "d"]
    radius: float


class BallDomain(Manifold):
    """A manifold of directions or rotations without its metric; its domain is all of it, or a geodesic ball.

    Attributes:
        ball: The domain; None for the whole manifold.
    """

    ball: Ball | None
    injectivity_radius = math.pi

    def _bound(self, ball: Ball | None, *, largest: float) -> None:
        """Takes a ball as the domain; ``largest`` is the distance between the farthest points of the manifold."""
        self.ball = ball
        self.has_border = ball is not None
        self.diameter = largest if ball is None else min(largest, 2 * ball.radius)

    @abstractmethod
    def _random_anywhere(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """``count`` points, uniform on the whole manifold."""

    @abstractmethod
    def _random_logarithms(self, count: int, radius: float, generator: torch.Generator) -> Float[Tensor, "n m"]:
        """Coordinates of the logarithms, at the center, of ``count`` points uniform in a ball."""

    @abstractmethod
    def _depth(self, x: Float[Tensor, "*b d"], ball: Ball) -> Float[Tensor, "*b"]:
        """Smooth function of the distance from the center that falls from 1 there to 0 at the border."""

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Uniform by the invariant volume."""
        if self.ball is None:
            return self._random_anywhere(count, generator)
        center = self.ball.center.expand(count, -1)
        xi = self._random_logarithms(count, self.ball.radius, generator)
        return self.clamp(self.exp(center, self.tangent(center, xi)))

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the distance from the center is at most the radius."""
        if self.ball is None:
            return super().contains(x)
        return self.distance(self.ball.center, x) <= self.ball.radius

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """The depth below the border, relative to that of the center."""
        return [] if self.ball is None else [self._depth(x, self.ball)[..., None, None, None]]

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Moved along the geodesic from the center to the border, less what rounding to float32 can change."""
        if self.ball is None:
            return x
        # Rounding turns a vector by 2^-24 at most, a quaternion's rotation or a matrix of eight rows by twice that.
        limit = self.ball.radius * (1 - 2 * margin) - 2 * FLOAT32_ROUNDING
        distance = self.distance(self.ball.center, x)
        far = distance > limit
        center = self.ball.center.expand_as(x)[far]
        out = x.clone()
        out[far] = self.exp(center, (limit / distance[far]).unsqueeze(-1) * self.log(center, x[far]))
        return out


def random_directions(count: int, dim: int, generator: torch.Generator) -> Float[Tensor, "n m"]:
    """Unit vectors of ``dim`` numbers, uniform."""
    normal = torch.randn(count, dim, generator=generator, dtype=torch.float64)
    return normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)


def cap_angles(share: Float[Tensor, "n"], dim: int, radius: float) -> Float[Tensor, "n"]:
    """Angles t in a cap of S^dim of ``radius`` within which a ``share`` of its area lies.

    The density of t is sin^(m-1) t, so that sin^2(t/2) has the distribution Beta(m/2, m/2).
    """
    half = dim / 2
    squares = betaincinv(half, half, share.numpy() * betainc(half, half, math.sin(radius / 2) ** 2))
    return 2 * torch.asin(torch.sqrt(torch.from_numpy(squares)))
