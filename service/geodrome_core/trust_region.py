"""Riemannian trust regions: maximizing a smooth function on a manifold from many starts at once.

At an iterate x, tangent coordinates xi and a second-order retraction R make f(R_x(xi)) a function on R^m whose
gradient and Hessian at 0 are the Riemannian ones. Both are exact (autograd, m backward passes for all starts together),
and so is the solution of the quadratic model within the trust radius (an eigendecomposition, the hard case included).

A step that would leave the domain is halved until it does not. Starts that press on its border go on under a barrier:
f + mu b is maximized for a falling mu, each time from the last optimum, so that iterates stay strictly inside and
converge to points on the border where the maximum lies there.

Source:
    Absil, Mahony, Sepulchre 2008, chapter 7; Moré and Sorensen 1983 for the subproblem; Nocedal and Wright 2006, 19.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.acquisition import Objective
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.search import DEFAULT_TOLERANCE, Pullback, Search, Tolerance

ACCEPT, SHRINK, GROW = 0.1, 0.25, 0.75
"""Ratios of gained to predicted increase: steps above the first are taken; the radius changes beyond the others."""

BARRIER_FALL = (1e-1, 1e-3, 1e-5, 1e-7)
"""The barrier's weights in turn, relative to the gradient where the border was met."""

CUTS = 3
"""Steps cut at the border before a start is said to press on it."""

HALVINGS = 40

MARGIN = 0.02
"""Part of the domain's width: the distance from the border at which the way under barriers begins."""

NEWTON_STEPS = 12
"""On the multiplier of the subproblem; they converge quadratically, from within a factor sqrt(m) of the radius."""


def maximize(
    objective: Objective,
    manifold: Manifold,
    starts: Float[Tensor, "b d"],
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Search:
    """Maximizes from all starts together.

    Args:
        objective: The function.
        manifold: Gives retraction, basis and domain.
        starts: Points strictly inside the domain.
        tolerance: When to stop.
    """
    free = Pullback(objective, manifold, torch.zeros(len(starts), dtype=starts.dtype))
    slope = free.slope(starts)
    goal = tolerance.gradient * (1 + slope)
    points, iterations = _ascend(free, starts, goal, limit=tolerance.iterations, cuts=CUTS)
    if manifold.has_border:
        pressing = torch.nonzero(free.slope(points) > goal).flatten()
        if len(pressing):
            ends, more = _approach_border(free.at(pressing), points[pressing], goal[pressing], tolerance.iterations)
            points[pressing] = ends
            iterations += more
    with torch.no_grad():
        return Search(points, objective(points), iterations)


def step_within(
    gradient: Float[Tensor, "b m"],
    curvature: Float[Tensor, "b m"],
    axes: Float[Tensor, "b m m"],
    radius: Float[Tensor, " b"],
) -> Float[Tensor, "b m"]:
    """The exact minimizer of <g, s> + s^T H s / 2 over |s| <= radius, for a batch.

    Args:
        gradient: g.
        curvature: Eigenvalues of H, ascending.
        axes: Its eigenvectors, in columns.
        radius: Positive.

    Source:
        Moré and Sorensen 1983: Newton's method on 1/|s| as a function of the multiplier, from the side where it
        converges monotonically.
    """
    along = (axes.mT @ gradient.unsqueeze(-1)).squeeze(-1)
    size = along.norm(dim=-1)
    # Hard case: no slope along the lowest axis. A trace of one breaks the tie; its effect is below rounding.
    flat = along[:, 0].abs() < 1e-14 * (1 + size)
    along = torch.cat([torch.where(flat, 1e-12 * (1 + size), along[:, 0]).unsqueeze(-1), along[:, 1:]], -1)
    newton = -along / curvature.clamp_min(1e-300)
    inside = (curvature[:, 0] > 0) & (newton.norm(dim=-1) <= radius)
    # The multiplier is the shift that makes the lowest curvature zero, plus something small: kept apart, since near the
    # hard case the small part decides and would drown in the sum.
    lifted = curvature + (-curvature[:, :1]).clamp_min(0)
    small = (along.abs() / radius.unsqueeze(-1) - lifted).amax(-1, keepdim=True).clamp_min(1e-300)
    for _ in range(NEWTON_STEPS):
        denominator = lifted + small
        step = -along / denominator
        excess = step.norm(dim=-1, keepdim=True) / radius.unsqueeze(-1) - 1
        small = small + excess * (step**2).sum(-1, keepdim=True) / (step**2 / denominator).sum(-1, keepdim=True)
    step = torch.where(inside.unsqueeze(-1), newton, -along / (lifted + small))
    return (axes @ step.unsqueeze(-1)).squeeze(-1)


def _approach_border(
    function: Pullback, starts: Float[Tensor, "b d"], goal: Float[Tensor, " b"], limit: int
) -> tuple[Float[Tensor, "b d"], int]:
    """The better of each start and the end of its way along the barriers' optima."""
    # Close to the border the barrier is steep, and each step away from it only doubles the distance.
    points, total = function.manifold.clamp(starts, margin=MARGIN), 0
    slope = function.slope(starts).clamp_min(1e-12)
    for fall, before in zip(BARRIER_FALL, (None, *BARRIER_FALL), strict=False):
        if before is not None:
            points = _predict(function, points, before * slope, fall / before)
        # On the way to a small barrier, a rough centre is enough.
        guarded = Pullback(function.objective, function.manifold, fall * slope)
        rough = torch.maximum(goal, 0.1 * guarded.weight)
        points, iterations = _ascend(guarded, points, rough, limit=limit, cuts=limit)
        total += iterations
    with torch.no_grad():
        better = function.objective(points) > function.objective(starts)
    return torch.where(better.unsqueeze(-1), points, starts), total


def _predict(
    function: Pullback, points: Float[Tensor, "b d"], weight: Float[Tensor, " b"], shrink: float
) -> Float[Tensor, "b d"]:
    """Where the optima go when the barrier's weight shrinks: along the tangent of their path.

    From grad f + mu grad b = 0 follows dx/dmu = -H^-1 grad b, with H the Hessian of f + mu b. Newton's method alone
    would need a step for each halving of the distance to the border.
    """
    guarded = Pullback(function.objective, function.manifold, weight)
    _, _, hessian = guarded.expand(points)
    gradient = function.gradient(points)
    curvature, axes = torch.linalg.eigh(-hessian)
    along = (axes.mT @ gradient.unsqueeze(-1)).squeeze(-1) / curvature.clamp_min(1e-300)
    step = (1 - shrink) * (axes @ along.unsqueeze(-1)).squeeze(-1)
    # No optimum, no path: such a point stays.
    step = torch.where(curvature[:, :1] > 0, step, 0.0)
    with torch.no_grad():
        return function.manifold.nearest(_stay_inside(guarded, points, step)[1])


def _ascend(
    function: Pullback, starts: Float[Tensor, "b d"], goal: Float[Tensor, " b"], *, limit: int, cuts: int
) -> tuple[Float[Tensor, "b d"], int]:
    """Trust-region Newton steps until each start's gradient is below its goal, or the border has cut ``cuts`` steps."""
    points = starts.clone()
    largest = 0.5 * function.manifold.diameter
    radius = torch.full((len(points),), largest / 4, dtype=points.dtype)
    cut = torch.zeros(len(points), dtype=torch.int64)
    active = torch.arange(len(points))
    for iteration in range(limit):
        value, gradient, hessian = function.at(active).expand(points[active])
        curvature, axes = torch.linalg.eigh(-hessian)
        # A small gradient with a way up is a saddle, not an optimum.
        going = (gradient.norm(dim=-1) > goal[active]) | (-curvature[:, 0] > goal[active])
        going &= (radius[active] > 1e-12 * largest) & (cut[active] < cuts)
        if not bool(going.any()):
            return points, iteration
        active, value, gradient, hessian, curvature, axes = (
            t[going] for t in (active, value, gradient, hessian, curvature, axes)
        )
        with torch.no_grad():
            step = step_within(-gradient, curvature, axes, radius[active])
            full = step.norm(dim=-1)
            step, trial, new = _stay_inside(function.at(active), points[active], step)
            length = step.norm(dim=-1)
            cut[active] += length < 0.9 * full
            predicted = (gradient * step).sum(-1) + 0.5 * (step.unsqueeze(-2) @ hessian @ step.unsqueeze(-1)).flatten()
            gained = new - value
            ratio = gained / predicted.clamp_min(1e-300)
            # Where both are rounding, the ratio says nothing; the model's step is the better guess.
            rounding = 1e-14 * (1 + value.abs())
            taken = (ratio > ACCEPT) | ((gained.abs() <= rounding) & (predicted <= rounding))
            points[active[taken]] = function.manifold.nearest(trial[taken])
            grown = torch.maximum(radius[active], 2 * length).clamp_max(largest)
            radius[active] = torch.where(ratio < SHRINK, length / 4, torch.where(ratio > GROW, grown, radius[active]))
    return points, limit


def _stay_inside(
    function: Pullback, x: Float[Tensor, "b d"], step: Float[Tensor, "b m"]
) -> tuple[Float[Tensor, "b m"], Float[Tensor, "b d"], Float[Tensor, " b"]]:
    """The steps, halved until they stay in the domain; where they lead, and the values there."""
    manifold = function.manifold
    for _ in range(HALVINGS):
        trial = manifold.retract(x, manifold.tangent(x, step))
        outside = torch.isneginf(manifold.barrier(trial))
        if not bool(outside.any()):
            break
        step = torch.where(outside.unsqueeze(-1), 0.5 * step, step)
    return step, trial, function.value(trial).nan_to_num(nan=-torch.inf)
