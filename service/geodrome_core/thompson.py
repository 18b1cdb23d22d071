"""Thompson sampling: functions drawn from the posterior, by pathwise conditioning.

A draw from the prior, f, becomes one from the posterior when it is corrected by what it misses of the observations:

    f(x) + k(x, X) (K + N)^-1 (y - f(X) - e),    e ~ N(0, N).

The prior's draw comes from features, the correction is exact.

Source:
    Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth 2020, "Efficiently sampling functions from Gaussian process
    posteriors".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features import PriorSample, features_for, prior_sample
from geodrome_core.geometry.space import Space
from geodrome_core.gp.posterior import Posterior
from geodrome_core.kernels.parts import cross
from geodrome_core.search.objective import ByDifferences, Expanded

FEATURES = 1024
"""Of the prior's draw."""


@dataclass(frozen=True)
class SamplePath:
    """Minus a function drawn from the posterior: its maximum is the next point.

    Attributes:
        space: The search space.
        posterior: The posterior.
        prior: The prior's draw, of variance 1.
        correction: (K + N)^-1 times what the draw misses of the observations.
    """

    space: Space
    posterior: Posterior
    prior: PriorSample
    correction: Float[Tensor, " n"]

    @classmethod
    def draw(cls, space: Space, posterior: Posterior, generator: torch.Generator) -> SamplePath:
        """A function; of several ways in which pending points may turn out, given the first.

        Draws of one generator are independent: a batch of points needs no other provision against sameness.
        """
        with torch.no_grad():
            prior = prior_sample(features_for(space, posterior.kernel, count=FEATURES, generator=generator), generator)
            error = torch.randn(len(posterior.X), generator=generator, dtype=torch.float64) * posterior.noise.sqrt()
            drawn = posterior.constant + math.sqrt(posterior.outputscale) * prior(posterior.X) + error
            correction = posterior.root.mT @ (posterior.root @ (posterior.Y[:, 0] - drawn))
        return cls(space, posterior, prior, correction)

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values; differentiable twice."""
        k = self.posterior.outputscale * cross(self.posterior.kernel, x, self.posterior.X)
        return -k @ self.correction + self._drawn(x)

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians."""
        drawn = ByDifferences(self._drawn, self.space.manifold).expand(x)
        k = self.posterior.expand_kernel(x)
        if k is None:
            return ByDifferences(self, self.space.manifold).expand(x)
        weights = -self.posterior.outputscale * self.correction
        slope = (k.slope @ weights.unsqueeze(-1)).squeeze(-1)
        return Expanded(k.value @ weights, slope, k.bend(weights.expand(len(x), -1))) + drawn

    def _drawn(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """The prior's part."""
        return -self.posterior.constant - math.sqrt(self.posterior.outputscale) * self.prior(x)
