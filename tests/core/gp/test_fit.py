"""Fits: against GPyTorch's own objective and inference, and in the places where models break."""

from __future__ import annotations

import math

import gpytorch
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from geodrome_core import space_from_spec
from geodrome_core.gp.fit import FitStatus, ModelSpec, fit
from geodrome_core.gp.priors import PRIORS
from geodrome_core.kernels import for_space
from gpytorch.kernels import ScaleKernel

from tests.core.cases import observed
from tests.core.spaces import SPACES
from tests.strategies import generator

EXACT = {"covar_root_decomposition": False, "log_prob": False, "solves": False}


@pytest.mark.parametrize("name", SPACES)
def test_the_posterior_is_that_of_gpytorch(name):
    space, X, Y = observed(name, 15)
    x = space.manifold.random(7, generator(9))
    found = fit(ModelSpec(space), X, Y)

    mean, std = found.posterior.mean_std(x)

    with torch.no_grad(), gpytorch.settings.fast_computations(**EXACT):
        reference = found.model.posterior(x)
    torch.testing.assert_close(mean, reference.mean[:, 0], rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(std, reference.variance[:, 0].sqrt(), rtol=1e-4, atol=1e-6)


def test_botorch_maximizes_its_own_acquisition_functions_on_the_model():
    space, X, Y = observed("rotation3", 12)
    found = fit(ModelSpec(space), X, Y)

    value = LogExpectedImprovement(found.model, best_f=float(Y.min()), maximize=False)(X[:3].unsqueeze(-2))

    assert torch.isfinite(value).all()


# Without a prior, as in the paper, a lengthscale of the product ends at its bound.
@pytest.mark.parametrize(
    ("name", "priors"),
    [
        ("rotation3", "default"),
        ("torus2", "default"),
        ("spd2", "default"),
        ("product", "default"),
        ("rotation3", "paper"),
        ("torus2", "paper"),
        ("spd2", "paper"),
    ],
)
def test_no_hyperparameters_nearby_are_likelier_to_gpytorch(name, priors):
    """GPyTorch's marginal likelihood and its priors, at the generalized least squares mean."""
    space, X, Y = observed(name, 25)
    laws = PRIORS[priors]
    found = fit(ModelSpec(space, nu=2.5, priors=laws), X, Y)

    def loss(changed: dict[str, float]) -> float:
        kernel = for_space(space, nu=2.5)
        values = {**found.hyperparameters, "lengthscales": dict(found.hyperparameters["lengthscales"])}
        total = 0.0
        parts = [kernel] if len(space.factors) == 1 else list(kernel.kernels)
        for (factor_name, factor), part in zip(space.factors.items(), parts, strict=True):
            scale = values["lengthscales"][factor_name] * math.exp(changed.get(factor_name or "bare", 0.0))
            part.lengthscale = torch.tensor(scale, dtype=torch.float64)
            if (law := laws.lengthscale(factor, space.manifold.dim)) is not None:
                total += float(law.as_gpytorch().log_prob(torch.tensor(scale)))
        outputscale = values["outputscale"] * math.exp(changed.get("outputscale", 0.0))
        noise = values["noise"] * math.exp(changed.get("noise", 0.0))
        total += float(laws.outputscale.as_gpytorch().log_prob(torch.tensor(outputscale)))
        total += float(laws.noise.as_gpytorch().log_prob(torch.tensor(noise)))
        with torch.no_grad():
            covariance = outputscale * kernel(X).to_dense() + noise * torch.eye(len(X), dtype=torch.float64)
            ones = torch.ones_like(Y)
            constant = (ones @ torch.linalg.solve(covariance, Y)) / (ones @ torch.linalg.solve(covariance, ones))
            law = torch.distributions.MultivariateNormal(constant * ones, covariance)
            total += float(law.log_prob(Y))
        return -total / len(Y)

    best = loss({})

    assert found.loss == pytest.approx(best, abs=1e-6)
    for name_of_parameter in [*(factor or "bare" for factor in space.factors), "outputscale", "noise"]:
        for step in (0.05, -0.05):
            assert loss({name_of_parameter: step}) > best - 1e-6


def sample(nu: float, kappa: float, count: int, seed: int) -> tuple:
    space = space_from_spec({"type": "sphere", "dim": 2})
    chance = generator(seed)
    X = space.manifold.random(count, chance)
    truth = ScaleKernel(for_space(space, nu=nu, lengthscale=kappa)).double()
    truth.outputscale = 1.0
    with torch.no_grad():
        covariance = truth(X).to_dense() + 1e-4 * torch.eye(count, dtype=torch.float64)
    return space, X, torch.linalg.cholesky(covariance) @ torch.randn(count, generator=chance, dtype=torch.float64)


def test_a_fit_finds_the_lengthscale_that_made_the_data():
    space, X, Y = sample(2.5, 0.5, 150, seed=3)

    found = fit(ModelSpec(space), X, Y)

    assert found.status is FitStatus.CONVERGED
    assert found.hyperparameters["lengthscales"][""] == pytest.approx(0.5, rel=0.25)
    assert found.hyperparameters["noise"] < 2e-3


def test_a_learned_smoothness_follows_the_data():
    found = {}
    for nu in (0.5, 3.5):
        space, X, Y = sample(nu, 0.5, 200, seed=4)
        found[nu] = fit(ModelSpec(space, nu=None), X, Y).hyperparameters["nu"]

    assert 0.25 <= found[0.5] < 1.0
    assert found[3.5] > 1.8


def test_lengthscales_of_single_coordinates_find_the_one_that_matters():
    space = space_from_spec({"type": "euclidean", "dim": 3, "bounds": [[0, 1]] * 3})
    X = space.manifold.random(60, generator(0))
    Y = torch.sin(6 * X[:, 1])

    found = fit(ModelSpec(space, ard=True), X, (Y - Y.mean()) / Y.std())

    first, second, third = found.hyperparameters["lengthscales"][""]
    assert 3 * second < min(first, third)


def test_repeated_points_with_unequal_costs_are_noise():
    space, X, Y = observed("rotation3", 10)
    noisy = Y.repeat(4) + 0.5 * torch.randn(40, generator=generator(1), dtype=torch.float64)

    found = fit(ModelSpec(space), X.repeat(4, 1), noisy)

    assert found.posterior is not None
    assert math.sqrt(found.hyperparameters["noise"]) == pytest.approx(0.5, rel=0.3)


def test_known_noise_is_believed():
    """Observations of known noise are smoothed by it, exact ones are met."""
    space, X, Y = observed("sphere2", 12)
    variances = torch.where(torch.arange(12) < 6, 0.25, 0.0).double()

    posterior = fit(ModelSpec(space), X, Y + 0.5 * (torch.arange(12) % 2), variances=variances).posterior

    _, std = posterior.mean_std(X)
    assert (std[6:] < 1e-3).all()
    assert (std[:6] > 0.05).all()


def test_zero_noise_meets_every_cost():
    space, X, Y = observed("rotation3", 15)

    found = fit(ModelSpec(space, noise="zero"), X, Y)

    torch.testing.assert_close(found.posterior.mean_std(X)[0], Y, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", SPACES)
def test_one_point_told_twelve_times_is_no_trouble(name):
    space, X, _ = observed(name, 2)
    Y = torch.tensor([0.3] * 12 + [-1.0], dtype=torch.float64)

    found = fit(ModelSpec(space), torch.cat([X[:1].repeat(12, 1), X[1:]]), Y)

    mean, std = found.posterior.mean_std(X)
    assert torch.isfinite(mean).all()
    assert torch.isfinite(std).all()


def test_a_warm_start_ends_where_a_cold_one_does():
    space, X, Y = observed("product", 40)
    spec = ModelSpec(space, nu=None)
    before = fit(spec, X[:36], Y[:36])

    cold, warm = fit(spec, X, Y), fit(spec, X, Y, start=before.hyperparameters)

    assert warm.loss == pytest.approx(cold.loss, abs=1e-4)


def test_a_poor_start_is_left():
    space, X, Y = observed("sphere2", 40)
    good = fit(ModelSpec(space), X, Y)
    poor = {**good.hyperparameters, "lengthscales": {"": 0.02}, "noise": 5.0}

    found = fit(ModelSpec(space), X, Y, start=poor)

    assert found.loss == pytest.approx(good.loss, abs=1e-4)


def test_the_same_data_give_the_same_fit_to_the_bit():
    space, X, Y = observed("product", 12)

    assert fit(ModelSpec(space), X, Y).hyperparameters == fit(ModelSpec(space), X, Y).hyperparameters


def test_a_model_of_many_observations_keeps_the_best_and_spreads_over_the_rest(monkeypatch):
    for name, value in {"LARGEST": 60, "NEAR_BEST": 20}.items():
        monkeypatch.setattr(f"geodrome_core.gp.subset.{name}", value)
    monkeypatch.setattr("geodrome_core.gp.fit.LARGEST", 60)
    space, X, Y = observed("sphere2", 300)

    found = fit(ModelSpec(space), X, Y)

    assert found.status is FitStatus.SUBSET
    kept = {tuple(row) for row in found.posterior.X.tolist()}
    assert len(kept) == 60
    assert {tuple(row) for row in X[Y.argsort()[:20]].tolist()} <= kept
    gaps = space.manifold.distance(X.unsqueeze(1), found.posterior.X).amin(-1)
    assert gaps.max() < 0.6
    mean, _ = found.posterior.mean_std(X)
    assert float((mean - Y).square().mean().sqrt()) < 0.03


def test_a_model_is_none_where_the_fit_failed():
    space, X, Y = observed("sphere2", 5)
    failed = fit(ModelSpec(space), X, torch.full_like(Y, math.nan))

    assert failed.status is FitStatus.NOT_POSITIVE_DEFINITE
    assert failed.posterior is None
    with pytest.raises(ValueError, match="positive definite"):
        _ = failed.model


@pytest.mark.parametrize("radius", [1.0, 1e-2, 2e-3])
def test_small_domains_are_learned_as_well_as_large_ones(radius):
    space = space_from_spec({"type": "hyperbolic", "dim": 2, "radius": radius})
    X, x = (space.manifold.random(count, generator(count)) for count in (25, 100))
    center = space.manifold.random(1, generator(0))

    def cost(points: torch.Tensor) -> torch.Tensor:
        return (space.manifold.distance(points, center) / radius) ** 2

    Y = cost(X)
    posterior = fit(ModelSpec(space), X, (Y - Y.mean()) / Y.std()).posterior

    error = posterior.mean_std(x)[0] - (cost(x) - Y.mean()) / Y.std()
    assert float(error.square().mean().sqrt()) < 0.1
