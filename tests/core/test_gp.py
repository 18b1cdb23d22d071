"""The Gaussian process: against GPyTorch's own inference, and in the places where models break."""

from __future__ import annotations

import math

import gpytorch
import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.gp import FitStatus, build, fit

from tests.core.spaces import SPACES


def data(name: str, count: int, seed: int = 0):
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    generator = torch.Generator().manual_seed(seed)
    X = manifold.random(count, generator)
    target = manifold.random(1, generator)
    Y = manifold.distance(X, target) / manifold.diameter
    return space, X, (Y - Y.mean()) / Y.std()


@pytest.mark.parametrize("name", SPACES)
def test_the_posterior_is_that_of_gpytorch(name):
    space, X, Y = data(name, 15)
    x = space.manifold.random(7, torch.Generator().manual_seed(9))
    found = fit(space, X, Y, nu=2.5)

    mean, std = found.posterior.mean_std(x)

    with (
        torch.no_grad(),
        gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False),
    ):
        reference = found.model.posterior(x)
    torch.testing.assert_close(mean, reference.mean[:, 0], rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(std, reference.variance[:, 0].sqrt(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["rotation3", "product"])
def test_a_fit_is_no_worse_than_gpytorchs_own_objective_nearby(name):
    """At the optimum, GPyTorch's marginal likelihood plus priors does not grow when a hyperparameter moves."""
    space, X, Y = data(name, 25)
    found = fit(space, X, Y, nu=2.5)
    model = found.model
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)

    def value() -> float:
        model.train()
        with torch.no_grad():
            return float(objective(model(X), Y))

    best = value()
    parameters = [p for n, p in model.named_parameters() if "mean" not in n]
    for parameter in parameters:
        for step in (0.05, -0.05):
            parameter.data += step
            moved = value()
            parameter.data -= step

            assert moved < best + 1e-7


def test_a_fit_finds_the_lengthscale_that_made_the_data():
    space = space_from_spec({"type": "sphere", "dim": 2})
    generator = torch.Generator().manual_seed(3)
    X = space.manifold.random(150, generator)
    truth = build(space, X, torch.zeros(150).double(), nu=2.5)
    truth.covar_module.base_kernel.lengthscale = torch.tensor(0.5, dtype=torch.float64)
    with torch.no_grad():
        covariance = truth.covar_module(X).to_dense() + 1e-4 * torch.eye(150, dtype=torch.float64)
    Y = torch.linalg.cholesky(covariance) @ torch.randn(150, generator=generator, dtype=torch.float64)

    found = fit(space, X, Y, nu=2.5)

    assert found.status is FitStatus.CONVERGED
    assert found.hyperparameters["lengthscales"][""] == pytest.approx(0.5, rel=0.25)
    assert found.hyperparameters["noise"] < 2e-3


def test_repeated_points_with_unequal_costs_are_noise():
    space, X, Y = data("rotation3", 10)
    generator = torch.Generator().manual_seed(1)
    noisy = Y.repeat(4) + 0.5 * torch.randn(40, generator=generator, dtype=torch.float64)

    found = fit(space, X.repeat(4, 1), noisy, nu=2.5)

    assert found.posterior is not None
    assert math.sqrt(found.hyperparameters["noise"]) == pytest.approx(0.5, rel=0.3)


@pytest.mark.parametrize("name", SPACES)
def test_one_point_told_twelve_times_is_no_trouble(name):
    space, X, _ = data(name, 2)
    Y = torch.tensor([0.3] * 12 + [-1.0], dtype=torch.float64)

    found = fit(space, torch.cat([X[:1].repeat(12, 1), X[1:]]), Y, nu=2.5)

    mean, std = found.posterior.mean_std(X)
    assert torch.isfinite(mean).all()
    assert torch.isfinite(std).all()


@pytest.mark.parametrize("name", SPACES)
def test_mean_and_std_have_finite_first_and_second_derivatives_at_data_points(name):
    space, X, Y = data(name, 8)
    found = fit(space, X, Y, nu=2.5)
    manifold = space.manifold
    xi = torch.zeros(8, manifold.dim, dtype=torch.float64, requires_grad=True)

    mean, std = found.posterior.mean_std(manifold.retract(X, manifold.tangent(X, xi)))

    for value in (mean, std):
        (slope,) = torch.autograd.grad(value.sum(), xi, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), xi, retain_graph=True)
        assert torch.isfinite(slope).all()
        assert torch.isfinite(bend).all()


def test_believing_a_point_keeps_the_mean_and_lowers_the_doubt_there():
    space, X, Y = data("rotation3", 12)
    x = space.manifold.random(3, torch.Generator().manual_seed(5))
    posterior = fit(space, X, Y, nu=2.5).posterior
    mean, std = posterior.mean_std(x)

    believed_mean, believed_std = posterior.believe(x).mean_std(x)

    torch.testing.assert_close(believed_mean, mean, rtol=0, atol=1e-3)
    assert (believed_std < 0.2 * std).all()


def test_the_same_data_give_the_same_fit_to_the_bit():
    space, X, Y = data("product", 12)

    assert fit(space, X, Y, nu=2.5).hyperparameters == fit(space, X, Y, nu=2.5).hyperparameters
