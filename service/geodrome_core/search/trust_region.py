"""Riemannian trust regions: maximizing a smooth function over a domain of a manifold from many starts at once.

At an iterate x, tangent coordinates xi and a second-order retraction R make f(R_x(xi)) a function on R^m whose
gradient and Hessian at 0 are the Riemannian ones. Both are exact, and so is the solution of the quadratic model within
the trust radius (an eigendecomposition, the hard case included).

A step that would leave the domain is cut until it does not. As soon as one start presses on its border, all that are
not done go on from a bit inside by an interior method, whose iterates stay strictly inside and converge to points on
the border where the maximum lies there. (Iterations are batched: one more start costs little, one more iteration much.)

Source:
    Absil, Mahony, Sepulchre 2008, chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.search.domain import Domain
from geodrome_core.search.interior import maximize_on_border
from geodrome_core.search.objective import Expanded, Objective
from geodrome_core.search.subproblem import step_within

ACCEPT, SHRINK, GROW = 0.1, 0.25, 0.75
"""Ratios of gained to predicted increase: steps above the first are taken; the radius changes beyond the others."""

CUTS = 2
"""Steps cut at the border before a start is said to press on it."""

MARGIN = 0.02
"""Part of the domain's width: the distance from the border at which an interior search begins."""


@dataclass(frozen=True)
class Search:
    """Where the starts ended.

    Attributes:
        points: The optima, in the domain.
        values: The function there.
        iterations: Batched iterations, all barriers together.
    """

    points: Float[Tensor, "b d"]
    values: Float[Tensor, " b"]
    iterations: int


@dataclass(frozen=True)
class Tolerance:
    """When a start is done.

    Attributes:
        gradient: Norm of the Riemannian gradient, relative to 1 + the least of those at the starts.
        iterations: At most, inside.
        patience: How long a start on the border is waited for when another one is done, in that one's iterations: late
            starts nearly always end where an early one did. Infinite: until each is at its maximum.
    """

    gradient: float = 1e-6
    iterations: int = 50
    patience: float = 1.5


DEFAULT_TOLERANCE = Tolerance()


def maximize(
    objective: Objective,
    domain: Domain,
    starts: Float[Tensor, "b d"],
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Search:
    """Maximizes from all starts together; whole numbers stay as they are. The best end is a maximum.

    Args:
        objective: The function.
        domain: Where to search.
        starts: Points strictly inside the domain.
        tolerance: When to stop.
    """
    with torch.no_grad():
        if len(domain.free) == 0:
            return Search(starts, objective(starts), 0)
        first = objective.expand(starts).along(domain.free)
        # The least: far from the data, log EI is so steep that its gradient there is no measure for a flat maximum.
        goal = (tolerance.gradient * (1 + first.gradient.norm(dim=-1).amin())).expand(len(starts))
        ends = _ascend(objective, domain, _Iterates(starts, first), goal, tolerance.iterations)
        points, iterations = ends.iterates.points, ends.iterations
        if domain.has_border:
            pressing = torch.nonzero(ends.iterates.at.gradient.norm(dim=-1) > goal).flatten()
            if len(pressing):
                pressed = ends.iterates.some(pressing)
                better, more = _to_border(objective, domain, pressed, goal[pressing], tolerance.patience)
                points = points.index_copy(0, pressing, better)
                iterations += more
        return Search(points, objective(points), iterations)


@dataclass(frozen=True)
class _Iterates:
    """Points, and the function there to second order."""

    points: Float[Tensor, "b d"]
    at: Expanded

    def some(self, index: Int[Tensor, " k"]) -> _Iterates:
        """Of some of the starts."""
        return _Iterates(self.points[index], self.at.some(index))

    def with_some(self, index: Int[Tensor, " k"], new: _Iterates) -> _Iterates:
        """With some of them replaced."""
        return _Iterates(self.points.index_copy(0, index, new.points), self.at.with_some(index, new.at))


@dataclass(frozen=True)
class _Ends:
    """Where an ascent ended, and after how many iterations."""

    iterates: _Iterates
    iterations: int


def _to_border(
    objective: Objective, domain: Domain, starts: _Iterates, goal: Float[Tensor, " b"], patience: float
) -> tuple[Float[Tensor, "b d"], int]:
    """The better of each start, which presses on the border, and the end of a search from a bit inside."""
    inside = domain.inside(starts.points, margin=MARGIN)
    ends, iterations = maximize_on_border(objective, domain, inside, goal, patience=patience, promised=starts.at.value)
    better = objective(ends) > starts.at.value
    return torch.where(better.unsqueeze(-1), ends, starts.points), iterations


def _ascend(objective: Objective, domain: Domain, starts: _Iterates, goal: Float[Tensor, " b"], limit: int) -> _Ends:
    """Trust-region Newton steps until every gradient is below its goal, or the border has cut ``CUTS`` of one start."""
    now = starts
    largest = 0.5 * domain.manifold.diameter
    radius = torch.full((len(goal),), largest / 4, dtype=goal.dtype)
    cut = torch.zeros(len(goal), dtype=torch.int64)
    active = torch.arange(len(goal))
    for iteration in range(limit):
        here = now.some(active)
        curvature, axes = torch.linalg.eigh(-here.at.hessian)
        # A small gradient with a way up is a saddle, not an optimum.
        going = (here.at.gradient.norm(dim=-1) > goal[active]) | (-curvature[:, 0] > goal[active])
        going &= radius[active] > 1e-12 * largest
        if not bool(going.any()) or bool((cut >= CUTS).any()):
            return _Ends(now, iteration)
        kept = torch.nonzero(going).flatten()
        active, here, curvature, axes = active[kept], here.some(kept), curvature[kept], axes[kept]
        step = step_within(-here.at.gradient, curvature, axes, radius[active])
        full = step.norm(dim=-1)
        step, trial = domain.shortened(here.points, step)
        there = objective.expand(trial).along(domain.free)
        length = step.norm(dim=-1)
        cut[active] += length < 0.9 * full
        predicted = (here.at.gradient * step).sum(-1)
        predicted = predicted + 0.5 * (step.unsqueeze(-2) @ here.at.hessian @ step.unsqueeze(-1)).flatten()
        gained = (there.value - here.at.value).nan_to_num(nan=-torch.inf)
        ratio = gained / predicted.clamp_min(1e-300)
        # Where both are rounding, the ratio says nothing; the model's step is the better guess.
        rounding = 1e-14 * (1 + here.at.value.abs())
        taken = torch.nonzero((ratio > ACCEPT) | ((gained.abs() <= rounding) & (predicted <= rounding))).flatten()
        now = now.with_some(active[taken], _Iterates(trial[taken], there.some(taken)))
        grown = torch.maximum(radius[active], 2 * length).clamp_max(largest)
        radius[active] = torch.where(ratio < SHRINK, length / 4, torch.where(ratio > GROW, grown, radius[active]))
    return _Ends(now, limit)
