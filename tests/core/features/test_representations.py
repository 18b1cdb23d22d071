"""Levels of SO(n) from n = 4 on: representations, their dimensions, and the kernels that they add up to."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.features import features_for, prior_sample
from geodrome_core.features.basis import level_bases
from geodrome_core.features.representations import RepresentationLevels, representation_levels
from geodrome_core.kernels import for_space
from torch import Tensor

from tests.core.features.cases import deviations, exact, many_products, products
from tests.core.kernels.cases import gram
from tests.strategies import generator

assert_close = torch.testing.assert_close

every_size = pytest.mark.parametrize("size", [4, 5, 6, 7, 8])


def space(size: int):
    return space_from_spec({"type": "rotation", "dim": size})


def rotations(size: int, count: int, seed: int = 0) -> Tensor:
    return space(size).manifold.random(count, generator(seed))


def zonal(levels: RepresentationLevels, x: Tensor, y: Tensor, level: int) -> Tensor:
    return levels.zonal(x, y, torch.full((len(y),), level))


@every_size
def test_the_first_representations_are_the_trivial_the_vector_and_the_tensors(size):
    """Of two indices: the adjoint one, of dimension n (n - 1) / 2, and the symmetric traceless one."""
    levels = representation_levels(size)
    assert_close(levels.multiplicities, levels.multiplicities.round(), atol=0.0, rtol=1e-12)
    found = set(zip(levels.eigenvalues[:20].tolist(), levels.multiplicities[:20].round().tolist(), strict=True))

    adjoint, traceless = size * (size - 1) // 2, size * (size + 1) // 2 - 1
    # Of SO(4) the adjoint representation is a sum of two.
    assert {(0.0, 1.0), (size - 1.0, float(size**2)), (2.0 * size, float(traceless**2))} <= found
    assert (2.0 * (size - 2), float(2 * 3**2 if size == 4 else adjoint**2)) in found
    assert bool((torch.diff(levels.eigenvalues) >= 0).all())


@every_size
def test_characters_of_vectors_and_adjoint_matrices_are_traces(size):
    levels = representation_levels(size)
    x, y = rotations(size, 6), rotations(size, 1, seed=1)
    r = y.unflatten(-1, (size, size)).mT @ x.unflatten(-1, (size, size))
    trace = torch.diagonal(r, dim1=-2, dim2=-1).sum(-1)
    squares = torch.diagonal(r @ r, dim1=-2, dim2=-1).sum(-1)
    adjoint = (trace**2 - squares) / (size * (size - 1))

    level = levels.eigenvalues.tolist().index(2.0 * (size - 2))

    assert_close(zonal(levels, x, y, 0)[:, 0], torch.ones(6, dtype=torch.float64), atol=1e-13, rtol=0.0)
    assert_close(zonal(levels, x, y, 1)[:, 0], trace / size, atol=1e-13, rtol=0.0)
    assert_close(zonal(levels, x, y, level)[:, 0], adjoint, atol=1e-13, rtol=0.0)


@every_size
def test_heat_kernels_are_sums_of_characters(size):
    """Another way to the same kernels than the determinant over all representations."""
    levels, kappa = representation_levels(size), 0.9
    x, y = rotations(size, 8), rotations(size, 1, seed=1)
    x[0] = y[0]
    shares = levels.shares(math.inf, kappa)

    series = levels.zonal(x, y.expand(len(shares), -1), torch.arange(len(shares))) @ shares

    assert float(shares.sum()) == pytest.approx(1, abs=1e-10)
    kernel = for_space(space(size), nu=math.inf, lengthscale=kappa)
    assert_close(series, gram(kernel, x, y)[:, 0], atol=1e-10, rtol=0.0)


@pytest.mark.parametrize("size", [4, 5, 6])
def test_matern_kernels_are_sums_of_characters_but_for_what_is_left_out(size):
    levels = representation_levels(size)
    x, y = rotations(size, 8), rotations(size, 1, seed=1)
    shares = levels.shares(4.5, 1.5)

    series = levels.zonal(x, y.expand(len(shares), -1), torch.arange(len(shares))) @ shares

    left_out = 1 - float(shares.sum())
    assert 0 < left_out < 1e-3
    error = series - gram(for_space(space(size), nu=4.5, lengthscale=1.5), x, y)[:, 0]
    assert float(error.abs().max()) <= left_out + 1e-10


@pytest.mark.parametrize("size", [4, 5])
def test_a_basis_reproduces_the_zonal_function_of_its_level(size):
    levels = representation_levels(size)
    x = rotations(size, 30)

    for level, basis in level_bases(levels, (0, 1, 2, 3), generator(0)).items():
        phi = zonal(levels, x, basis.centres, level) @ basis.mix

        assert phi.shape[-1] == int(levels.multiplicities[level])
        assert_close(phi @ phi.mT, zonal(levels, x, x, level), atol=1e-11, rtol=0.0)


def test_fourth_moments_of_the_vectors_are_known():
    """The mean of tr(R)^4 over SO(n), n > 4, is 3: the square of the vectors has three irreducible parts."""
    for size in (5, 6):
        assert float(representation_levels(size).fourth_moments[1]) == pytest.approx(3, rel=0.2)
    assert float(representation_levels(4).fourth_moments[1]) == pytest.approx(4, rel=0.2)


def test_features_are_right_in_the_mean():
    kernel = for_space(space(4), nu=2.5, lengthscale=1.0)
    x = rotations(4, 1).expand(8, -1)
    y = space(4).manifold.exp(x, space(4).manifold.project(x, 0.7 * rotations(4, 8, seed=1)))

    found = many_products(space(4), kernel, x, y, count=300, draws=60)

    left_out = features_for(space(4), kernel, count=300, generator=generator(0)).variance_left_out
    error = (found.mean(0) - exact(kernel, x, y)).abs()
    assert bool(((deviations(found, exact(kernel, x, y)).abs() < 4) | (error <= 2 * left_out)).all())


def test_samples_of_the_prior_have_two_derivatives():
    kernel = for_space(space(4), nu=2.5, lengthscale=1.0)
    f = prior_sample(features_for(space(4), kernel, count=120, generator=generator(0)), generator(1))
    x = rotations(4, 1)[0].requires_grad_()

    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    (bent,) = torch.autograd.grad(gradient.sum(), x)

    assert bool(torch.isfinite(gradient).all())
    assert bool(torch.isfinite(bent).all())


def test_smooth_kernels_are_kept_to_rounding():
    kernel = for_space(space(4), nu=math.inf, lengthscale=3.0)
    features = features_for(space(4), kernel, count=900, generator=generator(0))
    x, y = rotations(4, 20), rotations(4, 20, seed=1)

    error = exact(kernel, x, y) - products(features, x, y)

    assert features.exact_count > 100
    assert float(error.abs().max()) < 1e-4
