"""Priors of the hyperparameters, for standardized costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpytorch.priors import GammaPrior, LogNormalPrior
from gpytorch.priors import Prior as GPyTorchPrior

from geodrome_core.geometry.manifold import Manifold


@dataclass(frozen=True)
class LogNormal:
    """A law whose logarithm is normal.

    Attributes:
        median: Of the law.
        spread: Standard deviation of the logarithm.
    """

    median: float
    spread: float

    def on_log(self, t: float) -> tuple[float, float]:
        """Log density at exp(t), and its derivative in t."""
        z = (t - math.log(self.median)) / self.spread
        return -t - math.log(self.spread * math.sqrt(2 * math.pi)) - 0.5 * z * z, -1 - z / self.spread

    def as_gpytorch(self) -> GPyTorchPrior:
        """The same law for GPyTorch's modules."""
        return LogNormalPrior(math.log(self.median), self.spread)


@dataclass(frozen=True)
class Gamma:
    """The gamma law of a shape and a rate."""

    shape: float
    rate: float

    @property
    def median(self) -> float:
        """To within 2 % for shapes from 1 on (Banneheka and Ekanayake 2009)."""
        return (3 * self.shape - 0.8) / (3 * self.shape + 0.2) * self.shape / self.rate

    def on_log(self, t: float) -> tuple[float, float]:
        """Log density at exp(t), and its derivative in t."""
        x = self.rate * math.exp(t)
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return constant + (self.shape - 1) * t - x, self.shape - 1 - x

    def as_gpytorch(self) -> GPyTorchPrior:
        """The same law for GPyTorch's modules."""
        return GammaPrior(self.shape, self.rate)


Prior = LogNormal | Gamma


@dataclass(frozen=True)
class Priors:
    """One prior for each kind of hyperparameter.

    Attributes:
        lengthscale: Of one factor, in geodesic distance, in a space of so many dimensions; None for none.
        outputscale: Of the prior variance.
        noise: Of the noise variance.
        nu: Of the smoothness, where it is learned.
    """

    lengthscale: Callable[[Manifold, int], Prior | None]
    outputscale: Prior
    noise: Prior
    nu: Prior


def reaching(factor: Manifold, dim: int) -> LogNormal:
    """Half the diameter of the factor, times the root of the dimensions of the space for each of its own.

    Two deviations are a factor 7 to either side. Squared distances over squared lengthscales add up over the factors;
    without the root, no two points of a large product would tell of each other. With it, they are as alike as those of
    one factor, and reals as alike as the vector of them.

    Args:
        factor: The only one, or one of several.
        dim: Of all factors together.

    Source:
        Hvarfner, Hellsten, Nardi 2024, "Vanilla Bayesian optimization performs great in high dimensions".
    """
    return LogNormal(0.5 * factor.diameter * math.sqrt(dim / factor.dim), 1.0)


PRIORS: dict[str, Priors] = {
    "default": Priors(
        lengthscale=reaching,
        outputscale=LogNormal(1.0, 1.0),
        noise=LogNormal(math.exp(-6.0), 2.0),
        # Most costs of robots have kinks somewhere; 0.5 is a deviation and a half away.
        nu=LogNormal(1.5, 0.7),
    ),
    # Gamma laws by shape and rate, as in the experiments of the CoRL 2021 paper.
    "paper": Priors(
        lengthscale=lambda *_: None, outputscale=Gamma(2.0, 0.15), noise=Gamma(1.1, 0.05), nu=Gamma(2.0, 0.1)
    ),
}
