"""What fits and searches evaluate, against the kernels themselves and autograd."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.kernels import for_space
from geodrome_core.kernels.of_scales import matrix
from geodrome_core.kernels.parts import around, parts_of, scaling
from gpytorch.kernels import Kernel
from torch import Tensor

from tests.core.kernels.cases import (
    SPACES,
    crowded_rows,
    every_smoothness,
    every_space,
    gram,
    kernel_of,
    manifold_of,
    random_rows,
)
from tests.strategies import generator

assert_close = torch.testing.assert_close

COUNT = 12

BY_AUTOGRAD = {"SO2", "SO4", "SO5"}

WITH_SEVERAL_SCALES = ["R3", "T2", "T4", "log-SPD3", "cholesky-SPD3"]


def several_scales(name: str, nu: float) -> Kernel:
    """A kernel with a lengthscale for each coordinate, all of them different."""
    kernel = for_space(SPACES[name], nu=nu, ard=True)
    kernel.lengthscale = torch.linspace(0.6, 1.2, kernel.lengthscale.numel(), dtype=torch.float64).unsqueeze(0)
    return kernel


def scales_of(kernel: Kernel) -> Tensor:
    return torch.cat([part.lengthscale.detach().flatten() for part in parts_of(kernel)])


def assert_expanded(kernel: Kernel, x: Tensor, y: Tensor, name: str) -> None:
    """Compares value, slopes and a weighted sum of Hessians with those of autograd, on the manifold's retraction."""
    manifold = manifold_of(name)
    weights = torch.randn(len(x), len(y), generator=generator(2), dtype=torch.float64)
    xi = torch.zeros(len(x), manifold.dim, dtype=torch.float64, requires_grad=True)
    value = kernel(manifold.retract(x, manifold.tangent(x, xi)), y).to_dense()
    (slope,) = torch.autograd.grad((weights * value).sum(), xi, create_graph=True)
    rows = [torch.autograd.grad(slope[:, i].sum(), xi, retain_graph=True)[0] for i in range(manifold.dim)]
    hessian = torch.stack(rows, 1)

    expansion = around(kernel, y)
    assert expansion is not None
    found = expansion(x)

    assert_close(found.value, value.detach(), atol=1e-13, rtol=0)
    assert_close((found.slope @ weights.unsqueeze(-1)).squeeze(-1), slope.detach(), atol=1e-11, rtol=1e-11)
    assert_close(found.bend(weights), hessian, atol=1e-10, rtol=1e-10)


@every_smoothness
@pytest.mark.parametrize("name", [name for name in SPACES if name not in BY_AUTOGRAD])
def test_expansions_are_those_of_autograd(name, nu):
    assert_expanded(kernel_of(name, nu=nu, kappa=0.8), random_rows(name, 3, seed=1), random_rows(name, COUNT), name)


@every_smoothness
@pytest.mark.parametrize("name", WITH_SEVERAL_SCALES)
def test_expansions_with_several_scales_are_those_of_autograd(name, nu):
    assert_expanded(several_scales(name, nu), random_rows(name, 3, seed=1), random_rows(name, COUNT), name)


@pytest.mark.parametrize("name", [name for name in SPACES if name not in BY_AUTOGRAD])
def test_expansions_are_finite_where_points_coincide_or_are_opposite(name):
    y = crowded_rows(name, 20)

    for nu in (0.5, 2.5, math.inf):
        expansion = around(kernel_of(name, nu=nu, kappa=0.8), y)
        assert expansion is not None
        found = expansion(y)

        parts = [found.value, found.slope, found.bend(torch.ones(len(y), len(y), dtype=torch.float64))]
        assert all(bool(torch.isfinite(part).all()) for part in parts)


@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
def test_as_many_points_as_observations_are_no_set_with_itself(name):
    """So many pairs that they are evaluated in chunks."""
    x, y = random_rows(name, 140, seed=1), random_rows(name, 140)
    kernel = kernel_of(name, nu=2.5, kappa=0.8)

    expansion = around(kernel, y)

    assert expansion is not None
    assert_close(expansion(x).value, kernel(x, y).to_dense(), atol=1e-13, rtol=0)


@pytest.mark.parametrize("name", sorted(BY_AUTOGRAD))
def test_other_kernels_have_no_expansion(name):
    assert around(kernel_of(name, nu=2.5), random_rows(name, 2)) is None


@every_smoothness
@every_space
def test_covariances_of_fixed_points_are_the_kernel_s_at_every_scale(name, nu):
    x = crowded_rows(name, COUNT)
    of_scales = scaling(kernel_of(name, nu=nu, kappa=1.0), x)

    for kappa in (0.3, 2.0):
        kernel = kernel_of(name, nu=nu, kappa=kappa)
        found = of_scales(nu, scales_of(kernel))

        assert_close(matrix(found.value, len(x), diagonal=1.0), gram(kernel, x), atol=1e-13, rtol=0)


@pytest.mark.parametrize("nu", [0.5, 2.5, 3.2])
@pytest.mark.parametrize("name", [*SPACES, *(f"{name}, several" for name in WITH_SEVERAL_SCALES)])
def test_their_derivatives_are_differences_of_values(name, nu):
    is_several = name.endswith("several")
    name = name.removesuffix(", several")
    kernel = several_scales(name, nu) if is_several else kernel_of(name, nu=nu, kappa=0.9)
    scales, step = scales_of(kernel), 1e-4
    of_scales = scaling(kernel, crowded_rows(name, COUNT))

    found = of_scales(nu, scales)

    for slope, direction in zip(found.by_kappa, torch.eye(len(scales), dtype=torch.float64), strict=True):
        above, below = (of_scales(nu, scales + sign * step * direction).value for sign in (1, -1))
        assert_close(slope, (above - below) / (2 * step), atol=3e-7, rtol=1e-6)
    above, below = (of_scales(nu + sign * step, scales).value for sign in (1, -1))
    assert_close(found.by_nu, (above - below) / (2 * step), atol=3e-7, rtol=1e-6)


def test_the_heat_kernel_does_not_change_with_nu():
    for name in ("R3", "S2", "T2", "SPD2", "SPD3", "SO4", "pose"):
        kernel = kernel_of(name, nu=math.inf)

        found = scaling(kernel, random_rows(name, 4))(math.inf, scales_of(kernel))

        assert not bool(found.by_nu.any())
