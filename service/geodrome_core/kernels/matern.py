"""Matérn kernels as positive mixtures of heat kernels: the weights, and the grid of times they stand on.

    compact:      k ~ integral of u^(nu + m/2 - 1) exp(-b u) p_u du          (spectrum (b + lambda)^(-nu - m/2))
    non-compact:  k ~ integral of u^(nu - 1) exp(-b u) p_u / p_u(0) du       (the paper's definition)

with b = 2 nu / kappa^2. The trapezoid rule in log u makes either a sum of heat kernels with positive weights: positive
definite whatever the rounding. SE (nu = inf) is the single time u = kappa^2 / 2.

Source:
    Jaquier, Borovitskiy et al. 2021; Borovitskiy et al. 2020 for the compact case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from scipy.special import gammaln, loggamma
from torch import Tensor

from geodrome_core.kernels.heat import HeatKernel
from geodrome_core.kernels.short_time import Heat

LOG_FIRST, LOG_LAST = -345.0, 14.5
"""The grid spans u from 1e-150 to 2e6: kappa from 0.01 to 100, for nu = 0.1 too, whose weights fall as u^0.1 only."""

LOG_FIRST_VISIBLE = -49.0
"""Heat kernels of smaller u have vanished at w = 2^-60 already: their weight counts only where points coincide."""

QUADRATURE_ERROR = 1e-13


@dataclass(frozen=True)
class Grid:
    """Times of the trapezoid rule, and the heat kernels there.

    Attributes:
        log_u: (times,) of all times.
        visible: Which of them have a row in ``heat``.
        heat: Kernels at the visible times.
        log_peak: (times,) log p_u(0); zero where the kernels are normalized under the integral.
        exponent: Of u in the weight, less nu: m/2 or 0.
    """

    log_u: Tensor
    visible: slice
    heat: Heat
    log_peak: Tensor
    exponent: float


def steps_per_octave(order: float) -> int:
    """Grid points for each doubling of u that integrate u^order exp(-b u) to ``QUADRATURE_ERROR``."""
    for steps in (3, 4, 6, 8, 12):
        # The rule's leading error: the first Fourier coefficient of the integrand in log u.
        frequency = 2 * math.pi * steps / math.log(2)
        log_error = math.log(2) + loggamma(complex(order, frequency)).real - gammaln(order)
        if log_error < math.log(QUADRATURE_ERROR):
            return steps
    return 16


@lru_cache(maxsize=32)
def grid(kernel: HeatKernel, steps: int) -> Grid:
    """The grid with ``steps`` times to each octave; built on first use."""
    h = math.log(2) / steps
    log_u = h * torch.arange(math.floor(LOG_FIRST / h), math.ceil(LOG_LAST / h) + 1, dtype=torch.float64)
    first = int((log_u < LOG_FIRST_VISIBLE).sum())
    heat = kernel.at(torch.exp(log_u[first:]))
    if heat.log_peak is None:
        return Grid(log_u, slice(first, None), heat, torch.zeros_like(log_u), 0.0)
    # Where curvature is invisible, log p_u(0) falls by m/2 log u.
    early = heat.log_peak[0] - kernel.dim / 2 * (log_u[:first] - log_u[first])
    return Grid(log_u, slice(first, None), heat, torch.cat([early, heat.log_peak]), kernel.dim / 2)


def weights(on: Grid, nu: float, kappa: float) -> tuple[Float[Tensor, " t"], Float[Tensor, " t"]]:
    """Weights of the visible times, and their derivatives with respect to kappa; all times together sum to 1."""
    u = torch.exp(on.log_u)
    rate = 2 * nu / kappa**2
    weight = torch.softmax((nu + on.exponent) * on.log_u - rate * u + on.log_peak, 0)
    score = 4 * nu / kappa**3 * u
    derivative = weight * (score - (weight * score).sum())
    return weight[on.visible], derivative[on.visible]
