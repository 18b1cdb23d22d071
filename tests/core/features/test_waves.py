"""Waves of spaces of negative curvature: their laws are those that the kernels are defined by."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.features.affine import MinorLaw
from geodrome_core.features.feature_map import Drawn, Features
from geodrome_core.features.hyperbolic import HorocyclicWaves, log_plancherel
from geodrome_core.features.waves import even_points, quantiles
from geodrome_core.geometry.spd import SPD
from geodrome_core.kernels import for_space
from geodrome_core.kernels.heat import hyperbolic_heat
from torch import Tensor

from tests.core.features.cases import deviations, exact, many_products, near_rows, products
from tests.core.kernels.cases import SPACES
from tests.strategies import generator

assert_close = torch.testing.assert_close


@pytest.mark.parametrize("definition", ["paper", "spde", "shifted"])
@pytest.mark.parametrize(("nu", "kappa"), [(0.5, 0.7), (1.5, 8.0)])
@pytest.mark.parametrize("name", ["H2", "H3", "H8", "SPD2", "SPD3"])
def test_each_definition_of_a_kernel_has_its_waves(name, definition, nu, kappa):
    space = SPACES[name]
    kernel = for_space(space, nu=nu, lengthscale=kappa, definition=definition)
    x, y = near_rows(space, 8), near_rows(space, 8, seed=1)

    found = many_products(space, kernel, x, y, count=256, draws=40)

    assert float(deviations(found, exact(kernel, x, y)).abs().max()) < 4


@pytest.mark.parametrize("dim", [2, 3, 5, 8])
def test_waves_are_powers_of_poisson_s_kernel(dim):
    """Of 1 / (x_0 - x_s . b) = (1 - |p|^2) / |p - b|^2; their squared moduli have mean 1 over the boundary."""
    stream = generator(0)
    spatial = 0.4 * torch.randn(5, dim, generator=stream, dtype=torch.float64)
    x = torch.cat([(1 + spatial.square().sum(-1, keepdim=True)).sqrt(), spatial], -1)
    b = torch.randn(20_000, dim, generator=stream, dtype=torch.float64)
    b = b / torch.linalg.vector_norm(b, dim=-1, keepdim=True)
    frequencies = torch.linspace(0, 3, 20_000, dtype=torch.float64)

    amplitude, phase = HorocyclicWaves(b, frequencies).evaluate(x)

    height = -torch.log(x[:, :1] - spatial @ b.mT)
    assert_close(amplitude, torch.exp((dim - 1) / 2 * height), atol=0.0, rtol=1e-12)
    assert_close(phase, frequencies * height, atol=1e-12, rtol=1e-12)
    squares = amplitude.square()
    assert bool(((squares.mean(-1) - 1).abs() < 4 * squares.std(-1) / math.sqrt(20_000)).all())


def spd_products(
    size: int, *, nu: float, kappa: float, definition: str, pairs: tuple[Tensor, Tensor], count: int, draws: int
) -> Tensor:
    """Of the affine-invariant metric, whose law stands alone here."""
    law, stream = MinorLaw(size, nu=nu, kappa=kappa, definition=definition), generator(0)
    found = []
    for _ in range(draws):
        waves = law.draw(even_points(count, law.coordinates, stream), stream)
        found.append(products(Features(None, Drawn([(waves, slice(0, size * size))], count, 2), 0.0), *pairs))
    return torch.stack(found)


SPD3_HEAT = {
    1.0: [0.3261813087, 0.0116422887, 0.0352364646, 0.9312466354],
    2.0: [0.6930530835, 0.2368363279, 0.3376407653, 0.9814810548],
    4.0: [0.8414969881, 0.5133734674, 0.6034890296, 0.9945160425],
}
"""SE kernels of SPD(3), log eig(X^-1 Y) = (1, 0, -1), (2, 0, -2), (1, 1, -2), (0.3, 0.2, 0.1), by kappa.

By the trapezoid rule in three dimensions, from the heat kernel of SL(3, C) (Flensted-Jensen 1978): twelve digits.
"""


@pytest.mark.parametrize("kappa", SPD3_HEAT)
def test_waves_of_matrices_of_three_rows_have_the_exact_heat_kernel(kappa):
    logs = torch.tensor([[1, 0, -1], [2, 0, -2], [1, 1, -2], [0.3, 0.2, 0.1]], dtype=torch.float64)
    root = torch.tensor([[1.0, 0.4, -0.3], [0.0, 0.8, 0.5], [0.2, 0.0, 1.1]], dtype=torch.float64)
    x = (root @ root.mT).flatten().expand(4, -1)
    y = (root @ torch.diag_embed(torch.exp(logs)) @ root.mT).flatten(-2)

    found = spd_products(3, nu=math.inf, kappa=kappa, definition="paper", pairs=(x, y), count=512, draws=60)

    assert float(deviations(found, torch.tensor(SPD3_HEAT[kappa], dtype=torch.float64)).abs().max()) < 4


@pytest.mark.parametrize("size", [2, 3])
def test_both_proposals_of_frequencies_have_one_law(size, monkeypatch):
    """Real symmetric and complex Hermitian matrices propose; acceptance makes up for the difference."""
    manifold = SPD(size)
    pairs = manifold.random(6, generator(1)), manifold.random(6, generator(2))
    found = []
    for border in (0.0, math.inf):
        monkeypatch.setattr("geodrome_core.features.affine.LONG_TIME", border)
        found.append(spd_products(size, nu=math.inf, kappa=3.0, definition="paper", pairs=pairs, count=256, draws=60))

    hermitian, symmetric = found

    both = torch.hypot(hermitian.std(0), symmetric.std(0)) / math.sqrt(60)
    assert bool(((hermitian.mean(0) - symmetric.mean(0)).abs() < 4 * both).all())


@pytest.mark.parametrize("definition", ["spde", "shifted"])
@pytest.mark.parametrize(("nu", "kappa"), [(0.8, 0.7), (1.5, 4.0)])
def test_waves_of_matrices_have_the_spectrum_of_the_definition(nu, kappa, definition):
    """On SPD(2) = R x H^2: integral of u^(nu + 1/2) exp(-b u) times both heat kernels, not normalized."""
    logs = torch.tensor([[0.3, -0.1], [1.0, 0.5], [1.5, -1.5]], dtype=torch.float64)
    x, y = torch.eye(2, dtype=torch.float64).flatten().expand(3, -1), torch.diag_embed(torch.exp(logs)).flatten(-2)
    log_u = torch.arange(-16, 12, 0.1, dtype=torch.float64)
    u, heat = torch.exp(log_u), hyperbolic_heat(2)
    at = heat.at(u / 2)
    w = torch.cosh((logs[:, 0] - logs[:, 1]) / 2) - 1
    curved = heat.panels.evaluate(heat.panels.coefficients(at.h), w)  # (pairs, times)
    flat = torch.exp(-(logs.sum(-1)[:, None] ** 2) / 2 / (4 * u))
    shift = 1 / 8 if definition == "shifted" else 0.0
    # du = u dlog u, and the flat heat kernel has the peak u^(-1/2)
    log_weight = (nu + 1.5 - 0.5) * log_u - (2 * nu / kappa**2 - shift) * u + at.log_peak
    expected = (torch.softmax(log_weight, 0) * flat * curved).sum(-1)

    found = spd_products(2, nu=nu, kappa=kappa, definition=definition, pairs=(x, y), count=512, draws=60)

    assert float(deviations(found, expected).abs().max()) < 4


@pytest.mark.parametrize("dim", [2, 3, 4, 7, 8])
def test_frequencies_of_hyperbolic_spaces_have_plancherel_s_density(dim):
    """|c|^-2 grows as a power of m - 1 for high frequencies, and as the square for low ones."""
    high, low = torch.tensor([1e4, 2e4], dtype=torch.float64), torch.tensor([1e-5, 2e-5], dtype=torch.float64)

    for at, power in ((high, dim - 1), (low, 2)):
        rise = torch.diff(log_plancherel(at, dim)) / math.log(2)
        assert_close(rise, torch.tensor([float(power)], dtype=torch.float64), atol=1e-6, rtol=0.0)


def test_quantiles_invert_the_distribution_function():
    at = torch.linspace(0, 40, 20_001, dtype=torch.float64)
    t = torch.tensor([1e-3, 0.2, 0.5, 0.9, 0.999], dtype=torch.float64)

    assert_close(quantiles(t, at, -at), -torch.log1p(-t), atol=1e-5, rtol=0.0)


@pytest.mark.parametrize("coordinates", [1, 10, 65])
def test_even_points_lie_inside_the_cube_evenly(coordinates):
    points = even_points(1000, coordinates, generator(0))

    assert points.shape == (1000, coordinates)
    assert float(points.min()) > 0
    assert float(points.max()) < 1
    assert float((points.mean(0) - 0.5).abs().max()) < 2e-3
