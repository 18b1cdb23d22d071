"""Waves of hyperbolic spaces: horocyclic waves exp((i lambda + rho) A(x, b)).

A(x, b) is the signed distance of the horocycle through x about the boundary point b from the origin, rho = (m - 1) / 2.
With b uniform on the boundary sphere and lambda from the density |c(lambda)|^-2 times the kernel's spectrum,

    mean of exp((i lambda + rho) A(x, b)) exp((-i lambda + rho) A(y, b)) = k(x, y),

for the mean over b alone is the spherical function of lambda.

Source:
    Helgason 1984, "Groups and geometric analysis", introduction and chapter IV; |c|^-2 for H^m is the product of
    (lambda^2 + j^2) over 0 <= j < rho, whole numbers for odd m, half ones and lambda tanh(pi lambda) for even m.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.waves import WaveLaw, Waves, heat_times, normal, quantiles
from geodrome_core.kernels.matern import Definition
from geodrome_core.kernels.pairs import squared_distance

NODES = 1024
"""Of the grids on which the radial distributions are known: quantiles are right to 1e-5 of their width."""

LOG_GRID = 1 / 128
"""Step of the grid in log lambda."""

LOG_SMALLEST, LOG_LARGEST = -12.0, 150.0
"""Ends of the grid in log lambda: for kappa up to 100 and nu from 0.1, less than 1e-8 lies beyond them."""


class HorocyclicWaves(Waves):
    """Waves of H^m.

    Args:
        directions: (k, m) unit vectors, the boundary points b.
        frequencies: (k,) lambda.
    """

    def __init__(self, directions: Float[Tensor, "k m"], frequencies: Float[Tensor, " k"]) -> None:
        self._directions, self._frequencies = directions, frequencies
        self._rho = (directions.shape[-1] - 1) / 2

    def evaluate(self, x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"] | None]:
        """A = log((1 - |p|^2) / |p - b|^2) with the point p of Poincaré's ball: positive digits only, far out too."""
        spatial = x[..., 1:]
        scale = 1 + torch.sqrt(1 + (spatial * spatial).sum(-1, keepdim=True))
        gap = squared_distance((spatial / scale).unsqueeze(-2), self._directions.unsqueeze(-3))
        height = torch.log(2 / scale) - torch.log(gap)
        return torch.exp(self._rho * height), self._frequencies * height


class HorocyclicLaw(WaveLaw):
    """Boundary points uniform, frequencies by the numerically inverted distribution function.

    Args:
        dim: m.
        nu: Smoothness.
        kappa: Lengthscale.
        definition: Which Matérn kernel is meant.
    """

    def __init__(self, dim: int, *, nu: float, kappa: float, definition: Definition) -> None:
        self.coordinates = 2 + dim
        self._dim, self._nu, self._kappa, self._definition = dim, nu, kappa, definition

    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> HorocyclicWaves:
        """The time, the frequency, the boundary point."""
        del generator
        direction = normal(points[:, 2:])
        direction = direction / torch.linalg.vector_norm(direction, dim=-1, keepdim=True)
        if self._definition == "paper" or math.isinf(self._nu):
            return HorocyclicWaves(direction, self._of_normalized_heat(points[:, 0], points[:, 1]))
        return HorocyclicWaves(direction, self._of_spectrum(points[:, 1]))

    def _of_normalized_heat(self, t: Float[Tensor, " k"], s: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
        """Lambda of density exp(-u lambda^2) |c|^-2, u from the kernel's times."""
        root = torch.sqrt(heat_times(t, self._nu, self._kappa))[:, None]
        at = torch.linspace(0, 6 + math.sqrt(self._dim / 2), NODES + 1, dtype=torch.float64)
        log_density = -(at**2) + log_plancherel(at / root, self._dim)
        return (quantiles(s[:, None], at, log_density) / root).squeeze(-1)

    def _of_spectrum(self, s: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
        """Lambda of density (b + lambda^2)^(-nu - m/2) |c|^-2, b shifted by |rho|^2 for the unshifted Laplacian."""
        shift = (self._dim - 1) ** 2 / 4 if self._definition == "spde" else 0.0
        rate = 2 * self._nu / self._kappa**2 + shift
        log_at = torch.arange(LOG_SMALLEST, LOG_LARGEST, LOG_GRID, dtype=torch.float64)
        at = torch.exp(log_at)
        spectrum = -(self._nu + self._dim / 2) * torch.log(rate + at**2)
        return torch.exp(quantiles(s, log_at, spectrum + log_plancherel(at, self._dim) + log_at))


def log_plancherel(frequency: Float[Tensor, "*b"], dim: int) -> Float[Tensor, "*b"]:
    """Log of |c(lambda)|^-2 on H^dim, up to a constant."""
    square = frequency**2
    if dim % 2:
        return sum((torch.log(square + j * j) for j in range(dim // 2)), torch.zeros_like(square))
    out = torch.log(frequency * torch.tanh(math.pi * frequency))
    for j in range(1, dim // 2):
        out = out + torch.log(square + (j - 0.5) ** 2)
    return out
