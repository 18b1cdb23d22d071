"""Tori of few joints: their frequencies, one by one."""

from __future__ import annotations

import math

import pytest
from geodrome_core import space_from_spec
from geodrome_core.features import features_for
from geodrome_core.features.lattice import lattice_shares
from geodrome_core.kernels import for_space

from tests.core.features.cases import exact, products
from tests.strategies import generator


def torus(dim: int):
    return space_from_spec({"type": "torus", "dim": dim})


@pytest.mark.parametrize(("dim", "nu", "kappa"), [(1, 2.5, 0.5), (2, 2.5, 0.7), (3, 4.5, 1.5), (2, math.inf, 0.3)])
def test_shares_are_those_of_the_lattice_and_sum_to_one(dim, nu, kappa):
    shares = lattice_shares(dim, nu, kappa)

    assert shares.dim() == dim
    assert float(shares.sum()) == pytest.approx(1, abs=1e-6)
    origin, axis, diagonal = shares[(0,) * dim], shares[(3, *(0,) * (dim - 1))], shares[(1,) * dim]
    spectrum = (
        (lambda square: math.exp(-(kappa**2) / 2 * square))
        if math.isinf(nu)
        else lambda square: (1 + square * kappa**2 / (2 * nu)) ** (-nu - dim / 2)
    )
    assert float(axis / origin) == pytest.approx(2 * spectrum(9), rel=1e-12)
    assert float(diagonal / origin) == pytest.approx(2**dim * spectrum(dim), rel=1e-12)


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize(("dim", "count"), [(1, 64), (2, 500), (3, 1500)])
def test_frequencies_that_are_kept_are_exact(dim, count, ard):
    """The error is at most what is left out and what is random."""
    space = torus(dim)
    kernel = for_space(space, nu=math.inf, lengthscale=1.0, ard=ard)
    x, y = (space.manifold.random(30, generator(seed)) for seed in (0, 1))

    features = features_for(space, kernel, count=count, generator=generator(2))

    assert features.exact_count > count / 3
    assert float((products(features, x, y) - exact(kernel, x, y)).abs().max()) < (1e-12 if dim == 1 else 1e-4)


def test_tori_of_many_joints_have_random_frequencies():
    space = torus(5)

    features = features_for(space, for_space(space, nu=2.5), count=100, generator=generator(0))

    assert features.exact_count == 0
    assert features.variance_left_out == 0
