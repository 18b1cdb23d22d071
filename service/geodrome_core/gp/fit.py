"""Fitting a Gaussian process: maximum a posteriori hyperparameters, and how that went."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.kernels import Kernel
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from geodrome_core.geometry.space import Space
from geodrome_core.gp.botorch_model import fitted_model
from geodrome_core.gp.evidence import Evidence, Parameters
from geodrome_core.gp.observations import Observations
from geodrome_core.gp.posterior import Posterior, posterior
from geodrome_core.gp.priors import PRIORS, Prior, Priors
from geodrome_core.gp.subset import LARGEST, informative
from geodrome_core.kernels.baselines import Baseline, baseline_for
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.kernel import LEARNED_NU
from geodrome_core.kernels.parts import parts_of, scaling

MAX_ITERATIONS = 60

STOPPING = {"maxiter": MAX_ITERATIONS, "ftol": 1e-6, "gtol": 1e-4}
"""Of the log posterior per observation: a change that no prediction shows."""

LENGTHSCALES = (1e-2, 1e2)
"""The range in which kernels are exact to rounding."""

SHORTEST = 1e-4
"""In small domains: curved kernels are those of flat space there, to the lengthscale's square."""

SHORT = 0.04
"""Of the prior's median: a lengthscale that sees no more than single points, where the domain is small."""

OUTPUTSCALES = (1e-2, 1e2)

NOISES = (1e-8, 10.0)
"""Noise variances, of costs whose variance is 1. The least is what Cholesky needs with many near points."""

FEW = 300
"""Observations that decide where a fit to more of them begins."""

FEWEST = 100
"""Observations that decide whether a fit to more begins where the last one ended, and nowhere else."""

START_NU = 1.5
"""Where a search for nu begins."""

REACHES = (0.15, 0.5, 1.5)
"""Lengthscales, relative to the medians of their priors, that are looked at in every fit."""

START_NOISES = (1e-4, 1e-1)
"""Noise variances that are looked at with each of them."""

Hyperparameters = dict[str, Any]
"""In natural units: lengthscales by factor ("" for a bare space; a list where each coordinate has one), outputscale,
noise, nu, mean, and the type of the kernel."""


class FitStatus(enum.Enum):
    """How a fit ended; the value is what a person is told."""

    CONVERGED = "converged"
    MAX_ITERATIONS = "stopped at the iteration limit; the model is usable, if not optimal"
    SUBSET = f"converged on the {LARGEST} most informative observations"
    NOT_POSITIVE_DEFINITE = "the kernel matrix lost positive definiteness; no model can be used"


@dataclass(frozen=True)
class ModelSpec:
    """What is fixed about a model before it is fitted.

    Attributes:
        space: The search space.
        nu: Smoothness of the Matérn kernel; infinite for SE; None where it is learned.
        ard: Whether vectors of reals and angles have a lengthscale for each coordinate.
        noise: Whether the noise variance is a parameter, or zero but for what the observations say.
        priors: Of the hyperparameters.
        kernel: The space's own kernel, or one to compare with.
    """

    space: Space
    nu: float | None = None
    ard: bool = False
    noise: Literal["inferred", "zero"] = "inferred"
    priors: Priors = PRIORS["default"]
    kernel: Literal["matern"] | Baseline = "matern"


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes:
        status: How the fit ended.
        posterior: What the model says; None if and only if the status is ``NOT_POSITIVE_DEFINITE``.
        hyperparameters: In natural units.
        loss: Minus the log posterior density per observation.
    """

    status: FitStatus
    posterior: Posterior | None
    hyperparameters: Hyperparameters
    loss: float

    @cached_property
    def model(self) -> SingleTaskGP:
        """The same as a BoTorch model, of standardized costs (small is good).

        Raises:
            ValueError: There is none.
        """
        if self.posterior is None:
            raise ValueError(self.status.value)
        return fitted_model(self.posterior)


def fit(
    spec: ModelSpec,
    X: Float[Tensor, "n d"],
    Y: Float[Tensor, " n"],
    *,
    variances: Float[Tensor, " n"] | None = None,
    start: Mapping[str, Any] | None = None,
) -> Fit:
    """Maximum a posteriori hyperparameters, by L-BFGS on their logarithms.

    The search begins at ``start``, and anew from the best of a few fixed places if one of those is better than where
    it ended. Above ``LARGEST`` distinct points, a model of the most informative ones is fitted.

    Args:
        spec: What is fixed about the model.
        X: Points, two at least; repeats are pooled.
        Y: Standardized costs, small is good.
        variances: Noise variances on that scale, NaN where they are inferred; None for all inferred.
        start: Hyperparameters of a fit to almost the same observations.
    """
    kernel = _kernel(spec)
    data = Observations.of(X, Y, None if variances is None else variances.clamp_min(NOISES[0]))
    is_subset = len(data.Y) > LARGEST
    if is_subset:
        _set(kernel, spec, _medians(spec, kernel) if start is None else _read(spec, kernel, start))
        data = data.only(informative(kernel, data.X, data.Y))
    evidence = _evidence(spec, kernel, data)
    found = _search(evidence, spec, kernel, None if start is None else _read(spec, kernel, start))
    best = evidence.parameters(found.x)
    _set(kernel, spec, best)
    fitted = posterior(kernel, data, evidence.of_scales, outputscale=best.outputscale, noise=best.noise)
    hyperparameters = _named(spec, kernel, best)
    if fitted is None or not math.isfinite(found.fun):
        return Fit(FitStatus.NOT_POSITIVE_DEFINITE, None, hyperparameters, math.inf)
    hyperparameters["mean"] = float(fitted.constant)
    status = FitStatus.MAX_ITERATIONS if found.nit >= MAX_ITERATIONS else FitStatus.CONVERGED
    return Fit(FitStatus.SUBSET if is_subset else status, fitted, hyperparameters, found.fun)


def _search(evidence: Evidence, spec: ModelSpec, kernel: Kernel, start: Parameters | None) -> Any:
    """The best optimum found.

    Of more than ``FEW`` observations, some decide where to begin.
    """
    medians = _medians(spec, kernel)
    count = len(evidence.data.Y)

    def of_some(size: int) -> Evidence:
        some = torch.linspace(0, count - 1, size, dtype=torch.float64).round().long()
        return _evidence(spec, kernel, evidence.data.only(some))

    if start is not None and count > FEWEST:
        # The last fit to almost all of them is where to begin, unless other places look better.
        fewest = of_some(FEWEST)
        loss, _ = fewest(_within(fewest.logarithms(start), fewest, medians))
        if loss < _looked_at(fewest, medians)[0][0]:
            return _descend(evidence, evidence.logarithms(start), medians)
    if count <= FEW:
        return _search_widely(evidence, medians, start)
    return _descend(evidence, _search_widely(of_some(FEW), medians, start).x, medians)


def _search_widely(evidence: Evidence, medians: Parameters, start: Parameters | None) -> Any:
    """The best optimum from the given start, or without one from the best two of the fixed lengthscales."""
    fixed = _looked_at(evidence, medians)
    if start is None:
        return min((_descend(evidence, t, medians) for _, t in fixed[:2]), key=lambda found: found.fun)
    found = _descend(evidence, evidence.logarithms(start), medians)
    loss, t = fixed[0]
    return min((found, _descend(evidence, t, medians)), key=lambda one: one.fun) if loss < found.fun else found


def _looked_at(evidence: Evidence, medians: Parameters) -> list[tuple[float, np.ndarray]]:
    """A few fixed places and their losses, the best first."""

    def place(reach: float, noise: float) -> np.ndarray:
        lengthscales = tuple(reach * scale for scale in medians.lengthscales)
        return evidence.logarithms(replace(medians, lengthscales=lengthscales, noise=noise))

    # For each reach the better of the noises.
    fixed = []
    for reach in REACHES:
        places = [_within(place(reach, noise), evidence, medians) for noise in START_NOISES]
        losses = [evidence(t)[0] for t in places]
        best = int(np.argmin(losses))
        fixed.append((losses[best], places[best]))
    return sorted(fixed, key=lambda pair: pair[0])


def _descend(evidence: Evidence, start: np.ndarray, medians: Parameters) -> Any:
    bounds = _bounds(evidence, medians)
    start = _within(start, evidence, medians)
    return minimize(evidence, start, jac=True, method="L-BFGS-B", bounds=bounds, options=STOPPING)


def _within(t: np.ndarray, evidence: Evidence, medians: Parameters) -> np.ndarray:
    low, high = zip(*_bounds(evidence, medians), strict=True)
    return np.clip(t, low, high)


def _evidence(spec: ModelSpec, kernel: Kernel, data: Observations) -> Evidence:
    priors: list[Prior | None] = [
        spec.priors.lengthscale(factor, spec.space.manifold.dim)
        for part, factor in zip(parts_of(kernel), spec.space.factors.values(), strict=True)
        for _ in range(part.lengthscale.numel())
    ]
    priors.append(spec.priors.outputscale)
    priors += [spec.priors.noise] if spec.noise == "inferred" else []
    priors += [spec.priors.nu] if spec.nu is None else []
    given_noise = None if spec.noise == "inferred" else NOISES[0]
    longest = [part.longest for part in parts_of(kernel) for _ in range(part.lengthscale.numel())]
    return Evidence(scaling(kernel, data.X), data, priors, given_noise, spec.nu, longest)


def _bounds(evidence: Evidence, medians: Parameters) -> list[tuple[float, float]]:
    """Of the logarithms of the free parameters."""
    shortest, longest = LENGTHSCALES
    ends = [min(longest, 0.999 * own) for own in evidence.longest] or [longest] * len(medians.lengthscales)
    bounds = [
        (min(shortest, max(SHORTEST, SHORT * median)), end)
        for median, end in zip(medians.lengthscales, ends, strict=True)
    ]
    bounds += [OUTPUTSCALES]
    bounds += [NOISES] if evidence.given_noise is None else []
    bounds += [LEARNED_NU] if evidence.given_nu is None else []
    return [(math.log(low), math.log(high)) for low, high in bounds]


def _medians(spec: ModelSpec, kernel: Kernel) -> Parameters:
    """Of the priors; half the diameter where a lengthscale has none."""
    lengthscales: list[float] = []
    for part, factor in zip(parts_of(kernel), spec.space.factors.values(), strict=True):
        prior = spec.priors.lengthscale(factor, spec.space.manifold.dim)
        lengthscales += [prior.median if prior else 0.5 * factor.diameter] * part.lengthscale.numel()
    nu = START_NU if spec.nu is None else spec.nu
    return Parameters(tuple(lengthscales), 1.0, START_NOISES[0], nu)


def _kernel(spec: ModelSpec) -> Kernel:
    nu, learn_nu = START_NU if spec.nu is None else spec.nu, spec.nu is None
    if spec.kernel == "matern":
        kernel = for_space(spec.space, nu=nu, learn_nu=learn_nu, ard=spec.ard)
    else:
        kernel = baseline_for(spec.space, spec.kernel, nu=nu, learn_nu=learn_nu)
    return kernel.requires_grad_(requires_grad=False)


def _set(kernel: Kernel, spec: ModelSpec, parameters: Parameters) -> None:
    """Gives the kernel its hyperparameters."""
    scales = torch.tensor(parameters.lengthscales, dtype=torch.float64)
    parts = parts_of(kernel)
    for part, own in zip(parts, scales.split([part.lengthscale.numel() for part in parts]), strict=True):
        part.lengthscale = own.reshape(part.lengthscale.shape)
    if spec.nu is None:
        parts[0].nu = parameters.nu


def _named(spec: ModelSpec, kernel: Kernel, parameters: Parameters) -> Hyperparameters:
    """As they are stored and shown."""
    values = iter(parameters.lengthscales)
    lengthscales: dict[str, float | list[float]] = {}
    for name, part in zip(spec.space.factors, parts_of(kernel), strict=True):
        own = [next(values) for _ in range(part.lengthscale.numel())]
        lengthscales[name] = own if part.ard_num_dims or len(own) > 1 else own[0]
    return {
        "lengthscales": lengthscales,
        "outputscale": parameters.outputscale,
        "noise": parameters.noise,
        "nu": parameters.nu,
        "kernel": spec.kernel,
    }


def _read(spec: ModelSpec, kernel: Kernel, stored: Mapping[str, Any]) -> Parameters:
    """The way back from ``_named``; what is not stored gets the prior's median."""
    medians = _medians(spec, kernel)
    lengthscales: list[float] = []
    for name in spec.space.factors:
        own = stored["lengthscales"][name]
        lengthscales += own if isinstance(own, list) else [own]
    return Parameters(
        tuple(lengthscales), stored["outputscale"], stored["noise"], stored["nu"] if spec.nu is None else medians.nu
    )
