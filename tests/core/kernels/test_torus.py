"""Kernels of tori: the lattice, the circles, and what turns into what."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space
from geodrome_core.kernels.torus import CirclesMatern, TorusMatern
from torch import Tensor

from tests.core.kernels.cases import every_smoothness, gram
from tests.strategies import generator

assert_close = torch.testing.assert_close


def torus(dim: int, *, nu: float, kappa: float | list[float], ard: bool = False):
    kernel = for_space(space_from_spec({"type": "torus", "dim": dim}), nu=nu, ard=ard)
    kernel.lengthscale = torch.tensor(kappa, dtype=torch.float64)
    return kernel


def angles(dim: int, count: int, seed: int = 0) -> Tensor:
    return math.pi * (1 - 2 * torch.rand(count, dim, generator=generator(seed), dtype=torch.float64))


def on_circle(angle: Tensor) -> Tensor:
    return torch.cat([torch.cos(angle), torch.sin(angle)], -1)


def lattice_sum(dim: int, between: np.ndarray, nu: float, kappa: float, reach: int) -> float:
    """Sum of (2 nu / kappa^2 + |k|^2)^(-nu - dim / 2) cos(k . between) over |k_i| <= reach, normalized."""
    axes = np.meshgrid(*dim * [np.arange(-reach, reach + 1)], indexing="ij")
    k = np.stack([axis.ravel() for axis in axes], -1)
    spectrum = (2 * nu / kappa**2 + (k**2).sum(-1)) ** (-nu - dim / 2)
    return float((spectrum * np.cos(k @ between)).sum() / spectrum.sum())


@pytest.mark.parametrize(("dim", "nu", "kappa", "reach"), [(1, 2.5, 0.5, 4000), (2, 4.5, 0.7, 400), (3, 6.5, 1.5, 60)])
def test_the_spectrum_is_that_of_the_lattice(dim, nu, kappa, reach):
    x = angles(dim, 6)

    k = gram(torus(dim, nu=nu, kappa=kappa), x)

    for i, j in itertools.combinations(range(6), 2):
        assert float(k[i, j]) == pytest.approx(lattice_sum(dim, (x[i] - x[j]).numpy(), nu, kappa, reach), abs=1e-12)


@every_smoothness
@pytest.mark.parametrize("kappa", [0.01, 0.3, 1.0, 5.0, 100.0])
def test_one_circle_is_the_sphere_of_dimension_one(nu, kappa):
    x = angles(1, 20)
    circle = for_space(space_from_spec({"type": "sphere", "dim": 1}), nu=nu, lengthscale=kappa)

    expected = gram(circle, on_circle(x))

    assert_close(gram(torus(1, nu=nu, kappa=kappa), x), expected, atol=1e-13, rtol=0.0)
    assert_close(gram(torus(1, nu=nu, kappa=[kappa], ard=True), x), expected, atol=1e-13, rtol=0.0)


@pytest.mark.parametrize("kappa", [0.1, 1.0, 5.0])
def test_the_heat_kernel_of_a_torus_is_the_product_of_its_circles(kappa):
    x = angles(3, 12)

    whole, product = torus(3, nu=math.inf, kappa=kappa), torus(3, nu=math.inf, kappa=3 * [kappa], ard=True)

    assert isinstance(whole, TorusMatern)
    assert isinstance(product, CirclesMatern)
    assert_close(gram(whole, x), gram(product, x), atol=1e-14, rtol=0.0)


def test_other_kernels_of_a_torus_are_no_product():
    x = angles(3, 12)

    whole, product = torus(3, nu=1.5, kappa=1.0), torus(3, nu=1.5, kappa=3 * [1.0], ard=True)

    assert float((gram(whole, x) - gram(product, x)).abs().max()) > 0.01


@every_smoothness
def test_each_joint_may_have_a_lengthscale_of_its_own(nu):
    x, scales = angles(3, 12), [0.3, 1.0, 4.0]

    k = gram(torus(3, nu=nu, kappa=scales, ard=True), x)

    parts = [gram(torus(1, nu=nu, kappa=scale), x[:, [joint]]) for joint, scale in enumerate(scales)]
    assert_close(k, parts[0] * parts[1] * parts[2], atol=1e-14, rtol=0.0)


@every_smoothness
@pytest.mark.parametrize("ard", [False, True])
def test_turning_joints_all_the_way_round_changes_nothing(nu, ard):
    kernel = torus(3, nu=nu, kappa=3 * [0.8] if ard else 0.8, ard=ard)
    x = angles(3, 12)
    turns = 2 * math.pi * torch.tensor([1.0, -2.0, 0.0], dtype=torch.float64)

    k = gram(kernel, x)

    for moved in (x + turns, x + torch.tensor([0.4, -2.0, 3.0]), -x, x.flip(-1)):
        assert_close(gram(kernel, moved), k, atol=1e-12, rtol=0.0)
    assert_close(gram(kernel, x, x + turns), k, atol=3e-8 if nu == 0.5 else 1e-12, rtol=0.0)  # turns round by 1e-15


@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_a_short_lengthscale_does_not_feel_the_way_round(nu):
    x = 0.05 * angles(4, 12)
    flat = for_space(space_from_spec({"type": "euclidean", "dim": 4}), nu=nu, lengthscale=0.1)

    assert_close(gram(torus(4, nu=nu, kappa=0.1), x), gram(flat, x), atol=1e-13, rtol=0.0)


@pytest.mark.parametrize("nu", [2.5, math.inf])
def test_a_matrix_of_many_joints_has_gradients(nu):
    kernel = torus(16, nu=nu, kappa=6.0)
    x = (0.5 * angles(16, 40)).requires_grad_()

    k = kernel(x).to_dense()
    k.sum().backward()

    assert float(torch.linalg.eigvalsh(k.detach())[0]) > -1e-12
    assert bool(torch.isfinite(x.grad).all())
    assert float(x.grad.abs().max()) > 0
