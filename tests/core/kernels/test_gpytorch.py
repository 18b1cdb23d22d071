"""Kernels as GPyTorch and BoTorch use them: batches, lengthscales, other kernels around them, models on top."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import gpytorch
import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from geodrome_core import space_from_spec
from geodrome_core.geometry.spd import SPD
from geodrome_core.kernels import for_space
from geodrome_core.kernels.factory import matern
from geodrome_core.kernels.isotropic import EuclideanMatern, RotationMatern, SphereMatern
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.spd import SPDMatern
from gpytorch.kernels import ProductKernel, ScaleKernel

from tests.core.kernels.cases import SPACES, every_space, gram, kernel_of, manifold_of, random_rows

assert_close = torch.testing.assert_close


@every_space
def test_points_of_32_bits_are_computed_in_64(name):
    kernel = kernel_of(name, nu=2.5)
    x, y = random_rows(name, 6).float(), random_rows(name, 4, seed=1).float()

    k = gram(kernel, x, y)

    assert k.dtype == torch.float64
    assert torch.equal(k, gram(kernel, x.double(), y.double()))


FIRST_USE = """
import torch
from tests.core.kernels.cases import SPACES, gram, kernel_of, random_rows
for name in SPACES:
    for nu in (0.5, float("inf")):
        x = random_rows(name, 4)
        with torch.{mode}():
            first = kernel_of(name, nu=nu)(x).to_dense().clone()
        x.requires_grad_()
        k = kernel_of(name, nu=nu)(x).to_dense()
        k.sum().backward()
        assert torch.isfinite(x.grad).all(), name
        assert (k - first).abs().max() < 1e-14, name
"""


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_kernel_may_be_used_first_where_gradients_are_turned_off(mode):
    """Tables are made at first use, in a process of its own here, and serve later calls with gradients."""
    root = Path(__file__).parents[3]

    subprocess.run([sys.executable, "-c", FIRST_USE.format(mode=mode)], cwd=root, check=True, timeout=300)


@every_space
def test_the_diagonal_is_that_of_the_matrix(name):
    kernel = kernel_of(name, nu=1.5)
    x, y = random_rows(name, 6), random_rows(name, 6, seed=1)

    assert_close(kernel(x, y, diag=True).detach(), torch.diagonal(gram(kernel, x, y)), atol=1e-15, rtol=0.0)
    assert_close(kernel(x, x, diag=True).detach(), torch.ones(6, dtype=torch.float64), atol=1e-15, rtol=0.0)
    batch = x.reshape(2, 3, -1)
    assert kernel(batch, batch, diag=True).shape == (2, 3)


@pytest.mark.parametrize("nu", [0.5, math.inf])
@every_space
def test_batches_of_points_give_a_matrix_each(name, nu):
    kernel = kernel_of(name, nu=nu)
    x, y = random_rows(name, 24), random_rows(name, 5, seed=1)
    batch = x.reshape(2, 3, 4, -1)

    against = kernel(batch, y).to_dense().detach()
    itself = kernel(batch).to_dense().detach()

    assert against.shape == (2, 3, 4, 5)
    assert itself.shape == (2, 3, 4, 4)
    for i in range(2):
        for j in range(3):
            assert_close(against[i, j], gram(kernel, batch[i, j], y), atol=1e-15, rtol=0.0)
            assert_close(itself[i, j], gram(kernel, batch[i, j]), atol=1e-15, rtol=0.0)


@pytest.mark.parametrize("kind", [EuclideanMatern, SphereMatern, RotationMatern, SPDMatern])
@pytest.mark.parametrize("nu", [1.5, math.inf])
def test_a_batch_of_lengthscales_gives_a_matrix_each(kind, nu):
    name = {EuclideanMatern: "R3", SphereMatern: "S2", RotationMatern: "SO3", SPDMatern: "SPD2"}[kind]
    scales = [0.3, 1.0, 2.0]
    kernel = kind(nu=nu, batch_shape=torch.Size([3]))
    kernel.lengthscale = torch.tensor(scales, dtype=torch.float64).reshape(3, 1, 1)
    x, y = random_rows(name, 4), random_rows(name, 5, seed=1)

    for found in (kernel(x, y), kernel(x.expand(3, -1, -1), y), kernel(x.expand(2, 3, -1, -1), y)):
        k = found.to_dense().detach()
        assert k.shape[-3:] == (3, 4, 5)
        for matrix, scale in zip(k.reshape(-1, 3, 4, 5)[-1], scales, strict=True):
            assert_close(matrix, gram(kernel_of(name, nu=nu, kappa=scale), x, y), atol=1e-14, rtol=0.0)
    assert kernel(x, x, diag=True).shape == (3, 4)


@every_space
def test_no_points_give_an_empty_matrix(name):
    kernel, x = kernel_of(name, nu=2.5), random_rows(name, 3)

    assert gram(kernel, x[:0], x).shape == (0, 3)
    assert gram(kernel, x[:0]).shape == (0, 0)


def test_active_dims_choose_the_columns_of_a_factor():
    x = torch.cat([random_rows("R3", 5), random_rows("S2", 5), random_rows("SPD2", 5)], -1)
    kernel = SphereMatern(nu=2.5, active_dims=(3, 4, 5))
    kernel.lengthscale = torch.tensor(0.7, dtype=torch.float64)

    assert_close(gram(kernel, x), gram(kernel_of("S2", nu=2.5, kappa=0.7), x[:, 3:6]), atol=0.0, rtol=0.0)


def test_a_manifold_s_numbers_cannot_be_taken_one_by_one():
    x = random_rows("S2", 3)

    with pytest.raises(ValueError, match="cannot be split"):
        SphereMatern().forward(x, x, last_dim_is_batch=True)


@every_space
def test_a_scale_kernel_scales(name):
    x, y = random_rows(name, 6), random_rows(name, 4, seed=1)
    kernel = ScaleKernel(kernel_of(name, nu=2.5)).double()
    kernel.outputscale = 3.0

    assert_close(gram(kernel, x, y), 3 * gram(kernel_of(name, nu=2.5), x, y), atol=1e-14, rtol=0.0)
    assert_close(gram(kernel, x), 3 * gram(kernel_of(name, nu=2.5), x), atol=1e-14, rtol=0.0)


@every_space
def test_a_botorch_model_has_the_posterior_of_the_textbook(name):
    """Rasmussen and Williams 2006, equations 2.25 and 2.26."""
    manifold = manifold_of(name)
    x, new = random_rows(name, 8), random_rows(name, 5, seed=1)
    costs = manifold.distance(x, x[:1].expand_as(x)).unsqueeze(-1)
    costs = (costs - costs.mean()) / costs.std()
    kernel = ScaleKernel(kernel_of(name, nu=2.5)).double()
    model = SingleTaskGP(
        x, costs, covar_module=kernel, train_Yvar=torch.full_like(costs, 0.01), mean_module=gpytorch.means.ZeroMean()
    )
    model.eval()

    with gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False):
        posterior = model.posterior(new)
        mean, variance = posterior.mean.detach().squeeze(-1), posterior.variance.detach().squeeze(-1)

    gain = torch.linalg.solve(gram(kernel, x) + 0.01 * torch.eye(8, dtype=torch.float64), gram(kernel, x, new)).mT
    outputscale = kernel.outputscale.detach()
    assert_close(mean, (gain @ costs).squeeze(-1), atol=1e-7, rtol=1e-7)
    assert_close(variance, outputscale - (gain * gram(kernel, x, new).mT).sum(-1), atol=1e-7, rtol=1e-7)


def test_botorch_fits_the_lengthscale():
    """The costs change over the whole of the rotations: the marginal likelihood leads to a longer lengthscale."""
    x = random_rows("SO3", 15)
    costs = manifold_of("SO3").distance(x, x[:1].expand_as(x)).unsqueeze(-1)
    kernel = ScaleKernel(kernel_of("SO3", nu=2.5, kappa=0.5)).double()
    model = SingleTaskGP(x, (costs - costs.mean()) / costs.std(), covar_module=kernel)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)

    def value() -> float:
        objective.train()
        return float(objective(model(*model.train_inputs), model.train_targets).detach())

    before = value()
    fit_gpytorch_mll(objective)

    assert value() > before + 0.1
    assert 0.6 < float(kernel.base_kernel.lengthscale.detach()) < 5


# The door


@every_space
def test_the_kernel_of_a_space_starts_at_a_quarter_of_each_diameter(name):
    kernel = kernel_of(name, nu=2.5)

    parts = list(kernel.kernels) if isinstance(kernel, ProductKernel) else [kernel]
    expected = [factor.diameter / 4 for factor in SPACES[name].factors.values()]
    assert [float(part.lengthscale.detach()) for part in parts] == pytest.approx(expected, rel=1e-12)
    assert all(isinstance(part, GeodesicKernel) for part in parts)


def test_lengthscales_are_given_to_all_factors_or_by_name():
    space = SPACES["pose"]

    def scales(lengthscale) -> list[float]:
        return [float(part.lengthscale.detach()) for part in for_space(space, lengthscale=lengthscale).kernels]

    assert scales(0.3) == pytest.approx([0.3, 0.3])
    assert scales({"orientation": 0.3, "position": 0.7}) == pytest.approx([0.7, 0.3])
    assert scales({"orientation": 0.3}) == pytest.approx([math.sqrt(3) / 4, 0.3])


@pytest.mark.parametrize("lengthscale", [0.0, -1.0, math.inf, math.nan, {"orientation": 0.0}, {"tool": 1.0}])
def test_a_lengthscale_that_is_none_is_refused(lengthscale):
    with pytest.raises(ValueError, match="lengthscale"):
        for_space(SPACES["pose"], lengthscale=lengthscale)


@pytest.mark.parametrize("nu", [0.0, 0.09, -1.0, 201.0, -math.inf, math.nan])
def test_a_smoothness_out_of_range_is_refused(nu):
    with pytest.raises(ValueError, match="nu is"):
        for_space(SPACES["S2"], nu=nu)


def test_a_manifold_without_a_kernel_is_named():
    with pytest.raises(TypeError, match="no Matérn kernel is known for SPD of dimension 10"):
        matern(SPD(4), nu=2.5)


def test_bounds_do_not_change_the_kernel_of_a_manifold_but_the_unit_of_reals():
    """Reals are measured in their unit box: a lengthscale of 0.5 is half the range."""
    bounded = space_from_spec({"type": "real", "bounds": [0.0, 10.0]})
    kernel = for_space(bounded, lengthscale=0.5)

    rows = bounded.rows([2.0, 7.0])

    assert float(gram(kernel, rows)[0, 1]) == pytest.approx((1 + math.sqrt(5) + 5 / 3) * math.exp(-math.sqrt(5)))
