"""Posteriors: second-order expansions against autograd, and conditioning against a model of all the data."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.gp.observations import Observations
from geodrome_core.gp.posterior import posterior as posterior_of
from geodrome_core.kernels.parts import scaling

from tests.core.cases import fitted
from tests.core.spaces import SPACES
from tests.strategies import generator

BY_AUTOGRAD = {"rotation4", "ball4"}


@pytest.mark.parametrize("name", [name for name in SPACES if name not in BY_AUTOGRAD])
def test_moments_to_second_order_are_those_of_autograd(name):
    space, posterior = fitted(name, 12)
    manifold = space.manifold
    x = manifold.random(3, generator(7))
    costs = torch.randn(2, 4, generator=generator(8), dtype=torch.float64)
    posterior = posterior.given(manifold.random(2, generator(9)), costs, 0.01)
    of_means = torch.randn(3, 4, generator=generator(10), dtype=torch.float64)
    of_std = torch.randn(3, generator=generator(11), dtype=torch.float64)
    xi = torch.zeros(3, manifold.dim, dtype=torch.float64, requires_grad=True)
    means, std = posterior.means_std(manifold.retract(x, manifold.tangent(x, xi)))
    total = (of_means * means).sum() + (of_std * std).sum()
    (slope,) = torch.autograd.grad(total, xi, create_graph=True)
    rows = [torch.autograd.grad(slope[:, i].sum(), xi, retain_graph=True)[0] for i in range(manifold.dim)]

    found = posterior.expand(x)

    torch.testing.assert_close(found.mean, means.detach(), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(found.std, std.detach(), rtol=1e-8, atol=1e-10)
    gradient = (of_means.unsqueeze(-2) @ found.mean_slope).squeeze(-2) + of_std.unsqueeze(-1) * found.std_slope
    torch.testing.assert_close(gradient, slope.detach(), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(found.bend(of_means, of_std), torch.stack(rows, 1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SPACES)
def test_mean_and_std_have_finite_first_and_second_derivatives_at_data_points(name):
    space, posterior = fitted(name, 8)
    manifold = space.manifold
    xi = torch.zeros(8, manifold.dim, dtype=torch.float64, requires_grad=True)

    mean, std = posterior.mean_std(manifold.retract(posterior.X, manifold.tangent(posterior.X, xi)))

    for value in (mean, std):
        (slope,) = torch.autograd.grad(value.sum(), xi, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), xi, retain_graph=True)
        assert torch.isfinite(slope).all()
        assert torch.isfinite(bend).all()
    if (found := posterior.expand(posterior.X)) is not None:
        assert torch.isfinite(found.bend(torch.ones(8, 1).double(), torch.ones(8).double())).all()


def test_conditioning_is_a_model_of_all_the_data():
    space, posterior = fitted("product", 12)
    x = space.manifold.random(3, generator(1))
    costs = torch.randn(3, 2, generator=generator(2), dtype=torch.float64)

    given = posterior.given(x, costs, 0.02)

    at = space.manifold.random(5, generator(3))
    means, std = given.means_std(at)
    for column in range(2):
        Y = torch.cat([posterior.Y[:, 0], costs[:, column]])
        variances = torch.cat([posterior.noise, torch.full((3,), 0.02).double()])
        data = Observations.of(torch.cat([posterior.X, x]), Y, variances)
        whole = posterior_of(
            posterior.kernel,
            data,
            scaling(posterior.kernel, data.X),
            outputscale=posterior.outputscale,
            noise=1.0,
        )
        # The constant is not found anew by conditioning.
        weights = whole.root.mT @ (whole.root @ (Y - posterior.constant))
        expected = posterior.constant + posterior.outputscale * posterior.kernel(at, whole.X).to_dense() @ weights
        torch.testing.assert_close(means[:, column], expected.detach(), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(std, whole.mean_std(at)[1], rtol=1e-7, atol=1e-8)


def test_the_joint_law_has_the_marginals_of_single_points():
    space, posterior = fitted("rotation3", 12)
    x = space.manifold.random(4, generator(1))

    mean, covariance = posterior.joint(x)

    single_mean, single_std = posterior.mean_std(x)
    torch.testing.assert_close(mean, single_mean)
    torch.testing.assert_close(covariance.diagonal().sqrt(), single_std)
    assert torch.linalg.eigvalsh(covariance).min() > 0


def test_means_at_observed_points_are_those_of_the_posterior():
    _, posterior = fitted("sphere2", 12)

    torch.testing.assert_close(posterior.at_observed[:, 0], posterior.mean_std(posterior.X)[0], rtol=0, atol=1e-9)
    assert posterior.best.item() == posterior.at_observed.min()
