"""Histories that no lab should see, by kind."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from geodrome_core import History, Space
from geodrome_core.geometry.integer import Integer
from strange_spaces import Dice
from torch import Tensor


def points(space: Space, dice: Dice, count: int) -> Tensor:
    """Random points as a client tells them."""
    return told(space, space.manifold.random(count, dice.points))


def told(space: Space, rows: Tensor) -> Tensor:
    """Rows (n, d) in the domain, after JSON."""
    return space.rows([space.point(row) for row in space.manifold.clamp(space.manifold.nearest(rows))])


def moved(space: Space, rows: Tensor, length: float, dice: Dice) -> Tensor:
    """Rows (n, d) moved so far in random directions, over borders too."""
    xi = dice.normal(len(rows), space.manifold.dim)
    xi = length * xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True)
    out = space.manifold.exp(rows, space.manifold.tangent(rows, xi))
    for label, factor in space.factors.items():
        if isinstance(factor, Integer):
            columns = space.manifold.columns[label]
            out[:, columns] = torch.round(out[:, columns] * factor.steps) / factor.steps
    return out


def smooth(space: Space, X: Tensor, dice: Dice) -> Tensor:
    """Costs with one optimum and some waves."""
    distance = space.manifold.distance(X, space.manifold.random(1, dice.points)) / space.manifold.diameter
    return distance**2 + 0.05 * torch.sin(12 * distance)


def size(dice: Dice) -> int:
    """Of a history."""
    return dice.one([2, 3, 5, 8, 15, 30])


def history(space: Space, X: Tensor | None = None, Y: Tensor | None = None, **others: Tensor) -> History:
    """Observations, and other points by what became of them."""
    none = space.rows([])
    X, Y = (none if X is None else X), (torch.empty(0, dtype=torch.float64) if Y is None else Y)
    return History(X, Y, **{"pending": none, "failed": none, "abandoned": none} | others)


def with_pending(known: History, pending: Tensor) -> History:
    """And these points are out."""
    return History(known.X, known.Y, pending, known.failed, known.abandoned)


def with_stds(known: History, dice: Dice) -> History:
    """And the noise of half the costs is known: from nothing to all of a cost."""
    stds = 10 ** dice.uniform(-12, 2, len(known.Y)) * known.Y.abs()
    stds[dice.uniform(0, 1, len(stds)) < 0.5] = math.nan
    return History(known.X, known.Y, known.pending, known.failed, known.abandoned, stds)


def constant(space: Space, dice: Dice) -> History:
    """One cost everywhere."""
    X = points(space, dice, size(dice))
    return history(space, X, torch.full((len(X),), dice.one([0.0, 1.0, -1e9, 1e50]), dtype=torch.float64))


def repeated_equal(space: Space, dice: Dice) -> History:
    """A few points, each with the same cost every time."""
    X = points(space, dice, dice.one([1, 2, 4]))
    picks = torch.arange(size(dice)) % len(X)
    return history(space, X[picks], smooth(space, X, dice)[picks])


def repeated_unequal(space: Space, dice: Dice) -> History:
    """A few points with another cost every time."""
    known = repeated_equal(space, dice)
    return history(space, known.X, known.Y + dice.normal(len(known.Y)))


def single(space: Space, dice: Dice) -> History:
    """One observation."""
    X = points(space, dice, 1)
    return history(space, X, smooth(space, X, dice))


def nothing(space: Space, dice: Dice) -> History:
    """A new study."""
    del dice
    return history(space)


def all_failed(space: Space, dice: Dice) -> History:
    """No run went well."""
    return history(space, failed=points(space, dice, size(dice)))


def half_failed(space: Space, dice: Dice) -> History:
    """Every other run went wrong."""
    X = points(space, dice, size(dice))
    return history(space, X, smooth(space, X, dice), failed=points(space, dice, len(X)))


def abandoned(space: Space, dice: Dice) -> History:
    """Nobody wants most points."""
    X = points(space, dice, size(dice))
    return history(space, X, smooth(space, X, dice), abandoned=points(space, dice, 2 * len(X)))


def all_sizes(space: Space, dice: Dice) -> History:
    """Costs of every power of ten that a double knows."""
    X = points(space, dice, size(dice))
    signs = torch.sign(dice.normal(len(X))) if dice.happens(0.5) else 1.0
    return history(space, X, signs * 10 ** dice.uniform(-300, 50, len(X)))


def offset(space: Space, dice: Dice) -> History:
    """Differences of 1e-9 on a large number."""
    X = points(space, dice, size(dice))
    return history(space, X, dice.one([1.0, 1e3, -1e6, 1e12]) + 1e-9 * dice.normal(len(X)))


def clusters(space: Space, dice: Dice) -> History:
    """Points within 1e-8 of a few."""
    centers = points(space, dice, dice.one([1, 2, 3]))
    X = told(space, moved(space, centers[torch.arange(size(dice)) % len(centers)], 1e-8, dice))
    Y = smooth(space, X, dice)
    return history(space, X, Y + dice.normal(len(X)) if dice.happens(0.5) else Y)


def border(space: Space, dice: Dice) -> History:
    """Points on the border of the domain."""
    X = space.manifold.random(size(dice), dice.points)
    X = space.manifold.clamp(space.manifold.nearest(moved(space, X, space.manifold.diameter, dice)))
    return history(space, X, smooth(space, X, dice))


def outside(space: Space, dice: Dice) -> History:
    """Points that a lab measured although they are outside."""
    length = min(3.0, dice.one([0.1, 1.0]) * space.manifold.diameter)
    X = space.manifold.nearest(moved(space, space.manifold.random(size(dice), dice.points), length, dice))
    return history(space, X, smooth(space, X, dice))


def all_pending(space: Space, dice: Dice) -> History:
    """Everything is out, but for two observations at times."""
    X = points(space, dice, dice.one([0, 2]))
    return history(space, X, smooth(space, X, dice), pending=points(space, dice, size(dice)))


def many(space: Space, dice: Dice) -> History:
    """As many points as a long day gives."""
    X = points(space, dice, dice.choices.randint(60, 150))
    return history(space, X, smooth(space, X, dice))


HISTORIES: dict[str, Callable[[Space, Dice], History]] = {
    "constant": constant,
    "repeated, equal": repeated_equal,
    "repeated, unequal": repeated_unequal,
    "single": single,
    "nothing": nothing,
    "all failed": all_failed,
    "half failed": half_failed,
    "abandoned": abandoned,
    "all sizes": all_sizes,
    "offset": offset,
    "clusters": clusters,
    "border": border,
    "outside": outside,
    "all pending": all_pending,
    "many": many,
}
"""Kinds of history."""
