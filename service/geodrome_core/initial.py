"""Space-filling points: what is asked before there is a model, or where it cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.product import Product
from geodrome_core.search.domain import Domain

CANDIDATES = 32
"""Drawn for each point. More would push points to the border of a box, where most of its far places are."""

PATIENCE = 30
"""Times that candidates are drawn until one is new: of whole numbers, few may be left."""


@dataclass(frozen=True)
class Neighbourhood:
    """Points near a known one.

    Attributes:
        center: The row (d,) of that point.
        spread: How far each factor's point may be from it, relative to the factor's diameter.
    """

    center: Float[Tensor, "d"]
    spread: float

    def random(self, domain: Domain, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """``count`` points of the domain; where it leaves no room, the center itself."""
        manifold = domain.manifold
        coordinates = torch.cat([self._in_ball(factor, count, generator) for factor in _factors(manifold)], -1)
        center = self.center.expand(count, -1)
        points = manifold.clamp(manifold.nearest(manifold.exp(center, manifold.tangent(center, coordinates))))
        return torch.where(domain.is_outside(points).unsqueeze(-1), center, points)

    def _in_ball(self, factor: Manifold, count: int, generator: torch.Generator) -> Float[Tensor, "n m"]:
        """Coordinates of tangent vectors, uniform in a ball."""
        normal = torch.randn(count, factor.dim, generator=generator, dtype=torch.float64)
        length = torch.rand(count, 1, generator=generator, dtype=torch.float64) ** (1 / factor.dim)
        radius = self.spread * factor.diameter
        return radius * length * normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)


def space_filling(
    domain: Domain,
    count: int,
    *,
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    near: Neighbourhood | None = None,
) -> Float[Tensor, "k d"]:
    """``count`` points, each the candidate farthest from all points before it and from those in ``taken``.

    Works on any manifold, and with any points that others have chosen or are running.

    Args:
        domain: Where points may lie.
        count: How many.
        taken: Points to keep away from.
        generator: Source of chance.
        near: Where points are wanted; None for everywhere.

    Source:
        Mitchell 1991, "Spectrally optimal sampling for distribution ray tracing" (best candidate).
    """
    points = taken
    for _ in range(count):
        for _ in range(PATIENCE):
            candidates = (
                domain.random(CANDIDATES, generator) if near is None else near.random(domain, CANDIDATES, generator)
            )
            chosen, gap = _farthest(domain.manifold, candidates, points)
            if gap > 0:
                break
        points = torch.cat([points, chosen.unsqueeze(0)])
    return points[len(taken) :]


def _farthest(
    manifold: Manifold, candidates: Float[Tensor, "c d"], points: Float[Tensor, "n d"]
) -> tuple[Float[Tensor, "d"], float]:
    """The candidate farthest from all points, and how far that is; without points, the first."""
    if len(points) == 0:
        return candidates[0], torch.inf
    gaps = manifold.distance(candidates.unsqueeze(1), points.unsqueeze(0)).amin(-1)
    return candidates[gaps.argmax()], float(gaps.max())


def _factors(manifold: Manifold) -> list[Manifold]:
    return list(manifold.factors.values()) if isinstance(manifold, Product) else [manifold]
