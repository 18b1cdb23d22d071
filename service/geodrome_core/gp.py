"""The Gaussian process: building it, fitting it, and its posterior at new points."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from botorch.models import SingleTaskGP
from botorch.settings import validate_input_scaling
from gpytorch.constraints import GreaterThan, Positive
from gpytorch.kernels import Kernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.priors import GammaPrior, LogNormalPrior, Prior
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import Space
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.kernel import GeodesicKernel

SMALLEST_NOISE = 1e-6
"""Noise variance on the standardized scale: a thousandth of the costs' spread. It also keeps Cholesky going."""

JITTERS = (0.0, 1e-8, 1e-6, 1e-4)
"""Added to the diagonal, relative to it, in turn until Cholesky succeeds."""

MAX_ITERATIONS = 60

STOPPING = {"maxiter": MAX_ITERATIONS, "ftol": 1e-7, "gtol": 1e-4}
"""Of the log posterior per observation: a change that no prediction shows."""

LOG_BOUNDS = (math.log(1e-2), math.log(1e2))
"""Of every hyperparameter but the noise: the range in which kernels are exact."""

LOG_NOISE_BOUNDS = (math.log(1e-3 * SMALLEST_NOISE), math.log(10.0))

Hyperparameters = dict[str, float | dict[str, float | list[float]]]
"""In natural units: lengthscales by factor ("" for a bare space; a list where each coordinate has one), outputscale,
noise, mean."""


class FitStatus(enum.Enum):
    """How a fit ended; the value is what a person is told."""

    CONVERGED = "converged"
    MAX_ITERATIONS = "stopped at the iteration limit; the model is usable, if not optimal"
    NOT_POSITIVE_DEFINITE = "the kernel matrix lost positive definiteness; no model can be used"


@dataclass(frozen=True)
class Priors:
    """Priors of the hyperparameters, for standardized costs.

    Attributes:
        lengthscale: Of one factor, in geodesic distance; None for none.
        outputscale: Of the prior variance.
        noise: Of the noise variance.
    """

    lengthscale: Callable[[Manifold], Prior | None]
    outputscale: Callable[[], Prior]
    noise: Callable[[], Prior]


PRIORS: dict[str, Priors] = {
    "default": Priors(
        # Half the domain's diameter, and a factor 7 to either side within two deviations.
        lengthscale=lambda manifold: LogNormalPrior(math.log(0.5 * manifold.diameter), 1.0),
        outputscale=lambda: LogNormalPrior(0.0, 1.0),
        noise=lambda: LogNormalPrior(-6.0, 2.0),
    ),
    # Gamma laws by shape and rate, as in the experiments of the CoRL 2021 paper.
    "paper": Priors(
        lengthscale=lambda _: None,
        outputscale=lambda: GammaPrior(2.0, 0.15),
        noise=lambda: GammaPrior(1.1, 0.05),
    ),
}


@dataclass(frozen=True)
class Posterior:
    """What the model says about new points; all that does not change during a search is computed once.

    Attributes:
        kernel: Normalized kernel, its hyperparameters frozen.
        X, Y: (n, d) points and (n,) standardized costs.
        outputscale, constant, noise: Prior variance, prior mean, noise variance.
        factor: (n, n) inverse of the Cholesky factor of the noisy covariance.
        weights: (n,) covariance^-1 (Y - constant).
    """

    kernel: Kernel
    X: Tensor
    Y: Tensor
    outputscale: Tensor
    constant: Tensor
    noise: Tensor
    factor: Tensor = field(repr=False)
    weights: Tensor = field(repr=False)

    def mean_std(self, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"]]:
        """Mean and standard deviation of the noise-free function; differentiable twice in ``x``."""
        cross = self.outputscale * self.kernel(x, self.X).to_dense()  # (b, n)
        mean = self.constant + cross @ self.weights
        variance = self.outputscale - ((cross @ self.factor.mT) ** 2).sum(-1)
        # A variance of rounding size means "known"; the floor keeps its root differentiable.
        return mean, torch.sqrt(variance.clamp_min(1e-12 * float(self.outputscale)))

    def believe(self, x: Float[Tensor, "p d"]) -> Posterior:
        """The posterior after the points ``x`` have been told their own predicted means: as good, and less uncertain.

        Source:
            Ginsbourger, Le Riche, Carraro 2010, the "kriging believer".
        """
        if len(x) == 0:
            return self
        with torch.no_grad():
            mean, _ = self.mean_std(x)
            believed = _posterior(
                self.kernel,
                torch.cat([self.X, x]),
                torch.cat([self.Y, mean]),
                outputscale=self.outputscale,
                constant=self.constant,
                noise=self.noise,
            )
        assert believed is not None, "noise keeps the covariance of any points positive definite"
        return believed


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes:
        status: How the fit ended.
        model: The BoTorch model, on standardized costs (small is good).
        posterior: Its posterior; None if and only if the status is ``NOT_POSITIVE_DEFINITE``.
        hyperparameters: In natural units.
    """

    status: FitStatus
    model: SingleTaskGP
    posterior: Posterior | None
    hyperparameters: Hyperparameters


def build(
    space: Space, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"], *, nu: float, priors: Priors = PRIORS["default"]
) -> SingleTaskGP:
    """An unfitted model: constant mean, scaled Matérn kernel of the space, learned noise.

    Args:
        space: The search space.
        X: Points.
        Y: Standardized costs.
        nu: Smoothness of the kernel.
        priors: Priors of the hyperparameters.
    """
    kernel = for_space(space, nu=nu)
    for part, factor in zip(_parts(kernel), space.factors.values(), strict=True):
        # Raw parameters are logarithms: the scale on which lengthscales are searched.
        start = part.lengthscale.detach()
        part.register_constraint("raw_lengthscale", Positive(transform=torch.exp, inv_transform=torch.log))
        part.lengthscale = start
        prior = priors.lengthscale(factor)
        if prior is not None:
            part.register_prior("lengthscale_prior", prior, "lengthscale")
    logarithm = Positive(transform=torch.exp, inv_transform=torch.log)
    covariance = ScaleKernel(kernel, outputscale_prior=priors.outputscale(), outputscale_constraint=logarithm)
    noise = GreaterThan(SMALLEST_NOISE, transform=torch.exp, inv_transform=torch.log)
    likelihood = GaussianLikelihood(noise_prior=priors.noise(), noise_constraint=noise)
    with validate_input_scaling(state=False):  # rows of a manifold are not meant to lie in a unit cube
        model = SingleTaskGP(
            X, Y.unsqueeze(-1), likelihood=likelihood, covar_module=covariance, outcome_transform=None
        ).double()
    covariance.outputscale = 1.0
    likelihood.noise = 1e-3
    return model


def fit(
    space: Space, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"], *, nu: float, priors: Priors = PRIORS["default"]
) -> Fit:
    """Maximum a posteriori hyperparameters, by L-BFGS on their logarithms.

    Args:
        space: The search space.
        X: (n, d) points, n at least 2.
        Y: (n,) standardized costs, small is good.
        nu: Smoothness of the kernel.
        priors: Priors of the hyperparameters.
    """
    model = build(space, X, Y, nu=nu, priors=priors)
    covariance, likelihood = model.covar_module, model.likelihood
    mean = model.mean_module
    mean.requires_grad_(requires_grad=False)  # has a closed form given the rest
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    ends = np.cumsum([parameter.numel() for parameter in parameters])[:-1]

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log posterior per observation, and its gradient."""
        for parameter, part in zip(parameters, np.split(values, ends), strict=True):
            parameter.data.copy_(torch.from_numpy(part).reshape(parameter.shape))
            parameter.grad = None
        value = _negative_log_posterior(model, X, Y)
        if value is None:
            return math.inf, np.zeros_like(values)
        value.backward()
        return value.item(), np.concatenate([parameter.grad.flatten().numpy() for parameter in parameters])

    start = np.concatenate([parameter.detach().flatten().numpy() for parameter in parameters])
    noise = likelihood.noise_covar.raw_noise
    bounds = [
        LOG_NOISE_BOUNDS if parameter is noise else LOG_BOUNDS for parameter in parameters for _ in parameter.flatten()
    ]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=STOPPING)
    loss(found.x)
    model.requires_grad_(requires_grad=False)
    model.eval()
    kernel, outputscale, noise = covariance.base_kernel, covariance.outputscale.detach(), likelihood.noise.detach()
    hyperparameters: Hyperparameters = {
        "lengthscales": {
            name: part.lengthscale.squeeze().tolist() for name, part in zip(space.factors, _parts(kernel), strict=True)
        },
        "outputscale": float(outputscale),
        "noise": float(noise),
    }
    with torch.no_grad():
        constant = _generalized_mean(model, X, Y)
        model.mean_module.constant.data.copy_(constant)
        fitted = _posterior(kernel, X, Y, outputscale=outputscale, constant=constant, noise=noise.reshape(()))
    if fitted is None:
        return Fit(FitStatus.NOT_POSITIVE_DEFINITE, model, None, hyperparameters)
    hyperparameters["mean"] = float(constant)
    status = FitStatus.MAX_ITERATIONS if found.nit >= MAX_ITERATIONS else FitStatus.CONVERGED
    return Fit(status, model, fitted, hyperparameters)


def cholesky(matrix: Float[Tensor, "n n"]) -> Float[Tensor, "n n"] | None:
    """Cholesky factor, with as much jitter as it takes; None where even the largest is not enough."""
    scale = torch.diagonal(matrix).mean().detach()
    for jitter in JITTERS:
        factor, fails = torch.linalg.cholesky_ex(matrix + jitter * scale * torch.eye(len(matrix), dtype=matrix.dtype))
        if not bool(fails) and bool(torch.isfinite(factor).all()):
            return factor
    return None


def _parts(kernel: Kernel) -> list[GeodesicKernel]:
    """The kernels of the factors, in their order."""
    return [part for part in kernel.modules() if isinstance(part, GeodesicKernel)]


def _covariance(model: SingleTaskGP, X: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    scaled = model.covar_module
    noise = model.likelihood.noise * torch.eye(len(X), dtype=X.dtype)
    return scaled.outputscale * scaled.base_kernel(X).to_dense() + noise


def _generalized_mean(model: SingleTaskGP, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"]) -> Float[Tensor, ""]:
    """The likeliest constant mean: generalized least squares."""
    factor = cholesky(_covariance(model, X))
    if factor is None:
        return Y.mean()
    ones = torch.cholesky_solve(torch.ones_like(Y)[:, None], factor)[:, 0]
    return (ones @ Y) / ones.sum()


def _negative_log_posterior(
    model: SingleTaskGP, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"]
) -> Float[Tensor, ""] | None:
    """Minus the log marginal likelihood, at the likeliest mean, and minus the log priors; all per observation."""
    factor = cholesky(_covariance(model, X))
    if factor is None:
        return None
    white = torch.linalg.solve_triangular(factor, torch.stack([torch.ones_like(Y), Y], -1), upper=False)
    ones, values = white.unbind(-1)
    residual = values - (ones @ values) / (ones @ ones) * ones
    total = 0.5 * residual @ residual + torch.log(torch.diagonal(factor)).sum() + 0.5 * len(Y) * math.log(2 * math.pi)
    for _, module, prior, closure, _ in model.named_priors():
        total = total - prior.log_prob(closure(module)).sum()
    return total / len(Y)


def _posterior(
    kernel: Kernel,
    X: Float[Tensor, "n d"],
    Y: Float[Tensor, " n"],
    *,
    outputscale: Float[Tensor, ""],
    constant: Float[Tensor, ""],
    noise: Float[Tensor, ""],
) -> Posterior | None:
    eye = torch.eye(len(X), dtype=X.dtype)
    factor = cholesky(outputscale * kernel(X).to_dense() + noise * eye)
    if factor is None:
        return None
    inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
    weights = inverse.mT @ (inverse @ (Y - constant))
    return Posterior(kernel, X, Y, outputscale, constant, noise, inverse, weights)
