"""Log expected improvement against values computed with mpmath at 40 digits, and against its definition."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from geodrome_core.acquisition import ACQUISITIONS, improvement_slopes, log_improvement

# mpmath 1.3, mp.dps = 60: log(npdf(z) + z * ncdf(z)).
REFERENCE = {
    5.0: "1.6094379231264313851",
    0.5: "-0.35982768374506381859",
    -0.999: "-2.4832171154475854412",
    -1.001: "-2.4870256579553892129",
    -10.0: "-55.553122036122355927",
    -49.9: "-1253.7451836641035676",
    -50.1: "-1263.7531741014686663",
    -1000.0: "-500014.73445209115845",
}


@pytest.mark.parametrize(("z", "expected"), REFERENCE.items())
def test_log_improvement_has_all_digits(z, expected):
    value = log_improvement(torch.tensor(z, dtype=torch.float64))

    assert value.item() == pytest.approx(float(expected), rel=1e-13)


def test_log_improvement_has_finite_first_and_second_derivatives_everywhere():
    z = torch.tensor([-1e8, -1e3, -50.0, -1.0, 0.0, 3.0, 40.0], dtype=torch.float64, requires_grad=True)

    (slope,) = torch.autograd.grad(log_improvement(z).sum(), z, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), z)

    assert (slope > 0).all()
    assert torch.isfinite(bend).all()


def test_the_slope_of_log_improvement_is_that_of_its_definition():
    """The derivative of phi(z) + z Phi(z) is Phi(z)."""
    z = torch.linspace(-30, 5, 71, dtype=torch.float64, requires_grad=True)

    (slope,) = torch.autograd.grad(log_improvement(z).sum(), z)

    expected = torch.exp(torch.special.log_ndtr(z.detach()) - log_improvement(z.detach()))
    torch.testing.assert_close(slope, expected, rtol=1e-9, atol=0)


def test_improvement_at_zero_is_the_density_at_zero():
    value = log_improvement(torch.zeros((), dtype=torch.float64))

    assert value.item() == pytest.approx(-0.5 * math.log(2 * math.pi))


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("name", ACQUISITIONS)
def test_derivatives_are_those_of_autograd(name, count):
    chance = torch.Generator().manual_seed(0)
    mean = torch.randn(7, count, generator=chance, dtype=torch.float64) + torch.linspace(-3, 30, 7).double()[:, None]
    std = 0.1 + torch.rand(7, generator=chance, dtype=torch.float64)
    best = torch.randn(count, generator=chance, dtype=torch.float64)
    of = ACQUISITIONS[name]
    mean.requires_grad_()
    std.requires_grad_()
    value = of(mean, std, best).value
    by_mean, by_std = torch.autograd.grad(value.sum(), [mean, std], create_graph=True)

    found = of(mean.detach(), std.detach(), best)

    def again(slope: torch.Tensor, variable: torch.Tensor) -> torch.Tensor:
        if not slope.requires_grad:
            return torch.zeros_like(variable)
        return torch.autograd.grad(slope.sum(), variable, retain_graph=True, materialize_grads=True)[0]

    torch.testing.assert_close(found.value, value.detach())
    torch.testing.assert_close(found.by_mean, by_mean.detach(), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(found.by_std, by_std.detach(), rtol=1e-9, atol=1e-12)
    rows = torch.stack([again(by_mean[:, i], mean) for i in range(count)], 1)
    torch.testing.assert_close(found.by_means, rows, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(found.by_mean_std, again(by_std, mean), rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(found.by_stds, again(by_std, std), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("z", [0.5, -0.999, -1.001, -10.0, -49.9, -50.1, -200.0])
def test_the_slopes_of_log_improvement_have_their_digits(z):
    with mpmath.workdps(60):
        at = mpmath.mpf(z)
        improvement = mpmath.npdf(at) + at * mpmath.ncdf(at)
        expected = mpmath.ncdf(at) / improvement
        bend = mpmath.npdf(at) / improvement - expected**2

        slope, found = improvement_slopes(torch.tensor(z, dtype=torch.float64))

        assert slope.item() == pytest.approx(float(expected), rel=1e-11)
        assert found.item() == pytest.approx(float(bend), abs=1e-8)


def test_expected_improvement_is_that_of_samples():
    """A million draws of the cost; and with two means, the mean of both improvements."""
    mean, std, best = torch.tensor([[0.3, -0.4]]).double(), torch.tensor([0.7]).double(), torch.zeros(2).double()
    draws = torch.randn(1_000_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    found = ACQUISITIONS["ei"](mean, std, best).value.item()

    assert found == pytest.approx((best - (mean + std * draws)).clamp_min(0).mean().item(), rel=5e-3)
