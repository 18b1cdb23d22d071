"""The log posterior density of the hyperparameters and its gradient, in closed form.

With K = s R + N, its inverse, and a = K^-1 (y - c) at the likeliest constant mean c, every parameter t has

    d/dt (minus log likelihood) = 1/2 tr((K^-1 - a a^T) dK/dt);

c needs no derivative, since the likelihood is stationary in it.

Source:
    Rasmussen and Williams 2006, "Gaussian processes for machine learning", 5.9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.gp.observations import Observations
from geodrome_core.gp.priors import Prior
from geodrome_core.kernels.of_scales import OfScales, Scaled

JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)
"""Added to the diagonal, relative to it, in turn until Cholesky succeeds."""


@dataclass(frozen=True)
class Parameters:
    """Hyperparameters in natural units.

    Attributes:
        lengthscales: Of all factors, one behind the other, in geodesic distance.
        outputscale: Prior variance.
        noise: Noise variance of one observation, where it is inferred.
        nu: Smoothness.
    """

    lengthscales: tuple[float, ...]
    outputscale: float
    noise: float
    nu: float


@dataclass(frozen=True)
class Evidence:
    """Minus the log posterior density per observation, as a function of the logarithms of the hyperparameters.

    The free parameters stand in the order lengthscales, outputscale, noise, nu; those that are given stay as they are.

    Attributes:
        of_scales: Covariances of all pairs of rows.
        data: What was observed.
        priors: One for each parameter, None for none; a prior of a parameter that is given does not count.
        given_noise, given_nu: Their values, where they are no parameters.
        longest: The longest of each lengthscale that the kernel can take; none where it takes all.
    """

    of_scales: OfScales
    data: Observations
    priors: Sequence[Prior | None]
    given_noise: float | None
    given_nu: float | None
    longest: Sequence[float] = ()

    def parameters(self, t: Float[np.ndarray, " k"]) -> Parameters:
        """From logarithms to natural units."""
        values = np.exp(t).tolist()
        nu = values.pop() if self.given_nu is None else self.given_nu
        noise = values.pop() if self.given_noise is None else self.given_noise
        return Parameters(tuple(values[:-1]), values[-1], noise, nu)

    def logarithms(self, parameters: Parameters) -> Float[np.ndarray, " k"]:
        """The way back."""
        values = [*parameters.lengthscales, parameters.outputscale]
        values += [parameters.noise] if self.given_noise is None else []
        values += [parameters.nu] if self.given_nu is None else []
        return np.log(np.array(values))

    def __call__(self, t: Float[np.ndarray, " k"]) -> tuple[float, Float[np.ndarray, " k"]]:
        """Value and gradient; infinite where the covariance has no Cholesky factor."""
        at = self.parameters(t)
        scaled = self.of_scales(at.nu, torch.tensor(at.lengthscales, dtype=torch.float64))
        noise = self.data.noise(at.noise)
        factor = cholesky(covariance(scaled, at.outputscale, noise))
        if factor is None:
            return math.inf, np.zeros_like(t)
        inverse = torch.cholesky_inverse(factor)
        count = len(noise)
        sums = inverse.sum(0)
        residual = self.data.Y - (sums @ self.data.Y) / sums.sum()
        weights = inverse @ residual
        value = 0.5 * float(residual @ weights) + float(torch.log(factor.diagonal()).sum())
        value += 0.5 * count * math.log(2 * math.pi) - self.data.constant

        inner = inverse - torch.outer(weights, weights)
        diagonal = inner.diagonal()
        upper = _upper(inner)
        gradient = [
            at.outputscale * float(upper @ by) * kappa
            for by, kappa in zip(scaled.by_kappa, at.lengthscales, strict=True)
        ]
        gradient.append(at.outputscale * (float(upper @ scaled.value) + 0.5 * float(diagonal.sum())))
        if self.given_noise is None:
            value += 0.5 * (self.data.spare * math.log(at.noise) + self.data.scatter / at.noise)
            slope = 0.5 * at.noise * float(diagonal @ self.data.share)
            slope += 0.5 * (self.data.spare - self.data.scatter / at.noise)
            gradient.append(slope)
        if self.given_nu is None:
            gradient.append(at.outputscale * float(upper @ scaled.by_nu) * at.nu)
        for index, prior in enumerate(self.priors):
            if prior is not None:
                density, slope = prior.on_log(float(t[index]))
                value -= density
                gradient[index] -= slope
        return value / count, np.array(gradient) / count


def covariance(scaled: Scaled, outputscale: float, noise: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """The noisy covariance of all rows: only the lower triangle is filled."""
    out = noise.new_zeros(len(noise), len(noise))
    i, j = _pairs(len(noise))
    out[j, i] = outputscale * scaled.value
    out.diagonal().copy_(outputscale + noise)
    return out


def cholesky(matrix: Float[Tensor, "n n"]) -> Float[Tensor, "n n"] | None:
    """Cholesky factor from the lower triangle, with as much jitter as it takes; None where the largest is too small."""
    scale = float(matrix.diagonal().mean())
    for jitter in JITTERS:
        if jitter:
            matrix = matrix.clone()
            matrix.diagonal().add_(jitter * scale)
        factor, fails = torch.linalg.cholesky_ex(matrix)
        if not int(fails) and math.isfinite(float(factor.diagonal().sum())):
            return factor
    return None


def _upper(matrix: Float[Tensor, "n n"]) -> Float[Tensor, " p"]:
    """Entries i < j, row by row."""
    return matrix[_pairs(len(matrix))]


def _pairs(size: int) -> tuple[Tensor, Tensor]:
    i, j = torch.triu_indices(size, size, offset=1)
    return i, j
