"""Principal geodesics through a point, one factor at a time, from border to border of the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import CheckedPoint, Space
from geodrome_core.search.domain import Domain
from geodrome_core.viewing.axes import completed, principal_axes, sine

AXES = 3
"""Geodesics through each factor, at most."""

POINTS = 41
"""On each geodesic; fewer where there are fewer whole numbers."""

SHORTEST = 1e-4
"""Part of a factor's diameter below which there is nothing to see on one side of the point."""

APART = 0.1
"""Sine of the least angle between an axis and those before it."""

SCANNED, SCANS = 64, 6
"""Steps in which the border is looked for, and how often: together they find it to rounding."""

INSIDE = 1 - 1e-9
"""Part of the way to the border that is gone: the rest is for rounding."""


@dataclass(frozen=True)
class Geodesic:
    """Points along a geodesic through one, each as it will be read back.

    Attributes:
        factor: Flattened name of the factor that moves.
        axis: Which geodesic of the factor it is, from 1.
        distances: Geodesic distances from the point, ascending, negative on one side.
        rows: (n, d) the points.
        points: Their canonical JSON form.
    """

    factor: str
    axis: int
    distances: list[float]
    rows: Float[Tensor, "n d"]
    points: list[Any]


def geodesics(space: Space, domain: Domain, at: CheckedPoint, observed: Float[Tensor, "n d"]) -> list[Geodesic]:
    """The principal geodesics of every factor through a point.

    Their axes are the principal ones of the observations, completed by an orthonormal basis where these have fewer
    dimensions. An axis along which the domain leaves no room, as in a corner, is passed over for one of the tangent
    basis that has some.

    Args:
        space: The search space.
        domain: Of the search in it.
        at: A point of the domain.
        observed: Points that have a cost.
    """
    return [found for name in space.factors for found in _of_factor(_Walk(space, domain, at, name), observed)]


@dataclass(frozen=True)
class _Walk:
    """Ways from a point along which one factor moves."""

    space: Space
    domain: Domain
    at: CheckedPoint
    name: str

    @property
    def factor(self) -> Manifold:
        return self.space.factors[self.name]

    @property
    def columns(self) -> slice:
        return self.space.manifold.columns[self.name]

    @property
    def start(self) -> Float[Tensor, " k"]:
        return self.at.row[self.columns]

    def along(self, direction: Float[Tensor, " k"], t: Float[Tensor, " n"]) -> Float[Tensor, "n k"]:
        """Where the factor is at distances t in the direction of a unit tangent."""
        return self.factor.exp(self.start.expand(len(t), -1), t.unsqueeze(-1) * direction)

    def contains(self, parts: Float[Tensor, "n k"]) -> Bool[Tensor, " n"]:
        """Whether the whole point is in the domain where the factor is there."""
        # What has overflown is far outside.
        finite = parts.isfinite().all(-1)
        rows = self.at.row.repeat(len(parts), 1)
        rows[:, self.columns] = torch.where(finite.unsqueeze(-1), parts, self.start)
        return finite & self.domain.contains(rows)


def _of_factor(walk: _Walk, observed: Float[Tensor, "n d"]) -> Iterator[Geodesic]:
    basis = walk.factor.basis(walk.start)
    frame = completed(principal_axes(walk.factor, walk.start, observed[:, walk.columns]))
    taken = frame[:0]
    for axis in torch.cat([frame, torch.eye(len(frame), dtype=frame.dtype)]):
        if sine(axis, taken) < APART:
            continue
        direction = axis @ basis
        below, above = _reach(walk, -direction), _reach(walk, direction)
        if below + above == 0:
            continue
        taken = torch.cat([taken, axis.unsqueeze(0)])
        yield _walked(walk, direction, _spread(below, above), axis=len(taken))
        if len(taken) == AXES:
            return


def _reach(walk: _Walk, direction: Float[Tensor, " k"]) -> float:
    """How far the domain goes in a direction; no farther than geodesics are shortest, and 0 for hardly anywhere."""
    factor = walk.factor
    if isinstance(factor, Integer):
        # Positions between whole numbers are not in the domain, but on the way.
        return float(1 - walk.start if direction > 0 else walk.start)
    low, high = 0.0, min(factor.diameter, factor.injectivity_radius)
    for _ in range(SCANS):
        t = torch.linspace(low, high, SCANNED + 1, dtype=torch.float64)
        outside = ~walk.contains(walk.along(direction, t))
        if not bool(outside.any()):
            return high
        first = int(outside.int().argmax())
        low, high = float(t[max(first - 1, 0)]), float(t[first])
    return INSIDE * low if low > SHORTEST * factor.diameter else 0.0


def _spread(below: float, above: float) -> Float[Tensor, " n"]:
    """Distances from ``-below`` to ``above``, evenly spaced on either side of 0."""
    steps = POINTS - 1
    left = round(steps * below / (below + above))
    left = min(max(left, int(below > 0)), steps - int(above > 0))
    ends = torch.tensor([-below, above], dtype=torch.float64)
    shares = torch.arange(-left, steps - left + 1, dtype=torch.float64)
    return torch.where(shares < 0, -ends[0] * shares / max(left, 1), ends[1] * shares / max(steps - left, 1))


def _walked(walk: _Walk, direction: Float[Tensor, " k"], t: Float[Tensor, " n"], *, axis: int) -> Geodesic:
    """The geodesic at these distances: what is written is rounded, and of whole numbers each is taken once."""
    space, at = walk.space, walk.at
    points = [space.moved(at.point, walk.name, part) for part in walk.along(direction, t)]
    rows = torch.stack([space.row(point) for point in points])
    here = int((t == 0).int().argmax())
    points[here], rows[here] = at.point, at.row
    distances = torch.copysign(walk.factor.distance(walk.start, rows[:, walk.columns]), t)
    distances[here] = 0.0
    kept: list[int] = []
    for index, is_inside in enumerate(walk.domain.contains(rows).tolist()):
        if is_inside and (not kept or distances[index] > distances[kept[-1]]):
            kept.append(index)
    # + 0.0 turns a negative zero into zero, which is how it should be printed.
    return Geodesic(walk.name, axis, (distances[kept] + 0.0).tolist(), rows[kept], [points[i] for i in kept])
