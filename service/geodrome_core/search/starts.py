"""Where a search begins: the most promising of many points, far enough from each other to end in different places."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Objective

UNIFORM = 256
"""Points of the whole domain that are looked at."""

SCALES = (0.2, 0.05, 0.0125, 0.003)
"""Spreads of the points near the incumbents, relative to the domain's diameter: late in a run, improvement is a small
place that random points miss."""

NEAR = 16
"""Points for each of the scales."""

STARTS = 8

EACH = 16
"""Combinations of whole numbers, beyond those of the starts, of which the most promising point is a start, too."""

RANKED = 64
"""Of all points that are looked at, the most promising, among which starts are chosen."""


def starts(
    objective: Objective,
    domain: Domain,
    incumbents: Float[Tensor, "i d"],
    generator: torch.Generator,
    *,
    narrowed: Domain,
    count: int = STARTS,
) -> tuple[Float[Tensor, "b d"], Domain]:
    """The ``count`` most promising points of the domain among those looked at, no two of them close together.

    Args:
        objective: What is promised.
        domain: Where to look.
        incumbents: Good points, about which to look more closely: observed ones, and ends of earlier searches.
        generator: Source of chance.
        narrowed: A part of the domain that is preferred.
        count: How many points at most.

    Returns:
        The points, and the domain where they were chosen: the preferred part, unless none of the points lies there.
    """
    with torch.no_grad():
        # Of whole numbers, many candidates are the same.
        points = candidates(domain, incumbents, generator).unique(dim=0)
        if narrowed is not domain:
            inside = ~narrowed.is_outside(points)
            if bool(inside.any()):
                points, domain = points[inside], narrowed
        values = objective(points).nan_to_num(nan=-torch.inf)
        order = values.argsort(descending=True, stable=True)
        ranked = points[order[:RANKED]]
        # A start is the best of its surroundings: far from all that are better, each of which leads up another hill.
        gaps = torch.full((len(ranked), len(ranked)), torch.inf, dtype=torch.float64)
        low, high = torch.tril_indices(len(ranked), len(ranked), offset=-1)
        gaps[low, high] = domain.manifold.distance(ranked[low], ranked[high])
        gaps = gaps.amin(-1)
        chosen = gaps.argsort(descending=True, stable=True)[:count]
        chosen = chosen[gaps[chosen] > 0].sort().values
        return torch.cat([ranked[chosen], _best_of_each(domain, points[order], ranked[chosen])]), domain


def _best_of_each(domain: Domain, ranked: Float[Tensor, "n d"], chosen: Float[Tensor, "b d"]) -> Float[Tensor, "k d"]:
    """For whole numbers that no chosen point has: the best points with them, of ``EACH`` combinations at most.

    The search changes whole numbers while all else stays, and would not cross a valley to them.
    """
    if not domain.whole:
        return ranked[:0]
    columns = [column for column, _ in domain.whole]
    # The first row of each combination is its best.
    _, combination = torch.cat([chosen, ranked])[:, columns].unique(dim=0, return_inverse=True)
    seen = set(combination[: len(chosen)].tolist())
    first: dict[int, int] = {}
    for row, own in enumerate(combination[len(chosen) :].tolist()):
        if own not in seen:
            first.setdefault(own, row)
    return ranked[list(first.values())[:EACH]]


def candidates(domain: Domain, incumbents: Float[Tensor, "i d"], generator: torch.Generator) -> Float[Tensor, "n d"]:
    """Points that are looked at: of the whole domain, and about the incumbents."""
    return torch.cat([domain.random(UNIFORM, generator), near(domain, incumbents, generator)])


def near(domain: Domain, incumbents: Float[Tensor, "i d"], generator: torch.Generator) -> Float[Tensor, "n d"]:
    """Points of the domain about the incumbents, and those themselves, at several scales."""
    manifold = domain.manifold
    count = NEAR * len(SCALES)
    about = incumbents[torch.arange(count) % len(incumbents)]
    scale = torch.tensor(SCALES, dtype=torch.float64).repeat_interleave(NEAR).unsqueeze(-1)
    coordinates = torch.randn(count, manifold.dim, generator=generator, dtype=torch.float64)
    steps = scale * manifold.diameter / manifold.dim**0.5 * coordinates
    moved = manifold.nearest(manifold.retract(about, manifold.tangent(about, steps)))
    found = manifold.clamp(torch.cat([moved, incumbents]))
    return found[~domain.is_outside(found)]
