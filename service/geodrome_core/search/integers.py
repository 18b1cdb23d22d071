"""Searching over whole numbers: steps from one to another, and between them a continuous search of all the rest."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.product import Product
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Objective
from geodrome_core.search.trust_region import DEFAULT_TOLERANCE, Search, Tolerance
from geodrome_core.search.trust_region import maximize as maximize_continuously

ROUNDS = 30
"""Steps at most; each leads to a larger value, so that none is taken twice."""

ALL = 64
"""Whole numbers of which each other one is tried in every step; of more, those at distances 1, 2, 4 and so on."""


def maximize(
    objective: Objective,
    domain: Domain,
    starts: Float[Tensor, "b d"],
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Search:
    """Maximizes over a product of manifolds and whole numbers; arguments and result as in ``trust_region.maximize``.

    From each start, the continuous part is searched with the whole numbers fixed; then one of these changes, if that
    leads to a larger value, and so on until no single change does.
    """
    found = maximize_continuously(objective, domain, starts, tolerance=tolerance)
    columns = _columns(domain)
    if not columns:
        return found
    points, values, iterations = found.points.clone(), found.values.clone(), found.iterations
    active = torch.arange(len(points))
    for _ in range(ROUNDS):
        moves = _moves(points[active], columns)  # (b, moves, d)
        with torch.no_grad():
            flat = moves.flatten(0, 1)
            at_moves = torch.where(domain.contains(flat), objective(flat), -torch.inf).unflatten(0, moves.shape[:2])
        best = at_moves.max(1)
        better = best.values > values[active] + 1e-12 * (1 + values[active].abs())
        if not bool(better.any()):
            break
        chosen = moves[torch.arange(len(moves)), best.indices][better]
        active = active[better]
        again = maximize_continuously(objective, domain, chosen, tolerance=tolerance)
        points[active], values[active] = again.points, again.values
        iterations += again.iterations
    return Search(points, values, iterations)


def _columns(domain: Domain) -> list[tuple[int, Integer]]:
    """Where whole numbers stand in a row."""
    if not isinstance(domain.manifold, Product):
        return [(0, domain.manifold)] if isinstance(domain.manifold, Integer) else []
    product = domain.manifold
    return [
        (product.columns[name].start, factor) for name, factor in product.factors.items() if isinstance(factor, Integer)
    ]


def _moves(points: Float[Tensor, "b d"], columns: list[tuple[int, Integer]]) -> Float[Tensor, "b k d"]:
    """The points with one of their whole numbers changed."""
    out = []
    for column, factor in columns:
        if factor.steps <= ALL:
            values = torch.arange(factor.steps + 1, dtype=points.dtype).expand(len(points), -1) / factor.steps
        else:
            jumps = 2.0 ** torch.arange(factor.steps.bit_length(), dtype=points.dtype)
            now = points[:, column : column + 1]
            values = (now + torch.cat([jumps, -jumps]) / factor.steps).clamp(0, 1)
        moved = points.unsqueeze(1).repeat(1, values.shape[1], 1)
        moved[:, :, column] = torch.round(values * factor.steps) / factor.steps
        out.append(moved)
    return torch.cat(out, 1)
