"""What a search for the next point maximizes: an acquisition function of a posterior, as a function of points."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.acquisition import Acquisition, Score
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.gp.posterior import Moments, Posterior
from geodrome_core.search.objective import ByAutograd, Expanded


@dataclass(frozen=True)
class Promise:
    """An acquisition function of a model's mean and standard deviation.

    Attributes:
        posterior: The model; with pending points, one with several means.
        acquisition: Entry of ``ACQUISITIONS``.
        manifold: Where points live.
    """

    posterior: Posterior
    acquisition: Acquisition
    manifold: Manifold

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values; differentiable twice."""
        means, std = self.posterior.means_std(x)
        return self.acquisition(means, std, self.posterior.best).value

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians, by the chain rule."""
        moments = self.posterior.expand(x)
        if moments is None:
            return ByAutograd(self, self.manifold).expand(x)
        return chained(self.acquisition(moments.mean, moments.std, self.posterior.best), moments)


@dataclass(frozen=True)
class LowMean:
    """Minus the posterior mean: its maximum is the point to recommend."""

    posterior: Posterior
    manifold: Manifold

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values; differentiable twice."""
        return -self.posterior.mean_std(x)[0]

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians."""
        moments = self.posterior.expand(x)
        if moments is None:
            return ByAutograd(self, self.manifold).expand(x)
        count = moments.mean.shape[-1]
        share = torch.full_like(moments.mean, -1 / count)
        hessian = moments.bend(share, torch.zeros_like(moments.std))
        return Expanded(-moments.mean.mean(-1), -moments.mean_slope.mean(-2), hessian)


def chained(score: Score, at: Moments) -> Expanded:
    """A function of means and deviation as a function of the point."""
    gradient = (score.by_mean.unsqueeze(-2) @ at.mean_slope).squeeze(-2) + score.by_std.unsqueeze(-1) * at.std_slope
    # Second derivatives between means, and between means and deviation; then what the moments' own Hessians give.
    mixed = (score.by_mean_std.unsqueeze(-2) @ at.mean_slope).squeeze(-2)
    cross = mixed.unsqueeze(-1) * at.std_slope.unsqueeze(-2)
    outer = at.mean_slope.mT @ score.by_means @ at.mean_slope
    outer = outer + score.by_stds[:, None, None] * at.std_slope.unsqueeze(-1) * at.std_slope.unsqueeze(-2)
    return Expanded(score.value, gradient, at.bend(score.by_mean, score.by_std) + outer + cross + cross.mT)
