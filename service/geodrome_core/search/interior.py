"""Maxima on the border of a domain, by a primal-dual interior trust region.

With slacks C_i(x), positive definite inside, a maximum of f has multipliers Z_i, positive semidefinite, such that

    grad f + sum_i <grad C_i, Z_i> = 0,    C_i Z_i = 0.

The last zero is replaced by a small mu: the path to the border. Newton's method on both equations takes a few steps for
all values of mu that it passes, while that on the barrier  f + mu sum log det C_i  alone would need several for each.
Steps are judged by that barrier, and end before they would use up a slack.

Source:
    Conn, Gould, Orban, Toint 2000, "A primal-dual trust-region algorithm for non-convex nonlinear programming"; Wächter
    and Biegler 2006 for mu and the safeguards; Helmberg et al. 1996 for matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from geodrome_core.geometry.slack import Slack
from geodrome_core.search.domain import Domain
from geodrome_core.search.multipliers import TO_BORDER, inverse, newton_step, relative, safeguarded
from geodrome_core.search.objective import Expanded, Objective
from geodrome_core.search.subproblem import step_within

FIRST = 1e-4, 0.1
"""Bounds of the first mu, relative to the gradient at the start. A larger one pulls starts off their hills."""

LEAST = 1e-9
"""The last mu, relative to the same gradient: the objective is short of its maximum by mu for each slack that is used
up."""

SOON = 30.0
"""Times the last mu: below that, mu falls to the last one at once."""

CENTRED = 1.0
"""Times mu: the errors in both equations below which mu falls."""

FALL, POWER = 0.2, 1.5
"""By what mu falls: by the first factor at least, and in the end to its own power."""

ENOUGH = 10.0
"""Times the last mu: the error in the second equation at which a start is done. Rounding may leave no smaller one."""

CORRECTIONS, DEVIATION = 3, 0.3
"""How often a step is corrected at most, and the relative error of a slack from which on it is."""

NEGLIGIBLE = 1e-10
"""Weight of a correction's length beside that of the slacks' relative errors."""

ACCEPT, SHRINK, GROW = 0.1, 0.25, 0.75
"""As in the trust region."""

LIMIT = 200
"""Iterations: nearly all searches end before 30, but some ridges are narrow and bent."""


def maximize_on_border(
    objective: Objective,
    domain: Domain,
    starts: Float[Tensor, "b d"],
    goal: Float[Tensor, " b"],
    *,
    patience: float = math.inf,
    promised: Float[Tensor, " b"] | None = None,
) -> tuple[Float[Tensor, "b d"], int]:
    """Maximizes from points inside the domain towards its border; returns the ends, and the number of iterations.

    Args:
        objective: The function.
        domain: Where to search; has slacks.
        starts: Points strictly inside.
        goal: Error in the first equation at which a start is done.
        patience: Times the iterations of the first start that is done, after which the others end where they are,
            unless it is better there, or was promised to be.
        promised: Values that the starts have reached elsewhere on their hills.
    """
    points, now = starts, objective.expand(starts).along(domain.free)
    slope = now.gradient.norm(dim=-1).clamp_min(1e-300)
    slacks = domain.slacks_around(points)
    pull = _force(slacks, [inverse(slack.value) for slack in slacks]).norm(dim=-1)
    # The weight at which the barrier's pull is as strong as the objective's, but for the bounds.
    mu = slope * (1 / pull.clamp_min(1e-300)).clamp(*FIRST)
    multipliers = [mu[:, None, None, None] * inverse(slack.value) for slack in slacks]
    largest = 0.5 * domain.manifold.diameter
    radius = torch.full_like(mu, largest / 4)
    active = torch.arange(len(points))
    late = _LateStarts(patience, promised)
    for iteration in range(LIMIT):
        here, at = points[active], now.some(active)
        slacks = domain.slacks_around(here)
        z = [each[active] for each in multipliers]
        inverses = [inverse(slack.value) for slack in slacks]
        pull_left, gap = _errors(at, slacks, z, mu[active])
        least = LEAST * slope[active]
        done = (mu[active] <= least) & (pull_left <= goal[active]) & (gap <= ENOUGH * least)
        going = ~done & (radius[active] > 1e-12 * largest) & late.are_awaited(iteration, active, at.value, done)
        going = torch.nonzero(going).flatten()
        if len(going) == 0:
            return points, iteration
        if len(going) < len(active):
            active = active[going]
            continue
        is_centred = (gap <= CENTRED * mu[active]) & (pull_left <= torch.maximum(CENTRED * mu[active], goal[active]))
        mu[active] = torch.where(is_centred, _lowered(mu[active], slope[active]), mu[active])
        weight = mu[active]

        gradient = at.gradient + weight.unsqueeze(-1) * _force(slacks, inverses)
        model = at.hessian + _curvature(slacks, inverses, z)
        curvature, axes = torch.linalg.eigh(-model)
        step = step_within(-gradient, curvature, axes, radius[active])
        step = step * _room(slacks, step).unsqueeze(-1)
        step, trial = _followed(domain, here, step, slacks)
        there = objective.expand(trial).along(domain.free)
        gained = there.value - at.value + weight * (domain.barrier(trial) - domain.barrier(here))
        gained = gained.nan_to_num(nan=-torch.inf)
        predicted = (gradient * step).sum(-1) + 0.5 * (step.unsqueeze(-2) @ model @ step.unsqueeze(-1)).flatten()
        ratio = gained / predicted.clamp_min(1e-300)
        rounding = 1e-13 * (1 + at.value.abs())
        taken = (ratio > ACCEPT) | ((gained.abs() <= rounding) & (predicted <= rounding))
        length = step.norm(dim=-1)
        grown = torch.maximum(radius[active], 2 * length).clamp_max(largest)
        radius[active] = torch.where(ratio < SHRINK, length / 4, torch.where(ratio > GROW, grown, radius[active]))
        radius[active] = torch.where(taken & (gained.abs() <= rounding), grown, radius[active])

        kept = torch.nonzero(taken).flatten()
        points = points.index_copy(0, active[kept], trial[kept])
        now = now.with_some(active[kept], there.some(kept))
        values = domain.slacks(trial)
        for each, slack, own, inverted, value in zip(multipliers, slacks, z, inverses, values, strict=True):
            moved = newton_step(slack, own, inverted, step, weight)
            each[active[kept]] = safeguarded(moved, value, weight)[kept]
    return points, LIMIT


@dataclass
class _LateStarts:
    """Which starts are waited for when another one is done: all for a while, and then those that are better already.

    Attributes:
        patience: Times the iterations of the first one.
        promised: Values that the starts have reached elsewhere on their hills.
        last: The iteration after which it is over.
        best: Value of the best that is done.
    """

    patience: float
    promised: Float[Tensor, " a"] | None
    last: float = math.inf
    best: float = -math.inf

    def are_awaited(
        self, iteration: int, active: Int[Tensor, " b"], value: Float[Tensor, " b"], done: Bool[Tensor, " b"]
    ) -> Bool[Tensor, " b"]:
        """Of the active starts; takes note of those that are done."""
        if bool(done.any()):
            self.best = max(self.best, float(value[done].max()))
            self.last = min(self.last, self.patience * iteration + 2)
        if iteration <= self.last:
            return torch.ones_like(done)
        return (value if self.promised is None else torch.maximum(value, self.promised[active])) > self.best


def _force(slacks: list[Slack], multipliers: list[Tensor]) -> Float[Tensor, "b m"]:
    """Sum of the inner products of the slacks' derivatives with multipliers."""
    parts = [torch.einsum("bmqkl,bqkl->bm", slack.slope, z) for slack, z in zip(slacks, multipliers, strict=True)]
    return torch.stack(parts).sum(0)


def _curvature(slacks: list[Slack], inverses: list[Tensor], multipliers: list[Tensor]) -> Float[Tensor, "b m m"]:
    """What the borders add to the Hessian: bend(Z) - sym tr(C_i Z C_j C^-1)."""
    parts = []
    for slack, inverted, z in zip(slacks, inverses, multipliers, strict=True):
        left, right = slack.slope @ z.unsqueeze(1), slack.slope @ inverted.unsqueeze(1)
        product = torch.einsum("bmqkl,bnqlk->bmn", left, right)
        parts.append(slack.bend(z) - 0.5 * (product + product.mT))
    return torch.stack(parts).sum(0)


def _errors(
    at: Expanded, slacks: list[Slack], multipliers: list[Tensor], mu: Float[Tensor, " b"]
) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"]]:
    """The errors of the two equations."""
    gaps = []
    for slack, z in zip(slacks, multipliers, strict=True):
        eye = torch.eye(z.shape[-1], dtype=z.dtype)
        gaps.append((slack.value @ z - mu[:, None, None, None] * eye).norm(dim=(-1, -2)).amax(-1))
    return (at.gradient + _force(slacks, multipliers)).norm(dim=-1), torch.stack(gaps).amax(0)


def _lowered(mu: Float[Tensor, " b"], slope: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """The next mu."""
    share = mu / slope
    share = torch.minimum(FALL * share, share**POWER)
    return torch.where(share < SOON * LEAST, LEAST, share) * slope


def _room(slacks: list[Slack], step: Float[Tensor, "b m"]) -> Float[Tensor, " b"]:
    """Part of the step, at most 1, that uses up no more than ``TO_BORDER`` of any slack."""
    steepest = torch.full((len(step),), -TO_BORDER, dtype=step.dtype)
    for slack in slacks:
        change = torch.einsum("bmqkl,bm->bqkl", slack.slope, step)
        steepest = torch.minimum(steepest, relative(slack.value, change).flatten(1).amin(-1))
    return -TO_BORDER / steepest


def _followed(
    domain: Domain, x: Float[Tensor, "b d"], step: Float[Tensor, "b m"], slacks: list[Slack]
) -> tuple[Float[Tensor, "b m"], Float[Tensor, "b d"]]:
    """The points that steps lead to, corrected so that slacks change as their derivatives say; and the steps.

    Along a curved border, straight steps would leave the domain at once. Where corrections do not help, steps are
    cut.
    """
    targets = [s.value + torch.einsum("bmqkl,bm->bqkl", s.slope, step) for s in slacks]
    inverses = [inverse(target) for target in targets]
    trial = domain.move(x, step)
    eye = NEGLIGIBLE * torch.eye(step.shape[-1], dtype=step.dtype)
    for _ in range(CORRECTIONS):
        found = domain.slacks_around(trial)
        gaps = [target - slack.value for target, slack in zip(targets, found, strict=True)]
        worst = torch.stack(
            [relative(t, gap).abs().flatten(1).amax(-1) for t, gap in zip(targets, gaps, strict=True)]
        ).amax(0)
        if not bool((worst > DEVIATION).any()):
            break
        matrix, pull = torch.zeros_like(eye), torch.zeros_like(step)
        for slack, gap, inverted in zip(found, gaps, inverses, strict=True):
            scaled = inverted.unsqueeze(1) @ slack.slope
            matrix = matrix + torch.einsum("bmqkl,bnqlk->bmn", scaled, scaled)
            pull = pull + torch.einsum("bmqkl,bqlk->bm", scaled, inverted @ gap)
        size = matrix.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None, None] + 1
        correction = torch.linalg.solve(matrix + size * eye, pull.unsqueeze(-1)).squeeze(-1)
        small = (worst > DEVIATION) & (correction.norm(dim=-1) <= step.norm(dim=-1))
        trial = domain.move(trial, torch.where(small.unsqueeze(-1), correction, 0.0))
    trial = domain.manifold.nearest(trial)
    outside = domain.is_outside(trial)
    if not bool(outside.any()):
        return step, trial
    shorter, instead = domain.shortened(x, step)
    return torch.where(outside.unsqueeze(-1), shorter, step), torch.where(outside.unsqueeze(-1), instead, trial)
