"""Levels of compact spaces, and the exact bases made of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import torch
from geodrome_core.features.basis import ExactLevels, level_bases
from geodrome_core.features.levels import Levels, rotation_levels, sphere_levels
from geodrome_core.kernels import for_space
from hypothesis import given
from torch import Tensor

from tests.core.kernels.cases import SPACES, gram
from tests.strategies import generator, seeds

assert_close = torch.testing.assert_close

LEVELS: dict[str, Levels] = {
    "S1": sphere_levels(1),
    "S2": sphere_levels(2),
    "S3": sphere_levels(3),
    "S10": sphere_levels(10),
    "SO2": rotation_levels(2),
    "SO3": rotation_levels(),
}

every_space = pytest.mark.parametrize("name", LEVELS)


def uniform_points(levels: Levels, count: int, seed: int = 0) -> Tensor:
    return levels.point(torch.randn(count, levels.normals, generator=generator(seed), dtype=torch.float64))


def zonal(levels: Levels, x: Tensor, y: Tensor, level: int) -> Tensor:
    return levels.zonal(x, y, torch.full((len(y),), level))


@every_space
def test_a_level_has_as_many_functions_as_its_multiplicity_says(name):
    levels = LEVELS[name]
    for level in range(4):
        size = int(levels.multiplicities[level])
        x = uniform_points(levels, size + 20)

        assert int(torch.linalg.matrix_rank(zonal(levels, x, x, level), hermitian=True)) == size


@pytest.mark.parametrize(
    ("name", "alpha", "beta"),
    [("S1", -0.5, -0.5), ("SO2", -0.5, -0.5), ("S2", 0, 0), ("S10", 4, 4), ("SO3", 0.5, -0.5)],
)
def test_zonal_functions_are_normalized_jacobi_polynomials(name, alpha, beta):
    levels = LEVELS[name]
    x, y = uniform_points(levels, 30), uniform_points(levels, 1, seed=1)
    cosine = (x @ y.mT)[:, 0].numpy()
    cosine = {"SO2": cosine / 2, "SO3": (cosine - 1) / 2}.get(name, cosine)

    for level in (0, 1, 2, 7, 40, 300):
        expected = scipy.special.eval_jacobi(level, alpha, beta, cosine) / scipy.special.eval_jacobi(
            level, alpha, beta, 1
        )
        # The cosine itself is off by 1e-16, and the slope grows as the level squared.
        np.testing.assert_allclose(zonal(levels, x, y, level)[:, 0].numpy(), expected, atol=1e-15 * (10 + level**2))


@every_space
@pytest.mark.parametrize(("nu", "kappa"), [(2.5, 1.0), (3.2, 3.0), (math.inf, 0.3), (math.inf, 1.0)])
def test_zonal_functions_weighed_by_their_shares_are_the_kernel(name, nu, kappa):
    levels = LEVELS[name]
    x, y = uniform_points(levels, 12), uniform_points(levels, 1, seed=1)
    shares = levels.shares(nu, kappa)
    assert abs(1 - float(shares.sum())) < 1e-11

    series = levels.zonal(x, y.expand(len(shares), -1), torch.arange(len(shares))) @ shares

    assert_close(series, gram(for_space(SPACES[name], nu=nu, lengthscale=kappa), x, y)[:, 0], atol=1e-11, rtol=0.0)


@pytest.mark.parametrize("kappa", [0.1, 1.0, 5.0])
def test_shares_of_rough_kernels_are_known_beyond_the_last_level(kappa):
    """On the circle with nu = 1/2, the sum of 1 / (b + l^2) over all integers is pi coth(pi sqrt b) / sqrt b."""
    rate = 1 / kappa**2
    level = torch.arange(512, dtype=torch.float64)
    total = math.pi / math.tanh(math.pi * math.sqrt(rate)) / math.sqrt(rate)

    expected = torch.where(level > 0, 2.0, 1.0) / (rate + level**2) / total

    assert_close(LEVELS["S1"].shares(0.5, kappa), expected, atol=1e-13, rtol=1e-11)


@pytest.mark.parametrize(("name", "moment"), [("S3", lambda level: level + 1), ("SO3", lambda level: 2 * level + 1)])
def test_fourth_moments_of_characters_count_representations(name, moment):
    """The mean of |chi|^4 is the number of irreducible parts of the representation's square, Clebsch and Gordan."""
    expected = torch.tensor([moment(level) for level in range(100)], dtype=torch.float64)

    assert_close(LEVELS[name].fourth_moments[:100], expected, atol=0.0, rtol=1e-6)


@every_space
@given(seed=seeds)
def test_a_basis_reproduces_the_zonal_function_of_its_level(name, seed):
    levels = LEVELS[name]
    x = uniform_points(levels, 40, seed)
    chosen = (0, 1, 3) if name == "S10" else (0, 1, 5, 8)

    for level, basis in level_bases(levels, chosen, generator(seed)).items():
        phi = zonal(levels, x, basis.centres, level) @ basis.mix

        assert phi.shape[-1] == int(levels.multiplicities[level])
        assert_close(phi @ phi.mT, zonal(levels, x, x, level), atol=1e-12, rtol=0.0)


def test_a_basis_of_a_product_reproduces_the_product_of_the_zonal_functions():
    parts = [(LEVELS["S2"], slice(0, 3)), (LEVELS["SO3"], slice(3, 12))]
    chosen = torch.tensor([[0, 0], [2, 1], [1, 2]])
    exact = ExactLevels(parts, chosen, generator(0))
    x = torch.cat([uniform_points(LEVELS["S2"], 20), uniform_points(LEVELS["SO3"], 20)], -1)

    phi = exact.evaluate(x)

    assert exact.count == 1 + 5 * 9 + 3 * 25
    for row, (first, second) in enumerate(chosen.tolist()):
        mine = phi[:, exact.owner == row]
        expected = zonal(LEVELS["S2"], x[:, :3], x[:, :3], first) * zonal(LEVELS["SO3"], x[:, 3:], x[:, 3:], second)
        assert_close(mine @ mine.mT, expected, atol=1e-12, rtol=0.0)
