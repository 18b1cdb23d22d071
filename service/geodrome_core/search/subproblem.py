"""The trust-region subproblem, solved exactly for a batch."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

NEWTON_STEPS = 12
"""On the multiplier; they converge quadratically, from within a factor sqrt(m) of the radius."""

CLOSE = 1e-8
"""Of the step's length to the radius: the Newton step from there has all digits."""


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
    if bool(inside.all()):
        return (axes @ newton.unsqueeze(-1)).squeeze(-1)
    # The multiplier is the shift that makes the lowest curvature zero, plus something small: kept apart, since near the
    # hard case the small part decides and would drown in the sum.
    lifted = curvature + (-curvature[:, :1]).clamp_min(0)
    small = (along.abs() / radius.unsqueeze(-1) - lifted).amax(-1, keepdim=True).clamp_min(1e-300)
    for _ in range(NEWTON_STEPS):
        denominator = lifted + small
        step = -along / denominator
        excess = step.norm(dim=-1, keepdim=True) / radius.unsqueeze(-1) - 1
        small = small + excess * (step**2).sum(-1, keepdim=True) / (step**2 / denominator).sum(-1, keepdim=True)
        if float(excess[~inside].abs().max()) < CLOSE:
            break
    step = torch.where(inside.unsqueeze(-1), newton, -along / (lifted + small))
    return (axes @ step.unsqueeze(-1)).squeeze(-1)
