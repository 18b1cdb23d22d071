"""Waves of tori: plane waves of whole frequencies."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.flat import PlaneWaves
from geodrome_core.features.waves import WaveLaw, normal, quantiles

LOG_GRID = torch.arange(-345.0, 14.5, 1 / 64, dtype=torch.float64)
"""Logarithms of heat times, in which quantiles are right to 1e-5."""

FINE = 0.01
"""Below this time whole frequencies lie so close that a rounded normal number stands for them, to 1e-5."""

HIGHEST = 64
"""Frequency that times from ``FINE`` on reach: exp(-0.01 64^2) is 1e-18."""

LAST_TIME = 40.0
"""From here on every frequency but zero has vanished."""


class LatticeLaw(WaveLaw):
    """Frequencies n of probability Phi(|n|^2), by a heat time u and n of probability exp(-u |n|^2) for that time.

    Args:
        dim: m, of the torus.
        nu: Smoothness.
        kappa: (1,) lengthscale of the torus, or (m,) those of circles that have kernels and heat times of their own.
    """

    def __init__(self, dim: int, *, nu: float, kappa: Float[Tensor, " l"]) -> None:
        self._dim, self._nu, self._kappa = dim, nu, kappa
        self.coordinates = len(kappa) + dim

    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> PlaneWaves:
        """The times, then the frequencies."""
        del generator
        count = len(self._kappa)
        times = [self._times(points[:, i], kappa) for i, kappa in enumerate(self._kappa.tolist())]
        u = torch.stack(times, -1).expand(-1, self._dim)
        t = points[:, count:]
        whole = torch.where(u < FINE, _rounded(t, u.clamp_max(FINE)), _counted(t, u.clamp_min(FINE)))
        return PlaneWaves(whole, _angles)

    def _times(self, t: Float[Tensor, " k"], kappa: float) -> Float[Tensor, " k"]:
        """Of density u^(nu + m/2 - 1) exp(-b u) p_u(0), p_u(0) the sum of exp(-u |n|^2) over the lattice."""
        if math.isinf(self._nu):
            return torch.full_like(t, kappa**2 / 2)
        dim = self._dim / len(self._kappa)
        rise = (self._nu + dim / 2) * LOG_GRID - 2 * self._nu / kappa**2 * torch.exp(LOG_GRID)
        return torch.exp(quantiles(t, LOG_GRID, rise + dim * _log_peak()))


@lru_cache
def _log_peak() -> Float[Tensor, " g"]:
    """Log of the sum of exp(-u n^2) over all whole numbers, on the grid."""
    u = torch.exp(LOG_GRID)
    squares = torch.arange(1, HIGHEST + 1, dtype=torch.float64) ** 2
    late = torch.log1p(2 * torch.exp(-u.clamp(FINE, LAST_TIME)[:, None] * squares).sum(-1))
    return torch.where(u < FINE, 0.5 * (math.log(math.pi) - LOG_GRID), late)


def _rounded(t: Float[Tensor, "k m"], u: Float[Tensor, "k m"]) -> Float[Tensor, "k m"]:
    """Whole numbers of variance 1 / 2u, of which rounding makes 1 / 12."""
    return torch.round(normal(t) * torch.sqrt(0.5 / u - 1 / 12))


def _counted(t: Float[Tensor, "k m"], u: Float[Tensor, "k m"]) -> Float[Tensor, "k m"]:
    """Whole numbers n of probability exp(-u n^2)."""
    whole = torch.arange(-HIGHEST, HIGHEST + 1, dtype=torch.float64)
    cumulative = torch.cumsum(torch.exp(-u.unsqueeze(-1) * whole**2), -1)
    reached = torch.searchsorted(cumulative, (t * cumulative[..., -1]).unsqueeze(-1)).squeeze(-1)
    return reached.double() - HIGHEST


def _angles(x: Tensor) -> Tensor:
    return x
