"""How promising a point is: acquisition functions, each a function of the posterior, on standardized costs."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.gp import Posterior

Objective = Callable[[Tensor], Tensor]
"""From points (b, d) to values (b,), differentiable twice; large is good."""

ASYMPTOTIC = -50.0
"""Below this, 1 + z Phi(z) / phi(z) has lost its digits, and its series in 1/z^2 has all of them."""


def log_expected_improvement(posterior: Posterior, best: float) -> Objective:
    """Log of the expected improvement  s (phi(z) + z Phi(z)),  z = (best - mean) / s,  for minimization.

    The logarithm keeps its slope where the improvement itself underflows, late in a run.

    Args:
        posterior: Gives mean and s.
        best: Standardized cost to improve on.

    Source:
        Ament et al. 2023, "Unexpected improvements to expected improvement".
    """

    def value(x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        mean, std = posterior.mean_std(x)
        return torch.log(std) + log_improvement((best - mean) / std)

    return value


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


ACQUISITIONS: dict[str, Callable[[Posterior, float], Objective]] = {"log_ei": log_expected_improvement}
"""Acquisition functions by their name on the wire."""
