"""Random waves: complex functions psi with mean of psi(x) conj(psi(y)) = k(x, y), and how they are drawn.

A law draws any number of waves at once from points spread evenly over a unit cube, one coordinate for each choice that
it makes: a few thousand waves then cover frequencies and directions more evenly than independent ones would.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from scipy.special import gammaincinv
from torch import Tensor
from torch.quasirandom import SobolEngine

FIRST_TIME = 1e-150
"""Heat times are not shorter: frequencies stay finite when squared."""

HALF_STEP = 2.0**-31
"""Sobol points are multiples of 2^-30, but for the first one, which torch rounds to float32."""


class Waves(ABC):
    """A number of random functions psi = amplitude exp(i phase)."""

    @abstractmethod
    def evaluate(self, x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"] | None]:
        """Amplitudes and phases; no phases if the functions are real."""


class WaveLaw(ABC):
    """The law of the waves of one kernel.

    Attributes:
        coordinates: Of the unit cube that a wave takes.
    """

    coordinates: int

    @abstractmethod
    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> Waves:
        """One wave for each point of the open unit cube; ``generator`` for what cannot be drawn from points."""


def even_points(count: int, coordinates: int, generator: torch.Generator) -> Float[Tensor, "k c"]:
    """Scrambled Sobol points of the open unit cube: each of them is uniform."""
    seed = int(torch.randint(2**31 - 1, (), generator=generator))
    engine = SobolEngine(coordinates, scramble=True, seed=seed)
    return (engine.draw(count, dtype=torch.float64) + HALF_STEP).clamp(max=1 - HALF_STEP)


def normal(t: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Standard normal numbers from uniform ones."""
    return torch.special.ndtri(t)


def heat_times(t: Float[Tensor, " k"], nu: float, kappa: float, *, shift: float = 0.0) -> Float[Tensor, " k"]:
    """Heat times u of density u^(nu - 1) exp(-(2 nu / kappa^2 + shift) u); for SE all are kappa^2 / 2."""
    if math.isinf(nu):
        return torch.full_like(t, kappa**2 / 2)
    quantile = torch.from_numpy(gammaincinv(nu, t.numpy()))
    return (quantile / (2 * nu / kappa**2 + shift)).clamp_min(FIRST_TIME)


def quantiles(
    t: Float[Tensor, "*#b k"], at: Float[Tensor, " g"], log_density: Float[Tensor, "*#b g"]
) -> Float[Tensor, "*#b k"]:
    """Where distributions on a grid reach ``t``; between neighbours the density is taken as constant."""
    density = torch.exp(log_density - log_density.amax(-1, keepdim=True))
    cells = 0.5 * (density[..., 1:] + density[..., :-1]) * torch.diff(at)
    cumulative = torch.nn.functional.pad(torch.cumsum(cells, -1), (1, 0))
    cumulative = cumulative / cumulative[..., -1:]
    upper = torch.searchsorted(cumulative, t.contiguous()).clamp(1, len(at) - 1)
    low, high = (torch.take_along_dim(cumulative, index, -1) for index in (upper - 1, upper))
    share = ((t - low) / (high - low).clamp_min(1e-300)).clamp(0, 1)
    return at[upper - 1] + share * (at[upper] - at[upper - 1])
