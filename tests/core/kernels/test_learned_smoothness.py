"""Smoothness as a parameter: its derivative, its bounds, its prior, and one for all factors of a product."""

from __future__ import annotations

import math

import gpytorch
import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from geodrome_core.kernels import for_space
from gpytorch.constraints import Interval
from gpytorch.kernels import ScaleKernel
from gpytorch.priors import LogNormalPrior

from tests.core.kernels.cases import SPACES, every_space, gram, kernel_of, manifold_of, random_rows
from tests.strategies import generator

assert_close = torch.testing.assert_close


@pytest.mark.parametrize("nu", [0.5, 2.5, 7.0])
@pytest.mark.parametrize("kappa", [0.2, 2.0])
@every_space
def test_the_derivative_in_the_smoothness_is_that_of_differences(name, nu, kappa):
    manifold = manifold_of(name)
    x = random_rows(name, 5)
    y = manifold.exp(x, manifold.project(x, 0.3 * kappa * random_rows(name, 5, seed=1)))
    kernel = for_space(SPACES[name], nu=nu, lengthscale=kappa, learn_nu=True)
    raw = kernel.raw_nu if hasattr(kernel, "raw_nu") else kernel.kernels[0].raw_nu
    weights = torch.linspace(1, 2, 25, dtype=torch.float64).reshape(5, 5)

    (found,) = torch.autograd.grad((weights * kernel(x, y).to_dense()).sum(), raw)

    start, step = raw.detach().clone(), 1e-3
    values = []
    for i in (-3, -2, -1, 1, 2, 3):
        raw.data.copy_(start + i * step)
        values.append(float((weights * gram(kernel, x, y)).sum()))
    a, b, c, d, e, f = values
    assert float(found) == pytest.approx((-a + 9 * b - 45 * c + 45 * d - 9 * e + f) / (60 * step), abs=1e-9, rel=1e-8)


@every_space
def test_a_kernel_that_learns_starts_as_the_fixed_one(name):
    x = random_rows(name, 6)

    learned = for_space(SPACES[name], nu=1.3, lengthscale=0.7, learn_nu=True)

    assert_close(gram(learned, x), gram(kernel_of(name, nu=1.3, kappa=0.7), x), atol=1e-13, rtol=0.0)
    assert sum(name.endswith("raw_nu") for name, _ in learned.named_parameters()) == 1


@every_space
def test_both_points_and_all_parameters_have_gradients_at_once(name):
    kernel = for_space(SPACES[name], nu=1.3, lengthscale=0.7, learn_nu=True)
    x, y = random_rows(name, 3).requires_grad_(), random_rows(name, 4, seed=1).requires_grad_()

    kernel(x, y).to_dense().sum().backward()

    for leaf in (x, y, *kernel.parameters()):
        assert leaf.grad is not None
        assert bool(torch.isfinite(leaf.grad).all())
        assert float(leaf.grad.abs().max()) > 0


def test_the_factors_of_a_product_share_it():
    kernel = for_space(SPACES["pose"], nu=1.5, learn_nu=True, nu_prior=LogNormalPrior(0.5, 0.7))

    kernel.kernels[0].nu = 3.0

    assert float(kernel.kernels[1].nu.detach()) == pytest.approx(3.0, rel=1e-12)
    assert [name for name, *_ in kernel.named_priors()] == ["kernels.0.nu_prior"]


def test_a_fixed_one_cannot_be_set():
    with pytest.raises(AttributeError, match="nu is fixed"):
        kernel_of("S2", nu=1.5).nu = 2.5


@pytest.mark.parametrize("nu", [0.2, 21.0, math.inf])
def test_it_must_start_within_its_bounds(nu):
    with pytest.raises(ValueError, match="must start within"):
        for_space(SPACES["S2"], nu=nu, learn_nu=True)


def test_a_constraint_may_be_given():
    kernel = for_space(SPACES["S2"], nu=0.5, learn_nu=True, nu_constraint=Interval(0.4, 0.6))

    kernel.raw_nu.data.fill_(1e3)

    assert float(kernel.nu.detach()) == pytest.approx(0.6, rel=1e-6)


def test_the_smoothness_of_a_sample_path_is_found_again():
    found = {}
    for nu in (0.5, 4.0):
        x = random_rows("S2", 120)
        truth = gram(kernel_of("S2", nu=nu, kappa=0.7), x) + 1e-8 * torch.eye(120, dtype=torch.float64)
        costs = torch.linalg.cholesky(truth) @ torch.randn(120, 1, generator=generator(3), dtype=torch.float64)
        kernel = ScaleKernel(for_space(SPACES["S2"], nu=1.5, learn_nu=True)).double()
        model = SingleTaskGP(
            x, (costs - costs.mean()) / costs.std(), covar_module=kernel, train_Yvar=torch.full_like(costs, 2e-6)
        )
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
        found[nu] = float(kernel.base_kernel.nu.detach())

    assert 0.25 < found[0.5] < 1.0
    assert 2.5 < found[4.0] < 8.0


def test_vectors_may_have_a_lengthscale_for_each_coordinate():
    kernel = for_space(SPACES["R3"], nu=2.5, ard=True)
    kernel.lengthscale = torch.tensor([[0.3, 1.0, 4.0]], dtype=torch.float64)
    peer = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=3).double()
    peer.lengthscale = kernel.lengthscale.detach()
    x, y = random_rows("R3", 6).requires_grad_(), random_rows("R3", 5, seed=1)

    ours, theirs = kernel(x, y).to_dense(), peer(x, y).to_dense()

    assert_close(ours, theirs, atol=1e-13, rtol=0.0)
    gradients = [
        torch.autograd.grad(k.sin().sum(), [x, each.raw_lengthscale]) for k, each in ((ours, kernel), (theirs, peer))
    ]
    for mine, other in zip(*gradients, strict=True):
        assert_close(mine, other, atol=1e-8, rtol=1e-7)


def test_a_batch_may_have_lengthscales_for_each_coordinate():
    kernel = for_space(SPACES["R3"], nu=2.5, ard=True, batch_shape=torch.Size([2]))
    kernel.lengthscale = torch.tensor([[[0.3, 1.0, 4.0]], [[1.0, 1.0, 1.0]]], dtype=torch.float64)
    x = random_rows("R3", 6)

    k = gram(kernel, x)

    assert k.shape == (2, 6, 6)
    assert_close(k[1], gram(kernel_of("R3", nu=2.5, kappa=1.0), x), atol=1e-14, rtol=0.0)
