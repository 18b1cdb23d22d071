"""Matérn kernels as positive mixtures of heat kernels: the weights, and the grid of times they stand on.

    compact:      k ~ integral of u^(nu + m/2 - 1) exp(-b u) p_u du          (spectrum (b + lambda)^(-nu - m/2))
    non-compact:  k ~ integral of u^(nu - 1) exp(-b u) p_u / p_u(0) du       (the paper's definition)

with b = 2 nu / kappa^2; ``Definition`` names two more for non-compact spaces. The trapezoid rule in log u makes each of
them a sum of heat kernels with positive weights: positive definite whatever the rounding. SE (nu = inf) is the single
time u = kappa^2 / 2.

Source:
    Jaquier, Borovitskiy et al. 2021; Borovitskiy et al. 2020 for the compact case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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

Definition = Literal["paper", "spde", "shifted"]
"""Three kernels that agree on compact and on flat spaces, and everywhere for short lengthscales:

paper    mixture of normalized heat kernels, u^(nu - 1) exp(-b u) p_u / p_u(0)
spde     spectrum (b + lambda)^(-nu - m/2), where lambda begins at |rho|^2 > 0: u^(nu + m/2 - 1) exp(-b u) p_u
shifted  spectrum (b + lambda - |rho|^2)^(-nu - m/2), as in the library GeometricKernels
"""


@dataclass(frozen=True)
class Times:
    """Times of the trapezoid rule, and what the weights need to know of the space there.

    Attributes:
        log_u: (times,) of all times.
        visible: Which of them count for other than coincident points.
        log_peak: (times,) log(u^(m/2) p_u(0)) up to a constant.
        gap: |rho|^2, where the spectrum begins.
        is_compact: Whether the spectral definition holds, whatever is asked for.
    """

    log_u: Tensor
    visible: slice
    log_peak: Tensor
    gap: float
    is_compact: bool


@dataclass(frozen=True)
class Grid(Times):
    """Times, and the heat kernels at the visible ones."""

    heat: Heat


def grid_steps(kernel: HeatKernel, nu: float, definition: Definition = "paper") -> int:
    """Grid points for each doubling of u that a Matérn kernel of one space needs."""
    is_normalized = definition == "paper" and not kernel.is_compact
    return steps_per_octave(nu if is_normalized else nu + kernel.dim / 2)


def steps_per_octave(order: float) -> int:
    """Grid points for each doubling of u that integrate u^order exp(-b u) to ``QUADRATURE_ERROR``."""
    for steps in (3, 4, 6, 8, 12):
        # The rule's leading error: the first Fourier coefficient of the integrand in log u.
        frequency = 2 * math.pi * steps / math.log(2)
        log_error = math.log(2) + loggamma(complex(order, frequency)).real - gammaln(order)
        if log_error < math.log(QUADRATURE_ERROR):
            return steps
    return 16


def grid_times(steps: int) -> tuple[Float[Tensor, " t"], int]:
    """Logarithms of the times, ``steps`` to each octave, and how many of them are invisible."""
    h = math.log(2) / steps
    log_u = h * torch.arange(math.floor(LOG_FIRST / h), math.ceil(LOG_LAST / h) + 1, dtype=torch.float64)
    return log_u, int((log_u < LOG_FIRST_VISIBLE).sum())


@lru_cache(maxsize=32)
def grid(kernel: HeatKernel, steps: int) -> Grid:
    """The grid with ``steps`` times to each octave; built on first use."""
    log_u, first = grid_times(steps)
    heat = kernel.at(torch.exp(log_u[first:]))
    visible = heat.log_peak + kernel.dim / 2 * log_u[first:]
    # Where curvature is invisible, p_u(0) falls as u^(-m/2).
    log_peak = torch.cat([visible[:1].expand(first), visible])
    return Grid(log_u, slice(first, None), log_peak, kernel.gap, kernel.is_compact, heat)


def weights(
    on: Times, nu: float, kappa: float, definition: Definition = "paper"
) -> tuple[Float[Tensor, " t"], Float[Tensor, " t"], Float[Tensor, " t"]]:
    """Weights of the visible times, their derivatives in kappa and in nu; all times together sum to 1."""
    u = torch.exp(on.log_u)
    exponent = nu * on.log_u - 2 * nu / kappa**2 * u
    if on.is_compact or definition != "paper":
        exponent = exponent + on.log_peak
    if definition == "shifted":
        exponent = exponent + on.gap * u
    weight = torch.softmax(exponent, 0)
    by_kappa = _centred(weight, 4 * nu / kappa**3 * u)
    by_nu = _centred(weight, on.log_u - 2 / kappa**2 * u)
    return weight[on.visible], by_kappa[on.visible], by_nu[on.visible]


def _centred(weight: Float[Tensor, " t"], score: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
    """Derivative of a softmax whose exponents have the derivative ``score``."""
    return weight * (score - (weight * score).sum())
