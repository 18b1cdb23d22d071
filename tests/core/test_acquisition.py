"""Log expected improvement against values computed with mpmath at 40 digits, and against its definition."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.acquisition import log_improvement

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
