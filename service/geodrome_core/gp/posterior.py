"""What a fitted model says about new points: mean, standard deviation, and both to second order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.gp.evidence import cholesky, covariance
from geodrome_core.gp.observations import Observations
from geodrome_core.kernels.expansion import Around, Expansion
from geodrome_core.kernels.of_scales import OfScales
from geodrome_core.kernels.parts import around, cross, parts_of

SMALLEST_VARIANCE = 1e-12
"""Relative to the prior variance: one of rounding size means "known", and its root stays differentiable."""


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of the noise-free function to second order in tangent coordinates.

    There are ``f`` means, one for each way in which pending points may turn out; they share one deviation.

    Attributes:
        mean, std: At each point.
        mean_slope, std_slope: Their gradients.
        bend: From coefficients (b, f) and (b,), the Hessians (b, m, m) of the sum of means and deviation.
    """

    mean: Float[Tensor, "b f"]
    std: Float[Tensor, " b"]
    mean_slope: Float[Tensor, "b f m"]
    std_slope: Float[Tensor, "b m"]
    bend: Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Posterior:
    """A Gaussian process given observations; all that does not change during a search is computed once.

    Attributes:
        kernel: Normalized kernel, its hyperparameters frozen.
        X: Points.
        Y: Standardized costs; of points that are pending, one for each way they may turn out.
        noise: Noise variances.
        outputscale, constant: Prior variance and prior mean.
        root: Inverse of the Cholesky factor of the noisy covariance.
        weights: covariance^-1 (Y - constant).
    """

    kernel: Kernel
    X: Float[Tensor, "n d"]
    Y: Float[Tensor, "n f"]
    noise: Float[Tensor, " n"]
    outputscale: float
    constant: float
    root: Float[Tensor, "n n"] = field(repr=False)
    weights: Float[Tensor, "n f"] = field(repr=False)

    @property
    def at_observed(self) -> Float[Tensor, "n f"]:
        """Means at the observed points."""
        # covariance @ weights = (noise-free covariance + noise) @ weights
        return self.Y - self.noise.unsqueeze(-1) * self.weights

    @property
    def best(self) -> Float[Tensor, " f"]:
        """Least mean at an observed point: the noise-free cost to improve on."""
        return self.at_observed.amin(0)

    def means_std(self, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b f"], Float[Tensor, " b"]]:
        """All means and the standard deviation of the noise-free function; differentiable twice in ``x``."""
        k = self.outputscale * cross(self.kernel, x, self.X)  # (b, n)
        variance = self.outputscale - ((k @ self.root.mT) ** 2).sum(-1)
        return self.constant + k @ self.weights, torch.sqrt(variance.clamp_min(self._smallest))

    def mean_std(self, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"]]:
        """Mean and standard deviation of the noise-free function; differentiable twice in ``x``."""
        means, std = self.means_std(x)
        return means.mean(-1), std

    def expand(self, x: Float[Tensor, "b d"]) -> Moments | None:
        """Mean and deviation to second order; None where the kernel is known to autograd only."""
        k = self.expand_kernel(x)
        if k is None:
            return None
        s = self.outputscale
        white = s * k.value @ self.root.mT  # (b, n)
        white_slope = s * k.slope @ self.root.mT  # (b, m, n)
        variance = s - (white**2).sum(-1)
        is_known = variance < self._smallest
        std = torch.sqrt(variance.clamp_min(self._smallest))
        std_slope = -(white_slope @ white.unsqueeze(-1)).squeeze(-1) / std.unsqueeze(-1)
        std_slope = torch.where(is_known.unsqueeze(-1), 0.0, std_slope)

        def bend(of_means: Tensor, of_std: Tensor) -> Tensor:
            share = torch.where(is_known, 0.0, of_std / std).unsqueeze(-1)
            pull = s * (of_means @ self.weights.mT - share * (white @ self.root))
            outer = white_slope @ white_slope.mT + std_slope.unsqueeze(-1) * std_slope.unsqueeze(-2)
            return k.bend(pull) - share.unsqueeze(-1) * outer

        mean_slope = (s * k.slope @ self.weights).mT
        return Moments(self.constant + s * k.value @ self.weights, std, mean_slope, std_slope, bend)

    def expand_kernel(self, x: Float[Tensor, "b d"]) -> Expansion | None:
        """Normalized covariances with the observed points to second order; None where only autograd knows them."""
        return None if self._around is None else self._around(x)

    def joint(self, x: Float[Tensor, "p d"]) -> tuple[Float[Tensor, " p"], Float[Tensor, "p p"]]:
        """Mean and covariance of the noise-free function at several points together."""
        with torch.no_grad():
            k = self.outputscale * cross(self.kernel, x, self.X)
            white = k @ self.root.mT
            prior = self.outputscale * cross(self.kernel, x, x)
            return self.constant + (k @ self.weights).mean(-1), prior - white @ white.mT

    def given(self, x: Float[Tensor, "p d"], y: Float[Tensor, "p f"], noise: float) -> Posterior | None:
        """The posterior after the points ``x`` have been told ``y``, in each of some ways.

        The Cholesky factor is extended, not computed anew. None if that fails: the points are known.
        """
        if len(x) == 0:
            return self
        with torch.no_grad():
            white = self.outputscale * cross(self.kernel, x, self.X) @ self.root.mT  # (p, n)
            own = self.outputscale * cross(self.kernel, x, x) - white @ white.mT
            own.diagonal().add_(noise)
            factor = cholesky(own)
            if factor is None:
                return None
            corner = torch.linalg.solve_triangular(factor, torch.eye(len(x), dtype=x.dtype), upper=False)
            top = torch.cat([self.root, self.root.new_zeros(len(self.root), len(x))], -1)
            root = torch.cat([top, torch.cat([-corner @ white @ self.root, corner], -1)])
            costs = torch.cat([self.Y.expand(-1, y.shape[-1]), y])
            weights = root.mT @ (root @ (costs - self.constant))
            noises = torch.cat([self.noise, torch.full((len(x),), noise, dtype=x.dtype)])
        X = torch.cat([self.X, x])
        return Posterior(self.kernel, X, costs, noises, self.outputscale, self.constant, root, weights)

    @cached_property
    def _around(self) -> Around | None:
        return around(self.kernel, self.X)

    @property
    def _smallest(self) -> float:
        return SMALLEST_VARIANCE * self.outputscale


def posterior(
    kernel: Kernel, data: Observations, of_scales: OfScales, *, outputscale: float, noise: float
) -> Posterior | None:
    """The posterior with the likeliest constant mean; None where the covariance has no Cholesky factor.

    Args:
        kernel: Normalized kernel with its hyperparameters.
        data: What was observed.
        of_scales: Covariances of all pairs of rows, see ``kernels.parts.scaling``.
        outputscale: Prior variance.
        noise: Noise variance of one observation, where it is inferred.
    """
    with torch.no_grad():
        parts = parts_of(kernel)
        scales = torch.cat([part.lengthscale.flatten() for part in parts])
        noises = data.noise(noise)
        factor = cholesky(covariance(of_scales(parts[0].nu.item(), scales), outputscale, noises))
        if factor is None:
            return None
        root = torch.linalg.solve_triangular(factor, torch.eye(len(factor), dtype=factor.dtype), upper=False)
        ones = root.sum(-1)
        constant = float((root @ data.Y) @ ones / (ones @ ones))
        weights = root.mT @ (root @ (data.Y - constant))
    return Posterior(kernel, data.X, data.Y.unsqueeze(-1), noises, outputscale, constant, root, weights.unsqueeze(-1))
