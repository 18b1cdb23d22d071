"""Waves of flat spaces: plane waves exp(i <omega, x>)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.waves import WaveLaw, Waves, heat_times, normal


class PlaneWaves(Waves):
    """Plane waves in coordinates.

    Args:
        frequencies: (k, m) omega.
        coordinates: From rows to the coordinates that make the metric Euclidean.
    """

    def __init__(self, frequencies: Float[Tensor, "k m"], coordinates: Callable[[Tensor], Tensor]) -> None:
        self._frequencies, self._coordinates = frequencies, coordinates

    def evaluate(self, x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"] | None]:
        """Amplitude 1."""
        phase = self._coordinates(x) @ self._frequencies.mT
        return torch.ones_like(phase), phase


class PlaneLaw(WaveLaw):
    """Gaussian frequencies of variance 1 / 2u, u from the kernel's heat times: Student's t of 2 nu degrees of freedom.

    Args:
        dim: m, of the flat space.
        nu: Smoothness.
        kappa: (m,) or (1,) lengthscales.
        coordinates: From rows to the coordinates that make the metric Euclidean.

    Source:
        Rahimi and Recht 2007, "Random features for large-scale kernel machines".
    """

    def __init__(
        self, dim: int, *, nu: float, kappa: Float[Tensor, " l"], coordinates: Callable[[Tensor], Tensor]
    ) -> None:
        self.coordinates = 1 + dim
        self._nu, self._kappa, self._to_flat = nu, kappa, coordinates

    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> PlaneWaves:
        """The time, then the frequency."""
        del generator
        u = heat_times(points[:, 0], self._nu, 1.0)
        return PlaneWaves(normal(points[:, 1:]) / torch.sqrt(2 * u)[:, None] / self._kappa, self._to_flat)
