"""Searching over whole numbers: steps from one to another, and between them a continuous search of all the rest."""

from __future__ import annotations

import math
from itertools import combinations, product

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.integer import Integer
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Objective
from geodrome_core.search.trust_region import DEFAULT_TOLERANCE, Search, Tolerance
from geodrome_core.search.trust_region import maximize as maximize_continuously

ROUNDS = 30
"""Steps at most; each leads to a larger value, so that none is taken twice."""

ALL = 64
"""Whole numbers of which each other one is tried in every step; of more, those at distances 1, 2, 4 and so on."""

TOGETHER = 256
"""Combinations of all whole numbers that are tried in every step; of more, those in which one or two change."""


def maximize(
    objective: Objective,
    domain: Domain,
    starts: Float[Tensor, "b d"],
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Search:
    """Maximizes over a product of manifolds and whole numbers; arguments and result as in ``trust_region.maximize``.

    From each start, the continuous part is searched with the whole numbers fixed; then these change, if that leads to a
    larger value, and so on until no change does.
    """
    found = maximize_continuously(objective, domain, starts, tolerance=tolerance)
    columns = domain.whole
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


def _moves(points: Float[Tensor, "b d"], columns: list[tuple[int, Integer]]) -> Float[Tensor, "b k d"]:
    """The points with other whole numbers: all, if these are few; or else one changed, or two a little."""
    places = [column for column, _ in columns]
    if math.prod(factor.steps + 1 for _, factor in columns) <= TOGETHER:
        values = [torch.arange(factor.steps + 1, dtype=points.dtype) / factor.steps for _, factor in columns]
        every = torch.cartesian_prod(*values).reshape(-1, len(columns))
        out = points.unsqueeze(1).repeat(1, len(every), 1)
        out[:, :, places] = every
        return out
    return torch.cat([_single(points, columns), *_pairs(points, columns)], 1)


def _pairs(points: Float[Tensor, "b d"], columns: list[tuple[int, Integer]]) -> list[Float[Tensor, "b k d"]]:
    """Two whole numbers go up or down by one or two."""
    out = []
    for (first, one), (second, other) in combinations(columns, 2):
        for up, along in product((-2, -1, 1, 2), repeat=2):
            moved = points.clone()
            moved[:, first] = _counted(points[:, first] + up / one.steps, one)
            moved[:, second] = _counted(points[:, second] + along / other.steps, other)
            out.append(moved.unsqueeze(1))
    return out


def _counted(values: Tensor, factor: Integer) -> Tensor:
    """The nearest whole numbers of the range."""
    return torch.round(values.clamp(0, 1) * factor.steps) / factor.steps


def _single(points: Float[Tensor, "b d"], columns: list[tuple[int, Integer]]) -> Float[Tensor, "b k d"]:
    """One whole number changes."""
    out = []
    for column, factor in columns:
        if factor.steps <= ALL:
            values = torch.arange(factor.steps + 1, dtype=points.dtype).expand(len(points), -1) / factor.steps
        else:
            jumps = 2.0 ** torch.arange(factor.steps.bit_length(), dtype=points.dtype)
            now = points[:, column : column + 1]
            values = now + torch.cat([jumps, -jumps]) / factor.steps
        moved = points.unsqueeze(1).repeat(1, values.shape[1], 1)
        moved[:, :, column] = _counted(values, factor)
        out.append(moved)
    return torch.cat(out, 1)
