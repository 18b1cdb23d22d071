"""Principal geodesics through a point, one factor at a time, from border to border of the domain."""

from __future__ import annotations

import math
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

AXES = 3
"""Geodesics through each factor, at most."""

POINTS = 41
"""On each geodesic; fewer where there are fewer whole numbers."""

SHORTEST = 1e-4
"""Part of a factor's diameter below which there is nothing to see on one side of the point."""

NEGLIGIBLE = 1e-10
"""Part of the largest variance below which an axis says nothing of the observations."""

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
        distances: Geodesic distances from the point, ascending; negative on the side with fewer observations.
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

    Their axes are those along which the observations' logarithms at the point spread most (principal geodesic
    analysis about the point), completed by an orthonormal basis where the observations have fewer dimensions. An axis
    along which the domain leaves no room, as in a corner, is passed over for one of the tangent basis that has some.

    Args:
        space: The search space.
        domain: Of the search in it.
        at: A point of the domain.
        observed: Points that have a cost.

    Source:
        Fletcher, Lu, Pizer, Joshi 2004, "Principal geodesic analysis for the study of nonlinear statistics of shape".
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
    taken = basis.new_empty(0, walk.factor.dim)
    for axis in _axes(walk, observed[:, walk.columns], basis):
        rest = axis - (axis @ torch.linalg.pinv(taken)) @ taken
        if float(torch.linalg.vector_norm(rest)) < APART:
            continue
        direction = axis @ basis
        below, above = _reach(walk, -direction), _reach(walk, direction)
        if below + above == 0:
            continue
        taken = torch.cat([taken, axis.unsqueeze(0)])
        yield _walked(walk, direction, _spread(below, above), axis=len(taken))
        if len(taken) == AXES:
            return


def _axes(walk: _Walk, observed: Float[Tensor, "n k"], basis: Float[Tensor, "m k"]) -> Float[Tensor, "a m"]:
    """Unit coordinates in the basis: an orthonormal frame, the principal axes first, and then the basis itself."""
    factor, count = walk.factor, len(observed)
    logarithms = factor.log(walk.start.expand(count, -1), observed)
    xi = factor.inner(
        walk.start.expand(count, factor.dim, -1),
        logarithms.unsqueeze(1).expand(-1, factor.dim, -1),
        basis.expand(count, -1, -1),
    )  # (n, m)
    variances, vectors = torch.linalg.eigh(xi.mT @ xi)
    axes = vectors.mT.flip(0)
    axes = axes[variances.flip(0) > NEGLIGIBLE * variances[-1]]
    # Most observations lie ahead.
    axes = torch.where((xi @ axes.mT).sum(0).unsqueeze(-1) < 0, -axes, axes)
    eye = torch.eye(factor.dim, dtype=xi.dtype)
    frame = axes
    for unit in eye:
        rest = unit - (frame @ unit) @ frame
        rest = rest - (frame @ rest) @ frame
        length = torch.linalg.vector_norm(rest)
        if len(frame) < min(AXES, factor.dim) and float(length) > APART / factor.dim:
            frame = torch.cat([frame, (rest / length).unsqueeze(0)])
    return torch.cat([frame, eye])


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
    distances: list[float] = []
    rows: list[Tensor] = []
    points: list[Any] = []
    for planned, part in zip(t.tolist(), walk.along(direction, t), strict=True):
        point = at.point if planned == 0 else space.moved(at.point, walk.name, part)
        row = at.row if planned == 0 else space.row(point)
        length = 0.0 if planned == 0 else float(walk.factor.distance(walk.start, row[walk.columns]))
        distance = math.copysign(length, planned) if length else 0.0
        if bool(walk.domain.contains(row)) and (not distances or distance > distances[-1]):
            distances.append(distance)
            rows.append(row)
            points.append(point)
    return Geodesic(walk.name, axis, distances, torch.stack(rows), points)
