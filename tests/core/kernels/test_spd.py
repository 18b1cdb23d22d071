"""The kernels of SPD(2) and SPD(3): the integrals they stand for, their tables, and pairs both near and far."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from geodrome_core.kernels.abel import plane_integral
from geodrome_core.kernels.derivatives import with_derivatives_on_demand
from geodrome_core.kernels.heat_modes import node_times
from geodrome_core.kernels.matern import Definition
from geodrome_core.kernels.shape_tables import fit
from geodrome_core.kernels.spd2_modes import spd2_modes
from geodrome_core.kernels.spd3_heat import integrals, log_eigenvalues
from geodrome_core.kernels.spd3_table import FILE, spd3_modes
from geodrome_core.kernels.spd_pairs import invariants
from torch import Tensor

from tests.core.kernels.cases import gram, kernel_of, random_rows
from tests.core.kernels.test_definitions import covariances
from tests.strategies import generator

assert_close = torch.testing.assert_close


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def gaussian_quotient(eta: Tensor, u: Tensor) -> Tensor:
    """The normalized heat kernel h_u(eta), times exp(|eta|^2 / 4u), by quadrature."""
    return integrals(eta, u) / integrals(torch.zeros(1, 3, dtype=torch.float64), u)


def log_spectra(largest: float, *, count: int = 8) -> Tensor:
    """Log-eigenvalues of mean zero, spread by up to ``largest``: on both walls, beside them and between."""
    spread = torch.exp(torch.linspace(math.log(1e-4), math.log(largest), count, dtype=torch.float64))[:, None]
    middle = tensor(-0.5, -0.4999, -0.2, 0.0, 0.3, 0.5)
    eta = torch.stack(torch.broadcast_tensors(spread / 2, spread * middle, -spread / 2), -1).flatten(0, 1)
    return eta - eta.mean(-1, keepdim=True)


def shape_of(eta: Tensor) -> tuple[Tensor, Tensor]:
    """m, and d squared."""
    return 2 * (torch.sinh(eta / 2) ** 2).sum(-1), torch.sinh(eta).sum(-1) ** 2


# The quadrature of SPD(3)


@pytest.mark.parametrize("u", [0.05, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("eta", [[1.0, 0.1, -1.1], [2.5, 0.9, -3.4]])
def test_the_quadrature_solves_the_radial_heat_equation(u, eta):
    """du p = sum p_ii + sum over i < j of coth((eta_i - eta_j) / 2) (p_i - p_j) / 2, by differences of sixth order.

    Helgason 1984, chapter II.3. The trace part is flat: p is taken on all of SPD(3), where m/2 = 3.
    """
    step, at = 2e-2, tensor(*eta)
    weights = tensor(-1, 9, -45, 0, 45, -9, 1) / 60, tensor(2, -27, 270, -490, 270, -27, 2) / 180
    offsets = torch.arange(-3, 4, dtype=torch.float64) * step

    def log_p(points: Tensor, times: Tensor) -> Tensor:
        integral = integrals(points - points.mean(-1, keepdim=True), times)
        return (
            torch.log(integral) - ((points**2).sum(-1) / 4 + 3 * (times * torch.log(times))[:, None]) / times[:, None]
        )

    lines = torch.stack([at + offsets[:, None] * torch.eye(3, dtype=torch.float64)[i] for i in range(3)])  # (3, 7, 3)
    values = log_p(lines.flatten(0, 1), tensor(u))[0].unflatten(0, (3, 7))
    first, second = values @ weights[0] / step, values @ weights[1] / step**2
    by_time = log_p(at[None], u * (1 + offsets))[:, 0] @ weights[0] / (u * step) - 0.5

    slopes = [(first[i] - first[j]) / (2 * math.tanh((eta[i] - eta[j]) / 2)) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert float(by_time) == pytest.approx(float((second + first**2).sum() + sum(slopes)), abs=1e-8, rel=1e-8)


def test_early_heat_over_its_gaussian_is_the_root_of_the_density():
    """Of the measure: the product of (a / 2) / sinh(a / 2) over differences a of log-eigenvalues."""
    eta = log_spectra(6.0)

    found = gaussian_quotient(eta, tensor(1e-6))[0]

    halves = torch.stack([eta[:, 0] - eta[:, 1], eta[:, 1] - eta[:, 2], eta[:, 0] - eta[:, 2]], -1) / 2
    density = torch.where(halves == 0, 1.0, halves / torch.sinh(halves)).prod(-1)
    assert_close(found, torch.sqrt(density), atol=0.0, rtol=2e-6)


def test_log_eigenvalues_come_back_from_the_invariants():
    eta = log_spectra(40.0)

    m, delta = shape_of(eta)
    found = log_eigenvalues(m, torch.sinh(eta).sum(-1))

    # At equal eigenvalues half the digits are lost, of their sum of squares none.
    assert_close((found**2).sum(-1), (eta**2).sum(-1), atol=0.0, rtol=1e-10)
    assert bool((delta <= 4 * m**3).all())


# The tables


@pytest.mark.parametrize("largest", [0.5, 3.0, 8.0, 20.0])
def test_the_table_of_spd3_has_the_values_of_the_quadrature(largest):
    """Between its nodes, in the shape and in time."""
    modes, u = spd3_modes(), tensor(0.03, 0.9, 7.0, 150.0)
    eta = log_spectra(largest, count=3)

    order, found = modes.panels.evaluate(modes.table.mT.contiguous(), *shape_of(eta))

    gauss = torch.exp(-(eta[order] ** 2).sum(-1) / (4 * u[:, None]))
    expected = gaussian_quotient(eta[order], u)
    assert_close((1 + modes.amplitudes(u) @ found[:-2]) * gauss, expected * gauss, atol=5e-13, rtol=0.0)


def test_the_table_of_spd3_has_the_distance():
    modes, eta = spd3_modes(), log_spectra(8.0, count=30)
    m, delta = shape_of(eta)

    order, found = modes.panels.evaluate(modes.table.mT.contiguous(), m, delta)

    square = m[order] * found[-2] + delta[order] * found[-1]
    assert_close(square, (eta[order] ** 2).sum(-1), atol=0.0, rtol=2e-12)


def test_the_table_of_spd2_has_the_values_of_its_integral():
    modes, u = spd2_modes(), tensor(0.03, 0.9, 7.0, 150.0, 1e4)
    r = torch.exp(torch.linspace(-12, math.log(40), 60, dtype=torch.float64))
    w = 2 * torch.sinh(r / 2) ** 2

    order, found = modes.panels.evaluate(modes.table.mT.contiguous(), w, w)

    points = torch.cat([tensor(0), w[order]])
    gauss = torch.exp(-(r[order] ** 2) / (2 * u[:, None]))
    rows = torch.stack([plane_integral(points, float(time) / 2) for time in u])
    expected = rows[:, 1:] / rows[:, :1]
    assert_close((1 + modes.amplitudes(u) @ found[:-2]) * gauss, expected * gauss, atol=2e-13, rtol=0.0)
    assert_close(w[order] * found[-2], 2 * r[order] ** 2, atol=0.0, rtol=2e-14)


@pytest.mark.parametrize("modes", [spd2_modes, spd3_modes], ids=["SPD2", "SPD3"])
def test_the_modes_vanish_where_points_coincide(modes: Callable):
    table = modes()

    _, found = table.panels.evaluate(table.table.mT.contiguous(), tensor(0), tensor(0))

    # The functions are normalized over thousands of nodes: what they add to the kernel is this times their weight.
    weights = torch.linalg.vector_norm(table.amplitude, dim=0)
    assert float((found[:-2, 0].abs() * weights).max()) < 1e-13
    assert float(found[-2, 0]) == pytest.approx(4 if table.size == 2 else 2, abs=1e-14)


@pytest.mark.parametrize("panel", [1, 7, 30])
def test_a_panel_of_the_table_is_the_fit_of_values_at_its_nodes(panel):
    modes = spd3_modes()
    counts = modes.panels.degrees[panel]
    shape = (max(counts), len(counts))

    order, found = modes.panels.evaluate(
        modes.table.mT.contiguous(), *(part.flatten() for part in modes.panels.nodes(panel, shape))
    )

    values = torch.empty_like(found)
    values[:, order] = found
    again = fit(modes.panels, panel, values.mT.unflatten(0, shape))
    assert_close(again, modes.table[modes.panels.rows[panel]], atol=1e-12, rtol=0.0)


def test_the_peak_of_spd3_is_that_of_the_quadrature():
    u = tensor(0.1, 2.0, 30.0, 1e3)

    found = spd3_modes().log_peak(u) + u / 2

    expected = torch.log(integrals(torch.zeros(1, 3, dtype=torch.float64), u)[:, 0])
    assert_close(found - found[0], expected - expected[0], atol=1e-12, rtol=0.0)


def test_the_shipped_table_is_small_and_its_node_times_are_those_of_the_code():
    with np.load(FILE) as file:
        assert file["amplitude"].shape[0] == file["peak"].shape[0] == len(node_times())

    assert FILE.stat().st_size < 400_000


# The kernels


@pytest.mark.parametrize("definition", ["paper", "spde", "shifted"])
@pytest.mark.parametrize(("nu", "kappa"), [(0.5, 0.4), (1.5, 3.0), (2.5, 1.0), (7.0, 20.0)])
def test_matern_kernels_of_spd3_are_mixtures_of_heat_kernels(nu: float, kappa: float, definition: Definition):
    """The trapezoid rule over 104 times, each of them by quadrature: no table, no interpolation."""
    eta = tensor(1.2, -0.3, -0.9, 0.4, 0.4, -0.8, 2.5, -1.0, -1.5).reshape(3, 3)
    log_u = 0.2 * torch.arange(-50, 54, dtype=torch.float64)
    u = torch.exp(log_u)
    heat, peak = quadrature()
    exponent = nu * log_u - 2 * nu / kappa**2 * u
    if definition != "paper":
        exponent = exponent + torch.log(peak) - (0.5 * u if definition == "spde" else 0)
    # Earlier times have a weight, but at these distances no heat.
    early = 0.2 * torch.arange(-3_000, -50, dtype=torch.float64)
    before = nu * early - 2 * nu / kappa**2 * torch.exp(early)
    if definition != "paper":
        slope = torch.log(peak[1] / peak[0]) / (u[1] - u[0])
        before = before + torch.log(peak[0]) + slope * (torch.exp(early) - u[0])
        before = before - (0.5 * torch.exp(early) if definition == "spde" else 0)
    weights = torch.softmax(torch.cat([before, exponent]), 0)[len(early) :]

    x = torch.diag_embed(torch.cat([torch.zeros(1, 3, dtype=torch.float64), eta]).exp()).flatten(1)
    found = covariances("SPD3", x, nu=nu, kappa=kappa, definition=definition)[0, 1:]

    assert_close(found, weights @ heat, atol=1e-11, rtol=0.0)


CACHE: list[tuple[Tensor, Tensor]] = []


def quadrature() -> tuple[Tensor, Tensor]:
    """Heat kernels (104, 3) and u^3 exp(u / 2) p_u(0), found once."""
    if not CACHE:
        eta = tensor(1.2, -0.3, -0.9, 0.4, 0.4, -0.8, 2.5, -1.0, -1.5).reshape(3, 3)
        u = torch.exp(0.2 * torch.arange(-50, 54, dtype=torch.float64))
        values = integrals(torch.cat([torch.zeros(1, 3, dtype=torch.float64), eta]), u)
        gauss = torch.exp(-(eta**2).sum(-1) / (4 * u[:, None]))
        CACHE.append((values[:, 1:] / values[:, :1] * gauss, values[:, 0]))
    return CACHE[0]


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
def test_diagonal_matrices_know_no_order_of_their_eigenvalues(nu):
    kernel = kernel_of("SPD3", nu=nu, kappa=1.0)
    eta = tensor(0.7, -0.2, 0.1)
    origin = torch.eye(3, dtype=torch.float64).reshape(1, 9)

    found = [
        float(gram(kernel, origin, torch.diag(eta[list(order)].exp()).reshape(1, 9)))
        for order in ((0, 1, 2), (1, 2, 0), (2, 1, 0))
    ]

    assert found[1:] == pytest.approx(found[:1] * 2, abs=1e-15)


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
@pytest.mark.parametrize("exponent", [5, 40, 90])
def test_matrices_worlds_apart_have_no_covariance_and_no_slope(name, nu, exponent):
    """Eigenvalues that differ by a factor of 1e180: nothing overflows."""
    size = int(name[-1])
    kernel = kernel_of(name, nu=nu, kappa=1.0)
    ends = 10.0 ** torch.linspace(-exponent, exponent, size, dtype=torch.float64)
    x = torch.diag(ends).reshape(1, -1).requires_grad_()

    k = kernel(x, torch.diag(ends.flip(0)).reshape(1, -1)).to_dense().squeeze()
    (slope,) = torch.autograd.grad(k, x, create_graph=True)
    (curvature,) = torch.autograd.grad((slope * ends.repeat_interleave(size)).sum(), x)

    assert 0 <= float(k.detach()) + 1e-200 < 1e-5
    assert bool(torch.isfinite(slope).all())
    assert bool(torch.isfinite(curvature).all())


@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
def test_a_large_matrix_of_pairs_is_the_small_ones(name):
    """It is made of strips, halves and chunks, a small one is not."""
    kernel, x = kernel_of(name, nu=2.5, kappa=1.0), random_rows(name, 300)

    k = gram(kernel, x)

    assert_close(gram(kernel, x[:7], x), k[:7], atol=2e-15, rtol=0.0)
    assert_close(gram(kernel, x, x[250:260]), k[:, 250:260], atol=2e-15, rtol=0.0)


# Pairs


@pytest.mark.parametrize("size", [2, 3])
def test_invariants_are_those_of_the_quotient(size):
    name = f"SPD{size}"
    x, y = random_rows(name, 20), random_rows(name, 15, seed=1)

    s, m, d = invariants(x[:, None], y[None])

    quotient = torch.linalg.solve(x.reshape(-1, 1, size, size), y.reshape(1, -1, size, size))
    determinant = torch.linalg.det(quotient)
    quotient = quotient / determinant[..., None, None] ** (1 / size)
    trace = torch.diagonal(quotient, dim1=-2, dim2=-1).sum(-1)
    inverse = torch.diagonal(torch.linalg.inv(quotient), dim1=-2, dim2=-1).sum(-1)
    assert_close(s, torch.log(determinant) ** 2 / size, atol=1e-12, rtol=1e-12)
    assert_close(m, trace / 2 - 1 if size == 2 else (trace + inverse) / 2 - 3, atol=1e-12, rtol=1e-12)
    assert_close(d, torch.zeros_like(m) if size == 2 else (trace - inverse) / 2, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("count", [128, 129, 181, 182, 286])
def test_invariants_of_a_set_with_itself_are_the_same_in_whatever_strips_they_are_computed(size, count):
    """181 and 286 leave a last strip of one row."""
    x = random_rows(f"SPD{size}", count)

    of_set = invariants(x.unsqueeze(-2), x.unsqueeze(-3))
    of_pairs = invariants(x.repeat_interleave(count, 0), x.repeat(count, 1))

    for found, expected in zip(of_set, of_pairs, strict=True):
        torch.testing.assert_close(found.flatten(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
def test_invariants_do_not_tell_who_is_first(size):
    x = random_rows(f"SPD{size}", 200)

    for value, sign in zip(invariants(x[:, None], x[None]), (1, 1, -1), strict=True):
        assert torch.equal(value, sign * value.mT)


@pytest.mark.parametrize("size", [2, 3])
def test_invariants_of_near_matrices_keep_their_digits(size):
    """From X to X + t X they are t^2 and the like; here X changes by a part in 1e9 in each of its directions."""
    x = random_rows(f"SPD{size}", 1)
    root = torch.linalg.cholesky(x.reshape(size, size))
    bend = torch.randn(size, size, generator=generator(3), dtype=torch.float64)
    bend = bend + bend.mT
    bend = bend - torch.trace(bend) / size * torch.eye(size, dtype=torch.float64)

    found = []
    for step in (2.0**-20, 2.0**-21):
        moved = root @ (torch.eye(size, dtype=torch.float64) + step * bend) @ root.mT
        found.append(float(invariants(x, moved.reshape(1, -1))[1]) / step**2)

    assert found[0] == pytest.approx(float((bend**2).sum()) / (4 if size == 2 else 2), rel=1e-5)
    assert found[1] == pytest.approx(found[0], rel=1e-5)


# Derivatives on demand


def test_second_derivatives_are_computed_only_for_a_graph_of_the_first():
    x, y = tensor(0.3, 1.1).requires_grad_(), tensor(2.0, -1.0).requires_grad_()
    asked = []

    def value() -> Tensor:
        a, b = x.detach(), y.detach()

        def second() -> list[list[Tensor]]:
            asked.append(True)
            return [[2 * b, 2 * a], [2 * a, 0 * a]]

        return with_derivatives_on_demand(a * a * b, [(2 * a * b, x), (a * a, y)], second)

    first = torch.autograd.grad(value().sum(), [x, y])
    assert not asked
    assert_close(first, (2 * x * y, x * x), check_stride=False)

    slope_x, slope_y = torch.autograd.grad(value().sum(), [x, y], create_graph=True)
    found = torch.autograd.grad((3 * slope_x + slope_y).sum(), [x, y])
    assert asked == [True]
    assert_close(found, (6 * y + 2 * x, 6 * x))
