"""Hyperbolic space: trees, hierarchies, everything that grows exponentially."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.euclidean import FLOAT32_ROUNDING
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.slack import Slack, of_number


class Hyperbolic(Manifold):
    """H^m of curvature -1 in Lorentz's model: rows (x_0, x_s) with x_0 = sqrt(1 + |x_s|^2), the time coordinate first.

    With <x, y> = -x_0 y_0 + x_s . y_s, points have <x, x> = -1, and cosh(distance) = -<x, y>. Wherever the time
    coordinate matters it follows from the others: its own digits are lost far out.

    Args:
        dim: m.
        radius: The domain is the ball of this geodesic radius about the origin (1, 0, …); None for no border.

    Source:
        Ratcliffe 2019, "Foundations of hyperbolic manifolds", chapter 3.
    """

    def __init__(self, dim: int, *, radius: float | None = None) -> None:
        self.dim = dim
        self.width = dim + 1
        self.radius = radius
        self.is_bounded = self.has_border = radius is not None
        self.diameter = 2.0 * (radius or 1.0)

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """<u, v>, as the dot product of the coordinates in ``basis(x)``: never negative for u = v."""
        return (_coordinates(x, u) * _coordinates(x, v)).sum(-1)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Cosh|u| x + sinh|u| u/|u|."""
        length = self.norm(x, u).unsqueeze(-1)
        near = length < 1e-3  # there the next term of the series is below 1e-20
        safe = torch.where(near, 1.0, length)
        square = length * length
        ratio = torch.where(near, 1 + square / 6 * (1 + square / 20), torch.sinh(safe) / safe)
        return self.nearest(torch.cosh(length) * x + ratio * u)

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """The part of y - x normal to x, y - x - (cosh r - 1) x, scaled to length r."""
        w = excess(x, y).unsqueeze(-1)
        r = 2 * torch.asinh(torch.sqrt(w / 2))
        sine = torch.sqrt(w * (2 + w))
        scale = torch.where(sine > 0, r / torch.where(sine > 0, sine, 1.0), 1.0)
        return _tangent(x, scale * (y - x - w * x))

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """2 asinh(|x - y| / 2): arccosh(-<x, y>) loses half the digits of short distances."""
        return 2 * torch.asinh(torch.sqrt(excess(x, y) / 2))

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v`` without its part along (x_0, -x_s), the ambient normal of the hyperboloid."""
        normal = torch.cat([x[..., :1], -x[..., 1:]], -1)
        along = (normal * v).sum(-1, keepdim=True) / (x * x).sum(-1, keepdim=True)
        return _tangent(x, v - along * normal)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The point of the same spatial part."""
        return lifted(v[..., 1:])

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Sqrt(1 + |u|^2) x + u, on the hyperboloid for every u: the length of the step is asinh|u|, off by |u|^3/6."""
        return self.nearest(torch.sqrt(1 + self.inner(x, u, u)).unsqueeze(-1) * x + u)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """U + <y, u> / (1 - <x, y>) (x + y)."""
        step = y - x  # <y, u> = <y - x, u>, which keeps the digits of near points
        along = (step[..., 1:] * u[..., 1:]).sum(-1) - step[..., 0] * u[..., 0]
        return _tangent(y, u + (along / (2 + excess(x, y))).unsqueeze(-1) * (x + y))

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """The boost that carries the origin to ``x``, applied to the spatial axes."""
        spatial = x[..., 1:]
        outer = spatial.unsqueeze(-1) * spatial.unsqueeze(-2) / (1 + x[..., :1]).unsqueeze(-1)
        return torch.cat([spatial.unsqueeze(-1), torch.eye(self.dim, dtype=x.dtype) + outer], -1)

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Logarithms at the origin uniform in the ball of the radius, or standard normal without one.

        Not uniform by volume: nearly all of it lies at the border.
        """
        xi = torch.randn(count, self.dim, generator=generator, dtype=torch.float64)
        if self.radius is not None:
            share = torch.rand(count, 1, generator=generator, dtype=torch.float64) ** (1 / self.dim)
            xi = self.radius * share * xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True)
        zero = torch.zeros(count, 1, dtype=torch.float64)
        return self.clamp(self.exp(torch.cat([zero + 1, 0 * xi], -1), torch.cat([zero, xi], -1)))

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the distance from the origin is at most the radius."""
        if self.radius is None:
            return super().contains(x)
        return torch.linalg.vector_norm(x[..., 1:], dim=-1) <= math.sinh(self.radius)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """Cosh(radius) - cosh(distance from the origin), relative to that of the origin."""
        if self.radius is None:
            return []
        top = math.cosh(self.radius)
        return [((top - x[..., 0]) / (top - 1))[..., None, None, None]]

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """The time coordinate of a geodesic obeys x'' = |u|^2 x."""
        if self.radius is None:
            return []
        share = -1 / (math.cosh(self.radius) - 1)
        slope = share * self.basis(x)[..., 0]
        bend = share * x[:, :1, None] * torch.eye(self.dim, dtype=x.dtype)
        return [of_number(self.slacks(x)[0].flatten(), slope, bend)]

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Moved along the ray from the origin to the border, less what rounding to float32 can change."""
        if self.radius is None:
            return x
        limit = math.sinh(self.radius * (1 - 2 * margin)) * (1 - FLOAT32_ROUNDING)
        length = torch.linalg.vector_norm(x[..., 1:], dim=-1, keepdim=True)
        return torch.where(length > limit, lifted(limit / length.clamp_min(limit) * x[..., 1:]), x)


def excess(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
    """Cosh(distance) - 1 = <x - y, x - y> / 2, from the spatial parts: |a|^2 - (a . (x_s + y_s) / (x_0 + y_0))^2."""
    x_spatial, y_spatial = x[..., 1:], y[..., 1:]
    step = x_spatial - y_spatial
    total = _time(x_spatial) + _time(y_spatial)
    along = (step * (x_spatial + y_spatial)).sum(-1) / total
    return (0.5 * ((step * step).sum(-1) - along * along)).clamp_min(0)


def to_poincare(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
    """Point of the unit ball, x_s / (1 + x_0): its norm is tanh of half the distance from the origin."""
    return x[..., 1:] / (1 + x[..., :1])


def from_poincare(p: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
    """Lorentz row of a point of the open unit ball."""
    return lifted(2 * p / (1 - (p * p).sum(-1, keepdim=True)))


def _time(spatial: Float[Tensor, "*b m"]) -> Float[Tensor, "*b"]:
    return torch.sqrt(1 + (spatial * spatial).sum(-1))


def lifted(spatial: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
    """The row with these spatial coordinates: its time coordinate follows from them."""
    return torch.cat([_time(spatial).unsqueeze(-1), spatial], -1)


def _tangent(x: Float[Tensor, "*#b d"], u: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
    """``u`` with the time coordinate that makes it tangent at ``x``: x_s . u_s / x_0."""
    spatial = u[..., 1:]
    return torch.cat([(x[..., 1:] * spatial).sum(-1, keepdim=True) / x[..., :1], spatial], -1)


def _coordinates(x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
    """Coordinates of a tangent vector in the basis at ``x``: u_s - u_0 x_s / (1 + x_0)."""
    return u[..., 1:] - u[..., :1] / (1 + x[..., :1]) * x[..., 1:]
