"""The pieces that kernels are made of: heat kernels on panels, grids of heat times, and the weights on them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from geodrome_core.kernels.abel import hyperbolic
from geodrome_core.kernels.heat import (
    SHORT_TIME,
    HeatKernel,
    JacobiHeat,
    flat_heat,
    hyperbolic_heat,
    rotation_heat,
    sphere_heat,
)
from geodrome_core.kernels.matern import QUADRATURE_ERROR, grid, steps_per_octave, weights
from geodrome_core.kernels.panels import Panels, panels
from scipy.special import gammaln
from torch import Tensor

assert_close = torch.testing.assert_close

KERNELS = {
    "flat": flat_heat,
    **{f"H{dim}": (lambda dim=dim: hyperbolic_heat(dim)) for dim in (2, 3, 4, 5, 8)},
    "SO3": rotation_heat,
    **{f"S{dim}": (lambda dim=dim: sphere_heat(dim)) for dim in (1, 2, 3, 4, 5, 10, 20, 31)},
}

every_kernel = pytest.mark.parametrize("name", KERNELS)


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "flat"])
def test_the_short_time_expansion_meets_the_series_at_their_border(name):
    """On either side of the border, within a rounding of it, another formula is used."""
    heat = KERNELS[name]().at(tensor(SHORT_TIME * (1 - 1e-15), SHORT_TIME * (1 + 1e-15)))

    for values in (heat.h, heat.q, heat.q2):
        scale = float(values.abs().max())
        assert_close(values[0] / scale, values[1] / scale, atol=2e-13, rtol=0.0)
    assert float(heat.log_peak[0]) == pytest.approx(float(heat.log_peak[1]), abs=1e-12)


@every_kernel
@pytest.mark.parametrize("u", [1e-4, 0.0021, 0.1, 0.499, 0.501, 5.0])
def test_the_height_of_the_peak_falls_by_the_heat_equation(name, u):
    """At coincident points dp/du = L p = m dp/dw, hence d log p / d log u = -m u q."""
    kernel = KERNELS[name]()
    step = 1e-3
    heat = kernel.at(u * tensor(1 - 2 * step, 1 - step, 1, 1 + step, 1 + 2 * step))
    a, b, _, c, d = heat.log_peak.tolist()

    slope = -kernel.dim * u * float(heat.q[2, kernel.panels.knots.argmin()])

    assert (a - 8 * b + 8 * c - d) / (12 * step) == pytest.approx(slope, rel=1e-8, abs=1e-8)


@every_kernel
def test_times_come_back_in_the_order_in_which_they_were_asked(name):
    kernel = KERNELS[name]()
    u = tensor(0.5, 1e-4, 0.02, 1e-6, 3.0)

    together = kernel.at(u)

    for index in range(len(u)):
        alone = kernel.at(u[index : index + 1])
        assert_close(together.h[index], alone.h[0], atol=1e-15, rtol=0.0)
        assert_close(together.q[index], alone.q[0], atol=1e-14, rtol=1e-13)
        if together.log_peak is not None and alone.log_peak is not None:
            assert_close(together.log_peak[index], alone.log_peak[0], atol=1e-12, rtol=0.0)


@every_kernel
def test_heat_kernels_are_one_at_the_start_and_fall(name):
    kernel = KERNELS[name]()
    order = torch.argsort(kernel.panels.knots)

    heat = kernel.at(tensor(1e-8, 1e-3, 0.05, 1.0, 30.0))

    assert_close(heat.h[2:, order[0]], torch.ones(3, dtype=torch.float64), atol=2e-15, rtol=0.0)
    assert bool((torch.diff(heat.h[:, order]) <= 1e-14).all())
    assert bool((heat.q >= -1e-13 * heat.q.amax(-1, keepdim=True)).all())


@every_kernel
def test_q_and_q2_are_the_derivatives_of_the_heat_kernel(name):
    """By differentiating the interpolating polynomials of the panels, independently of the tables of derivatives."""
    kernel = KERNELS[name]()
    heat = kernel.at(tensor(1e-3, 0.05, 1.0))
    table = [kernel.panels.coefficients(rows) for rows in (heat.h, heat.q)]
    w = torch.logspace(-4, math.log10(1.9), 40, dtype=torch.float64)
    step = 1e-4 * w

    for found, below in ((heat.q, table[0]), (heat.q2, table[1])):
        values = [kernel.panels.evaluate(below, w + i * step) for i in (-2, -1, 1, 2)]
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step[:, None])
        expected = kernel.panels.evaluate(kernel.panels.coefficients(found), w)
        scale = expected.abs().amax(0) + values[0].abs().amax(0)
        # Panels meet with jumps of 1e-14 of the value, which the step divides.
        assert_close(-slope / scale, expected / scale, atol=3e-7, rtol=1e-5)


@every_kernel
def test_the_derivative_in_time_is_that_of_differences(name):
    kernel = KERNELS[name]()
    u = tensor(1e-3, 0.05, 1.0)
    step = 1e-3 * u

    found = kernel.time_derivative(kernel.at(u))

    values = [kernel.at(u + i * step).h for i in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step[:, None])
    assert_close(found * u[:, None], expected * u[:, None], atol=1e-9, rtol=1e-8)


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 31])
def test_the_peak_of_the_heat_kernel_on_spheres_is_its_trace(dim):
    """p_u(x, x) is the sum of the multiplicities times exp(-lambda u), divided by the sphere's area."""
    kernel = sphere_heat(dim)
    times = [1e-4, 1e-3, 0.01, 0.3, 5.0]

    found = kernel.at(tensor(*times)).log_peak

    assert found is not None
    with mpmath.workdps(30):
        expected = []
        for time in times:
            trace, level = mpmath.mpf(0), 0
            while True:
                multiplicity = mpmath.binomial(level + dim, dim) - (
                    mpmath.binomial(level + dim - 2, dim) if level >= 2 else 0
                )
                term = multiplicity * mpmath.exp(-level * (level + dim - 1) * mpmath.mpf(time))
                trace += term
                level += 1
                if level > dim and term < trace * mpmath.mpf(10) ** -25:
                    break
            expected.append(float(mpmath.log(trace)))
    differences = found.numpy() - np.array(expected)
    np.testing.assert_allclose(differences, differences[0], atol=2e-12)  # equal up to one constant


@pytest.mark.parametrize(
    ("kappa", "values"),
    [
        (0.5, [0.877958186294, 0.124916156174, 2.49596167e-4]),
        (1.0, [0.964349532254, 0.560706318184, 0.101204478041]),
        (2.0, [0.987481261148, 0.819090105000, 0.459691627496]),
    ],
)
def test_the_hyperbolic_plane_has_the_printed_values(kappa, values):
    """At distances 0.25, 1 and 2: McKean's singular integral, by high-precision quadrature."""
    w = torch.cosh(tensor(0.25, 1.0, 2.0)) - 1

    (h, _, _), _ = hyperbolic(w, tensor(kappa**2 / 2), 2)

    np.testing.assert_allclose(h[0].numpy(), values, atol=1e-12, rtol=0)  # the table is cut, not rounded


@pytest.mark.parametrize(("u", "r"), [(0.004, 0.1), (0.3, 0.5), (0.49, 3.0), (0.51, 3.0), (4.0, 8.0), (1000.0, 2.0)])
def test_the_hyperbolic_plane_agrees_with_mckean_s_integral(u, r):
    """The integral of s exp(-s^2 / 4u) / sqrt(cosh s - cosh r) over s > r, with s = r + x^2 to take off the root."""

    def integral(start: mpmath.mpf) -> mpmath.mpf:
        def f(x: mpmath.mpf) -> mpmath.mpf:
            s = start + x * x
            if x == 0:
                return mpmath.sqrt(2) * 2 if start == 0 else 2 * start / mpmath.sqrt(mpmath.sinh(start))
            gauss = mpmath.exp(-(s * s - start * start) / (4 * mpmath.mpf(u)))
            return 2 * x * s * gauss / mpmath.sqrt(2 * mpmath.sinh(start + x * x / 2) * mpmath.sinh(x * x / 2))

        largest = mpmath.sqrt(mpmath.sqrt(start**2 + 240 * mpmath.mpf(u)) - start)
        reach = min(largest, mpmath.sqrt(mpmath.mpf(150)))  # beyond, the hyperbolic sines have ended it
        return mpmath.quad(f, mpmath.linspace(0, reach, 13)) * mpmath.exp(-(start**2) / (4 * mpmath.mpf(u)))

    with mpmath.workdps(25):
        expected = float(integral(mpmath.mpf(r)) / integral(mpmath.mpf(0)))

    (h, _, _), _ = hyperbolic(2 * torch.sinh(tensor(r) / 2) ** 2, tensor(u), 2)

    assert float(h) == pytest.approx(expected, abs=1e-14, rel=1e-11)


# Panels


@pytest.mark.parametrize(
    "function",
    [lambda w: w**0.1, torch.sqrt, lambda w: torch.exp(-w), lambda w: torch.exp(-30 * w), lambda w: 1 / (1 + w)],
)
def test_panels_keep_functions_that_are_powers_near_zero(function):
    at = panels(1)
    w = torch.logspace(-18, math.log10(2), 997, dtype=torch.float64)

    found = at.evaluate(at.coefficients(function(at.knots)[None]), w)[:, 0]

    assert_close(found, function(w), atol=1e-14, rtol=2e-13)


def test_beyond_the_panels_the_value_at_their_ends_is_kept():
    at = panels(1)
    table = at.coefficients((1 + at.knots)[None])

    found = at.evaluate(table, tensor(0.0, 1e-30, 2.0, 5.0, math.inf))[:, 0]

    assert_close(found, tensor(1.0, 1.0, 3.0, 3.0, 3.0), atol=1e-14, rtol=0.0)


def test_panels_of_one_range_are_shared():
    assert panels(1) is panels(1)
    assert sphere_heat(2).panels is rotation_heat().panels


def test_several_functions_are_evaluated_at_once():
    at = Panels(3)
    w = torch.logspace(-10, 0.9, 50, dtype=torch.float64)

    found = at.evaluate(at.coefficients(torch.stack([at.knots, torch.exp(-at.knots)])), w)

    assert found.shape == (50, 2)
    assert_close(found, torch.stack([w, torch.exp(-w)], -1), atol=1e-14, rtol=1e-13)


# Grids and weights


@pytest.mark.parametrize("order", [0.1, 0.5, 2.5, 7.5, 20.0, 50.0, 65.5, 200.0, 215.5])
def test_the_grid_of_times_integrates_what_it_is_chosen_for(order):
    """The integral of u^(order - 1) exp(-u) is the gamma function, wherever the grid stands."""
    step = math.log(2) / steps_per_octave(order)

    for shift in (0.0, 0.3, 0.7):
        log_u = step * (torch.arange(-round(400 / step), round(8 / step), dtype=torch.float64) + shift)
        total = float(torch.exp(order * log_u - torch.exp(log_u) - gammaln(order)).sum()) * step

        assert total == pytest.approx(1, abs=20 * QUADRATURE_ERROR)


def test_the_grid_grows_with_the_smoothness():
    steps = [steps_per_octave(order) for order in (0.5, 2.5, 10.0, 50.0, 200.0)]

    assert steps == sorted(steps)
    assert steps[0] == 3


@pytest.mark.parametrize("name", ["flat", "S2", "S31", "SO3"])
@pytest.mark.parametrize("nu", [0.5, 2.5, 20.0])
@pytest.mark.parametrize("kappa", [0.01, 0.7, 100.0])
def test_weights_are_positive_and_have_their_derivative(name, nu, kappa):
    kernel: HeatKernel = KERNELS[name]()
    on = grid(kernel, steps_per_octave(nu + (kernel.dim / 2 if isinstance(kernel, JacobiHeat) else 0)))

    weight, by_kappa, by_nu = weights(on, nu, kappa)

    assert bool((weight >= 0).all())
    assert float(weight.sum()) <= 1 + 1e-14
    step = 1e-4
    along_kappa = [weights(on, nu, kappa * (1 + i * step))[0] for i in (-2, -1, 1, 2)]
    along_nu = [weights(on, nu * (1 + i * step), kappa)[0] for i in (-2, -1, 1, 2)]
    for derivative, values in ((by_kappa * kappa, along_kappa), (by_nu * nu, along_nu)):
        expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        assert_close(derivative, expected, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("nu", [0.5, 2.5, 20.0])
@pytest.mark.parametrize("kappa", [0.05, 0.7, 20.0])
def test_the_weights_on_the_line_are_a_gamma_law(nu, kappa):
    """Of shape nu and rate 2 nu / kappa^2: mean kappa^2 / 2, variance its square over nu.

    The grid is made for the integral of the law itself; its moments come out with fewer digits.
    """
    on = grid(flat_heat(), steps_per_octave(nu))
    u = torch.exp(on.log_u[on.visible])

    weight, _, _ = weights(on, nu, kappa)

    mean = float((weight * u).sum())
    assert mean == pytest.approx(kappa**2 / 2, rel=1e-10)
    assert float((weight * (u - mean) ** 2).sum()) == pytest.approx(mean**2 / nu, rel=1e-8)
