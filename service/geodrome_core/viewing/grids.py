"""Grids over the factors of a space that can be drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.ball import Ball
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.hyperbolic import Hyperbolic, from_poincare
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.lengths import spec_of
from geodrome_core.geometry.space import CheckedPoint, Space
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.geometry.torus import Torus
from geodrome_core.search.domain import Domain

Kind = Literal["sphere", "torus", "disc", "real"]

LATITUDES, LONGITUDES, SIDE = 25, 49, 41
"""Numbers on the axes of spheres, and of all others."""


@dataclass(frozen=True)
class Grid:
    """Points that differ in one factor.

    Attributes:
        factor: Flattened name of that factor.
        kind: What its axes are.
        axes: Coordinates, the outermost first.
        rows: (n, d) the points of all combinations, the last axis running fastest.
        inside: Which of them lie in the domain.
    """

    factor: str
    kind: Kind
    axes: list[list[float]]
    rows: Float[Tensor, "n d"]
    inside: Bool[Tensor, " n"]


def grids(space: Space, domain: Domain, at: CheckedPoint) -> list[Grid]:
    """A grid over each bounded factor that can be drawn; the others stay as they are at a point.

    Spheres S^2 have latitudes and longitudes, tori T^1 and T^2 angles, all in radians, hyperbolic planes x and y of
    the Poincaré disc, and one or two reals have values in their own units.
    """
    out: list[Grid] = []
    for name, factor in space.factors.items():
        drawn: tuple[Kind, list[list[float]], Tensor] | None = None
        match factor:
            case Sphere(dim=2, ball=ball):
                drawn = "sphere", *_sphere(ball)
            case Torus(dim=1 | 2 as dim):
                drawn = "torus", *_torus(dim)
            case Hyperbolic(dim=2, radius=float(radius)):
                drawn = "disc", *_disc(radius)
            case Integer():
                continue
            case Euclidean(dim=1 | 2 as dim, is_bounded=True):
                drawn = "real", *_box(spec_of(space, name), dim)
        if drawn is None:
            continue
        kind, axes, parts = drawn
        rows = at.row.repeat(len(parts), 1)
        rows[:, space.manifold.columns[name]] = parts
        out.append(Grid(name, kind, axes, rows, domain.contains(rows)))
    return out


def _sphere(ball: Ball | None) -> tuple[list[list[float]], Float[Tensor, "n 3"]]:
    """Of the whole sphere, or as far as a cap goes."""
    low, high, west, east = -math.pi / 2, math.pi / 2, -math.pi, math.pi
    if ball is not None:
        x, y, z = ball.center.tolist()
        latitude, longitude = math.atan2(z, math.hypot(x, y)), math.atan2(y, x)
        low, high = max(low, latitude - ball.radius), min(high, latitude + ball.radius)
        if abs(latitude) + ball.radius < math.pi / 2:
            half = math.asin(math.sin(ball.radius) / math.cos(latitude))
            west, east = longitude - half, longitude + half
    axes = [np.linspace(low, high, LATITUDES).tolist(), np.linspace(west, east, LONGITUDES).tolist()]
    a, b = _combined(axes).unbind(-1)
    return axes, torch.stack([a.cos() * b.cos(), a.cos() * b.sin(), a.sin()], -1)


def _torus(dim: int) -> tuple[list[list[float]], Float[Tensor, "n m"]]:
    axes = [np.linspace(-math.pi, math.pi, SIDE).tolist()] * dim
    angles = _combined(axes)
    # The open end is the same place as the other one.
    return axes, torch.where(angles == -math.pi, math.pi, angles)


def _disc(radius: float) -> tuple[list[list[float]], Float[Tensor, "n 3"]]:
    edge = math.tanh(radius / 2)
    axes = [np.linspace(-edge, edge, SIDE).tolist()] * 2
    p = _combined(axes)
    length = torch.linalg.vector_norm(p, dim=-1, keepdim=True)
    # The corners are no points of the disc: they stand for some that are as far outside of the domain.
    beyond = math.tanh(radius / 2 + 1)
    return axes, from_poincare(torch.where(length > edge, beyond / length * p, p))


def _box(spec: Mapping[str, Any], dim: int) -> tuple[list[list[float]], Float[Tensor, "n m"]]:
    """Even in the unit box, after the logarithm for a log scale."""
    bounds = [spec["bounds"]] if spec["type"] == "real" else spec["bounds"]
    values = np.geomspace if spec.get("scale") == "log" else np.linspace
    axes = [values(float(low), float(high), SIDE).tolist() for low, high in bounds]
    return axes, _combined([np.linspace(0.0, 1.0, SIDE).tolist()] * dim)


def _combined(axes: list[list[float]]) -> Float[Tensor, "n m"]:
    """All combinations, the last axis running fastest."""
    numbers = [torch.tensor(axis, dtype=torch.float64) for axis in axes]
    return torch.cartesian_prod(*numbers).reshape(-1, len(axes))
