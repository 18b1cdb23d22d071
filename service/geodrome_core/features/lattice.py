"""The lattice of frequencies of a torus as levels of its circles, with shares that are no products of theirs."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.levels import LEVELS, SpectralLaw
from geodrome_core.kernels.matern import steps_per_octave, weights
from geodrome_core.kernels.torus import torus_grid

MOST_JOINTS = 3
"""Of more joints a list of levels, as long as memory allows, would end at low frequencies."""

LARGEST_LATTICE = 1_000_000
"""Tuples of levels."""


def lattice_shares(dim: int, nu: float, kappa: float) -> Float[Tensor, "..."]:
    """Shares of the variance of the torus's own kernel: for all tuples of its circles' levels, an axis for each."""
    count = min(LEVELS, int(LARGEST_LATTICE ** (1 / dim)))
    level = torch.arange(count, dtype=torch.float64)
    copies = torch.where(level > 0, 2.0, 1.0).double()
    eigenvalues = torch.stack(torch.meshgrid(*dim * [level**2], indexing="ij")).sum(0)
    multiplicities = torch.stack(torch.meshgrid(*dim * [copies], indexing="ij")).prod(0)
    if math.isinf(nu):
        # One time, and the product of the circles' sums.
        start = dim * torch.log((copies * torch.exp(-(kappa**2) / 2 * level**2)).sum())
        log_peak, weight = torch.stack([start, torch.zeros_like(start)]), torch.ones(1, dtype=torch.float64)
    else:
        on = torus_grid(dim, steps_per_octave(nu + dim / 2))
        log_peak, weight = (on.log_peak - dim / 2 * on.log_u)[on.visible], weights(on, nu, kappa)[0]
    return SpectralLaw(dim, nu, kappa).shares(eigenvalues, multiplicities, log_peak=log_peak, weight=weight)
