"""How promising a point is: acquisition functions of the model's mean and standard deviation.

Costs are standardized, and small is good; values are large where a point is good. Each function gives its first and
second derivatives too, so that a search needs no automatic differentiation.

With pending points, a model has several means, one for each way in which these may turn out, and improvement is
averaged over them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

ASYMPTOTIC = -50.0
"""Below this, 1 + z Phi(z) / phi(z) has lost its digits, and its series in 1/z^2 has all of them."""

EXPLORATION = 2.0
"""Standard deviations that the upper confidence bound adds: the mean's promise and the 98 % quantile's count alike."""


@dataclass(frozen=True)
class Score:
    """Values of an acquisition function, with derivatives in the means and the deviation.

    Attributes:
        value: Large is good.
        by_mean, by_std: First derivatives.
        by_means, by_mean_std, by_stds: Second ones.
    """

    value: Float[Tensor, " b"]
    by_mean: Float[Tensor, "b f"]
    by_std: Float[Tensor, " b"]
    by_means: Float[Tensor, "b f f"]
    by_mean_std: Float[Tensor, "b f"]
    by_stds: Float[Tensor, " b"]


Acquisition = Callable[[Tensor, Tensor, Tensor], Score]
"""From means (b, f), deviations (b,) and the costs to improve on (f,)."""


def log_expected_improvement(mean: Float[Tensor, "b f"], std: Float[Tensor, " b"], best: Float[Tensor, " f"]) -> Score:
    """Log of the expected improvement  s (phi(z) + z Phi(z)),  z = (best - mean) / s,  averaged over all means.

    The logarithm keeps its slope where the improvement itself underflows, late in a run.

    Source:
        Ament et al. 2023, "Unexpected improvements to expected improvement".
    """
    s = std.unsqueeze(-1)
    z = (best - mean) / s
    value = torch.log(s) + log_improvement(z)
    slope, bend = improvement_slopes(z)
    by_mean, by_std = -slope / s, (1 - z * slope) / s
    by_means = bend / s**2
    by_mean_std = (slope + z * bend) / s**2
    by_stds = (z * (2 * slope + z * bend) - 1) / s**2
    return _log_mean_exp(value, by_mean, by_std, (by_means, by_mean_std, by_stds))


def expected_improvement(mean: Float[Tensor, "b f"], std: Float[Tensor, " b"], best: Float[Tensor, " f"]) -> Score:
    """The expected improvement itself, averaged over all means.

    It vanishes far from improvement, in value and slope: a search for its maximum is one for that of its logarithm.
    """
    log = log_expected_improvement(mean, std, best)
    value = torch.exp(log.value)
    outer = log.by_mean.unsqueeze(-1) * log.by_mean.unsqueeze(-2)
    return Score(
        value,
        value.unsqueeze(-1) * log.by_mean,
        value * log.by_std,
        value[:, None, None] * (log.by_means + outer),
        value.unsqueeze(-1) * (log.by_mean_std + log.by_mean * log.by_std.unsqueeze(-1)),
        value * (log.by_stds + log.by_std**2),
    )


def upper_confidence_bound(mean: Float[Tensor, "b f"], std: Float[Tensor, " b"], best: Float[Tensor, " f"]) -> Score:
    """How low the cost may well be: ``EXPLORATION`` deviations below the mean, with the sign changed.

    With pending points, the mean of all means.

    Source:
        Srinivas, Krause, Kakade, Seeger 2010, "Gaussian process optimization in the bandit setting"; Desautels, Krause,
        Burdick 2014 for batches: pending points narrow the deviation and leave the mean.
    """
    del best
    count = mean.shape[-1]
    zero = torch.zeros_like(mean)
    return Score(
        EXPLORATION * std - mean.mean(-1),
        zero - 1 / count,
        torch.full_like(std, EXPLORATION),
        zero.unsqueeze(-1).expand(-1, -1, count),
        zero,
        torch.zeros_like(std),
    )


def log_improvement(z: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """log(phi(z) + z Phi(z)), accurate for every z."""
    # Each branch gets an argument at which it is finite: autograd multiplies the others by zero.
    high = z.clamp_min(-1.0)
    direct = torch.log(torch.exp(-0.5 * high**2) / math.sqrt(2 * math.pi) + high * torch.special.ndtr(high))
    middle = z.clamp(ASYMPTOTIC, -1.0)
    mills = math.sqrt(math.pi / 2) * torch.special.erfcx(-middle / math.sqrt(2))
    low = z.clamp_max(ASYMPTOTIC)
    r = 1 / low**2
    tail = torch.log(r * (1 - r * (3 - r * (15 - r * (105 - r * 945)))))
    log_density = -0.5 * torch.where(z <= -1, z, -1.0) ** 2 - 0.5 * math.log(2 * math.pi)
    beyond = log_density + torch.where(z < ASYMPTOTIC, tail, torch.log1p(middle * mills))
    return torch.where(z > -1, direct, beyond)


def improvement_slopes(z: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """First and second derivative of ``log_improvement``.

    With h = log(phi + z Phi):  h' = Phi / (phi + z Phi),  h'' = phi / (phi + z Phi) - h'^2.
    """
    with torch.no_grad():
        high = z.clamp_min(-1.0)
        density = torch.exp(-0.5 * high**2) / math.sqrt(2 * math.pi)
        tail = torch.special.ndtr(high)
        # Below -1, Phi and phi are divided by phi.
        middle = z.clamp(ASYMPTOTIC, -1.0)
        mills = math.sqrt(math.pi / 2) * torch.special.erfcx(-middle / math.sqrt(2))
        is_high = z > -1
        density, tail = torch.where(is_high, density, 1.0), torch.where(is_high, tail, mills)
        improvement = density + torch.where(is_high, high, middle) * tail
        slope = tail / improvement
        bend = density / improvement - slope**2
        # h = log phi + log(r p(r)),  r = 1 / z^2,  dr/dz = -2 r / z.
        low = z.clamp_max(ASYMPTOTIC)
        r = 1 / low**2
        p = 1 - r * (3 - r * (15 - r * (105 - r * 945)))
        by_r = (-3 + r * (30 - r * (315 - r * 3780))) / p
        by_rr = (30 - r * (630 - r * 11340)) / p - by_r**2
        far = -low - 2 / low * (1 + r * by_r)
        far_bend = -1 + 2 * r * (1 + r * by_r) + 4 * r**2 * (by_r + r * by_rr)
        is_far = z < ASYMPTOTIC
        return torch.where(is_far, far, slope), torch.where(is_far, far_bend, bend)


def _log_mean_exp(
    value: Float[Tensor, "b f"],
    by_mean: Float[Tensor, "b f"],
    by_std: Float[Tensor, "b f"],
    second: tuple[Float[Tensor, "b f"], Float[Tensor, "b f"], Float[Tensor, "b f"]],
) -> Score:
    """The logarithm of the mean of exponentials, of which each depends on one mean and on the common deviation."""
    means, mixed, stds = second
    if value.shape[-1] == 1:
        return Score(value[:, 0], by_mean, by_std[:, 0], means.unsqueeze(-1), mixed, stds[:, 0])
    share = torch.softmax(value, -1)
    slope, slope_std = share * by_mean, (share * by_std).sum(-1)
    return Score(
        torch.logsumexp(value, -1) - math.log(value.shape[-1]),
        slope,
        slope_std,
        torch.diag_embed(share * (means + by_mean**2)) - slope.unsqueeze(-1) * slope.unsqueeze(-2),
        share * (mixed + by_mean * by_std) - slope * slope_std.unsqueeze(-1),
        (share * (stds + by_std**2)).sum(-1) - slope_std**2,
    )


ACQUISITIONS: dict[str, Acquisition] = {
    "log_ei": log_expected_improvement,
    "ei": expected_improvement,
    "ucb": upper_confidence_bound,
}
"""Acquisition functions of mean and deviation by their name on the wire."""
