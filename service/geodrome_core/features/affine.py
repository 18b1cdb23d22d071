"""Waves of SPD(n) with the affine-invariant metric, n = 2 or 3: powers of leading minors.

For K in O(n) let m_j be the j-th leading minor of K^T X K, and a_j = log(m_j / m_(j-1)), the logarithms of the squared
diagonal of its Cholesky factor. The waves are exp(sum over j of (i lambda_j + rho_j) a_j), rho_j = (2 j - n - 1) / 4,
with K uniform, and lambda from the spectrum times

    |c(lambda)|^-2 = product over i < j of |lambda_i - lambda_j| tanh(pi |lambda_i - lambda_j|),

lambda being conjugate to logarithms of eigenvalues. (To their halves it is tanh(pi |lambda_i - lambda_j| / 2).)

Source:
    Helgason 1984, "Groups and geometric analysis", chapter IV; Terras 1988, "Harmonic analysis on symmetric spaces II".
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.waves import WaveLaw, Waves, heat_times, normal
from geodrome_core.kernels.matern import Definition

LONG_TIME = 10.0
"""From here on frequencies are low, tanh is nearly linear, and proposals with |difference|^2 pass more often."""


class MinorWaves(Waves):
    """Waves of SPD(n).

    Args:
        turns: (k, n, n) orthogonal matrices.
        frequencies: (k, n) lambda.
    """

    def __init__(self, turns: Float[Tensor, "k n n"], frequencies: Float[Tensor, "k n"]) -> None:
        self._size = turns.shape[-1]
        first, last = turns[..., 0], turns[..., -1]
        self._first = (first.unsqueeze(-1) * first.unsqueeze(-2)).flatten(-2)
        self._last = (last.unsqueeze(-1) * last.unsqueeze(-2)).flatten(-2)
        self._frequencies = frequencies

    def evaluate(self, x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"] | None]:
        """The first minor is linear in X; the last but one is that of X^-1 times the determinant."""
        n = self._size
        m = x.unflatten(-1, (n, n))
        m = 0.5 * (m + m.mT)
        factor = torch.linalg.cholesky(m)
        log_det = 2 * torch.diagonal(factor, dim1=-2, dim2=-1).log().sum(-1)
        log_det = log_det.unsqueeze(-1)
        inner = [torch.log(m.flatten(-2) @ self._first.mT)]
        if n > 2:
            inner.append(log_det + torch.log(torch.linalg.inv(m).flatten(-2) @ self._last.mT))
        # sum of c_j a_j = sum of (c_j - c_(j+1)) log m_j with c_(n+1) = 0, and rho rises by 1/2 at each step.
        amplitude, phase = (n - 1) / 4 * log_det, self._frequencies[:, -1] * log_det
        for j, log_minor in enumerate(inner):
            amplitude = amplitude - 0.5 * log_minor
            phase = phase + (self._frequencies[:, j] - self._frequencies[:, j + 1]) * log_minor
        return torch.exp(amplitude), phase


class MinorLaw(WaveLaw):
    """Frequencies are eigenvalues of random matrices, accepted with the probability that |c|^-2 asks for.

    Args:
        size: n, 2 or 3.
        nu: Smoothness.
        kappa: Lengthscale.
        definition: Which Matérn kernel is meant.
    """

    def __init__(self, size: int, *, nu: float, kappa: float, definition: Definition) -> None:
        self.coordinates = 1 + size**2
        self._size, self._nu, self._kappa, self._definition = size, nu, kappa, definition

    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> MinorWaves:
        """The time and the turn from the points, the frequencies by rejection."""
        turns = torch.linalg.qr(normal(points[:, 1:]).unflatten(-1, (self._size, self._size))).Q
        if self._definition == "paper" or math.isinf(self._nu):
            u = heat_times(points[:, 0], self._nu, self._kappa)
            return MinorWaves(turns, self._of_normalized_heat(u, generator))
        return MinorWaves(turns, self._of_spectrum(len(points), generator))

    def _of_normalized_heat(self, u: Float[Tensor, " k"], generator: torch.Generator) -> Float[Tensor, "k n"]:
        """Lambda of density exp(-u |lambda|^2) |c|^-2, for each time."""
        out = torch.zeros(len(u), self._size, dtype=torch.float64)
        missing = torch.arange(len(u))
        while len(missing):
            is_long = u[missing] > LONG_TIME
            proposed = (
                torch.where(
                    is_long[:, None],
                    self._eigenvalues(len(missing), generator, hermitian=True),
                    self._eigenvalues(len(missing), generator, hermitian=False),
                )
                / torch.sqrt(2 * u[missing])[:, None]
            )
            gaps = math.pi * _gaps(proposed)
            ratios = torch.where(is_long[:, None], torch.tanh(gaps) / gaps, torch.tanh(gaps))
            accepted = torch.rand(len(missing), generator=generator, dtype=torch.float64) < ratios.prod(-1)
            out[missing[accepted]] = proposed[accepted]
            missing = missing[~accepted]
        return out

    def _of_spectrum(self, count: int, generator: torch.Generator) -> Float[Tensor, "k n"]:
        """Lambda of density (b + |lambda|^2)^(-nu - m/2) |c|^-2.

        The power is the integral of u^(nu + m/2 - 1) exp(-(b + |lambda|^2) u), and m is the dimension of the symmetric
        matrices: time and eigenvalues are proposed together, and both are drawn again where they are rejected.
        """
        shift = self._size * (self._size**2 - 1) / 48 if self._definition == "spde" else 0.0
        found = torch.zeros(0, self._size, dtype=torch.float64)
        while len(found) < count:
            t = torch.rand(count, generator=generator, dtype=torch.float64)
            u = heat_times(t, self._nu, self._kappa, shift=shift)
            proposed = self._eigenvalues(count, generator, hermitian=False) / torch.sqrt(2 * u)[:, None]
            ratio = torch.tanh(math.pi * _gaps(proposed)).prod(-1)
            accepted = torch.rand(count, generator=generator, dtype=torch.float64) < ratio
            found = torch.cat([found, proposed[accepted]])
        return found[:count]

    def _eigenvalues(self, count: int, generator: torch.Generator, *, hermitian: bool) -> Float[Tensor, "k n"]:
        """Of density exp(-|lambda|^2 / 2) times the product of the |differences|, squared if Hermitian."""
        dtype = torch.complex128 if hermitian else torch.float64
        g = torch.randn(count, self._size, self._size, generator=generator, dtype=dtype)
        # The parts of a complex normal number have variance 1/2 each.
        scale = math.sqrt(2) if hermitian else 1.0
        return torch.linalg.eigvalsh(0.5 * scale * (g + g.mH))


def _gaps(frequencies: Float[Tensor, "k n"]) -> Float[Tensor, "k p"]:
    """|lambda_i - lambda_j| for i < j."""
    i, j = torch.triu_indices(frequencies.shape[-1], frequencies.shape[-1], offset=1)
    return (frequencies[:, i] - frequencies[:, j]).abs()
