"""What failures teach: a Gaussian process for classification on the same space, by Laplace's approximation.

A latent function z with a Matérn prior is positive where runs go well: P(feasible) = Phi(z). Its posterior is
approximated by a Gaussian about its mode. The lengthscale that explains best which runs failed is chosen from a grid.

Source:
    Rasmussen and Williams 2006, "Gaussian processes for machine learning", 3.4, algorithms 3.1 and 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.acquisition import Acquisition, Score
from geodrome_core.geometry.space import Space
from geodrome_core.gp.posterior import Posterior
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.of_scales import matrix
from geodrome_core.kernels.parts import parts_of, scaling

OUTPUTSCALE = 9.0
"""Prior variance of z: what failed once is believed to fail again, nine times out of ten."""

NU = 1.5

REACHES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Lengthscales that are compared, relative to each factor's diameter."""

LARGEST = 600
"""Runs that are looked at: the latest."""

NEWTON_STEPS = 30


def feasibility(space: Space, good: Float[Tensor, "n d"], failed: Float[Tensor, "f d"]) -> Posterior:
    """The posterior of z.

    Args:
        space: The search space.
        good: Points that ran well.
        failed: Points that failed, one at least.
    """
    # The latest failures, and as many of the latest others as there is room for.
    failed = failed[-LARGEST // 2 :]
    good = good[-(LARGEST - len(failed)) :]
    X = torch.cat([good, failed])
    labels = torch.cat([torch.ones(len(good)), -torch.ones(len(failed))]).to(X.dtype)
    # Where nothing is known, the share of good runs (by Laplace's rule of succession) is expected.
    share = (len(good) + 1) / (len(X) + 2)
    constant = math.sqrt(1 + OUTPUTSCALE) * float(torch.special.ndtri(torch.tensor(share, dtype=X.dtype)))
    kernel = for_space(space, nu=NU).requires_grad_(requires_grad=False)
    parts = parts_of(kernel)
    factors = zip(parts, space.factors.values(), strict=True)
    diameters = [factor.diameter for part, factor in factors for _ in range(part.lengthscale.numel())]
    of_scales = scaling(kernel, X)
    best: tuple[float, float, Tensor, Tensor] | None = None
    for reach in REACHES:
        scales = reach * torch.tensor(diameters, dtype=X.dtype)
        covariance = matrix(OUTPUTSCALE * of_scales(NU, scales).value, len(X), diagonal=OUTPUTSCALE)
        evidence, weights, root = _laplace(covariance, labels, constant)
        if best is None or evidence > best[0]:
            best = evidence, reach, weights, root
    assert best is not None, "there are lengthscales to compare"
    _, reach, weights, root = best
    for part, factor in zip(parts, space.factors.values(), strict=True):
        part.lengthscale = reach * factor.diameter
    return Posterior(
        kernel, X, labels.unsqueeze(-1), torch.zeros_like(labels), OUTPUTSCALE, constant, root, weights.unsqueeze(-1)
    )


def log_feasible(mean: Float[Tensor, "b f"], std: Float[Tensor, " b"], best: Float[Tensor, " f"]) -> Score:
    """Log of P(feasible) = Phi(u), u = mean / sqrt(1 + std^2), as an acquisition function of the latent moments.

    Source:
        Gelbart, Snoek, Adams 2014, "Bayesian optimization with unknown constraints", for its sum with log EI.
    """
    del best
    u = _Standardized.of(mean.squeeze(-1), std)
    return u.score(*_log_ndtr(u.value))


def margin(least: float) -> Acquisition:
    """By how much u exceeds that of the probability ``least``: what a search may not let become negative."""
    bound = NormalDist().inv_cdf(least)

    def of_moments(mean: Float[Tensor, "b f"], std: Float[Tensor, " b"], best: Float[Tensor, " f"]) -> Score:
        del best
        u = _Standardized.of(mean.squeeze(-1), std)
        return u.score(u.value - bound, torch.ones_like(std), torch.zeros_like(std))

    return of_moments


@dataclass(frozen=True)
class _Standardized:
    """u = mean / sqrt(1 + std^2), and its derivatives that are not zero."""

    value: Float[Tensor, " b"]
    by_mean: Float[Tensor, " b"]
    by_std: Float[Tensor, " b"]
    by_mean_std: Float[Tensor, " b"]
    by_stds: Float[Tensor, " b"]

    @classmethod
    def of(cls, mean: Float[Tensor, " b"], std: Float[Tensor, " b"]) -> _Standardized:
        scale = 1 / torch.sqrt(1 + std**2)
        by_mean_std = -std * scale**3
        return cls(mean * scale, scale, mean * by_mean_std, by_mean_std, mean * scale**3 * (3 * std**2 * scale**2 - 1))

    def score(self, value: Float[Tensor, " b"], slope: Float[Tensor, " b"], bend: Float[Tensor, " b"]) -> Score:
        """A function of u, given with its two derivatives, as one of mean and deviation."""
        return Score(
            value,
            (slope * self.by_mean).unsqueeze(-1),
            slope * self.by_std,
            (bend * self.by_mean**2)[:, None, None],
            (bend * self.by_mean * self.by_std + slope * self.by_mean_std).unsqueeze(-1),
            bend * self.by_std**2 + slope * self.by_stds,
        )


def _log_ndtr(u: Float[Tensor, "*b"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """Log Phi and its first two derivatives."""
    # phi / Phi without underflow
    ratio = math.sqrt(2 / math.pi) / torch.special.erfcx(-u / math.sqrt(2))
    return torch.special.log_ndtr(u), ratio, -ratio * (u + ratio)


def _laplace(
    covariance: Float[Tensor, "n n"], labels: Float[Tensor, " n"], constant: float
) -> tuple[float, Float[Tensor, " n"], Float[Tensor, "n n"]]:
    """Log evidence; the likelihood's gradient at the mode; and R with R^T R = (covariance + W^-1)^-1."""
    eye = torch.eye(len(labels), dtype=labels.dtype)
    a = torch.zeros_like(labels)  # covariance^-1 (z - constant)
    value = -math.inf
    for _ in range(NEWTON_STEPS):
        z = constant + covariance @ a
        gradient, curvature = _likelihood(z, labels)
        root = torch.sqrt(curvature)
        factor = torch.linalg.cholesky(eye + root.unsqueeze(-1) * covariance * root)
        b = curvature * (z - constant) + gradient
        step = b - root * torch.cholesky_solve((root * (covariance @ b)).unsqueeze(-1), factor).squeeze(-1) - a
        # Halved until the mode comes nearer: the posterior is log-concave, so that a small step always helps.
        share = 1.0
        while share > 1e-4:
            new = a + share * step
            reached = float(torch.special.log_ndtr(labels * (constant + covariance @ new)).sum())
            reached -= 0.5 * float(new @ covariance @ new)
            if reached >= value:
                break
            share /= 2
        gained, value, a = reached - value, reached, new
        if gained < 1e-10:
            break
    z = constant + covariance @ a
    gradient, curvature = _likelihood(z, labels)
    root = torch.sqrt(curvature)
    factor = torch.linalg.cholesky(eye + root.unsqueeze(-1) * covariance * root)
    evidence = value - float(torch.log(factor.diagonal()).sum())
    return evidence, gradient, torch.linalg.solve_triangular(factor, torch.diag(root), upper=False)


def _likelihood(z: Float[Tensor, " n"], labels: Float[Tensor, " n"]) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Gradient and minus the second derivative of log Phi(label z)."""
    _, slope, bend = _log_ndtr(labels * z)
    return labels * slope, (-bend).clamp_min(1e-12)
