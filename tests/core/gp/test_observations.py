"""Pooling replicates changes no likelihood and no posterior."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.gp.observations import Observations
from torch import Tensor
from torch.distributions import MultivariateNormal

from tests.strategies import generator


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


X = tensor(0, 1, 0, 2, 1, 0).unsqueeze(-1)
Y = tensor(1.0, 2.0, 1.3, -1.0, 2.2, 0.9)

KNOWN = {
    "all inferred": None,
    "all known": tensor(0.1, 0.2, 0.3, 0.1, 0.05, 0.2),
    "some known": tensor(0.1, math.nan, 0.3, math.nan, math.nan, math.nan),
}


@pytest.mark.parametrize("case", KNOWN)
@pytest.mark.parametrize("noise", [0.04, 0.7])
def test_the_likelihood_is_that_of_all_replicates(case, noise):
    variances = KNOWN[case]
    each = torch.full_like(Y, noise) if variances is None else torch.where(variances.isnan(), noise, variances)

    def kernel(x: Tensor) -> Tensor:
        return torch.exp(-0.5 * (x - x.mT) ** 2)

    expected = MultivariateNormal(0.3 * torch.ones(6).double(), kernel(X) + torch.diag(each)).log_prob(Y)
    pooled = Observations.of(X, Y, variances)
    covariance = kernel(pooled.X) + torch.diag(pooled.noise(noise))
    found = MultivariateNormal(0.3 * torch.ones(len(pooled.Y)).double(), covariance).log_prob(pooled.Y)
    found = found + pooled.constant - 0.5 * (pooled.spare * math.log(noise) + pooled.scatter / noise)

    assert found.item() == pytest.approx(expected.item(), abs=1e-12)
    assert len(pooled.Y) == {"all inferred": 3, "all known": 3, "some known": 4}[case]


def test_points_that_differ_in_the_last_digit_are_two():
    x = tensor(1.0, math.nextafter(1.0, 2.0)).unsqueeze(-1)

    assert len(Observations.of(x, tensor(0, 1)).Y) == 2


def test_zeros_of_both_signs_are_one_point():
    assert len(Observations.of(tensor(0.0, -0.0).unsqueeze(-1), tensor(0, 1)).Y) == 1


def test_the_order_of_points_is_kept():
    x = torch.rand(20, 2, generator=generator(0), dtype=torch.float64)

    pooled = Observations.of(torch.cat([x, x[:5]]), torch.arange(25).double())

    assert torch.equal(pooled.X, x)
    assert torch.equal(pooled.Y[5:], torch.arange(5, 20).double())
    assert torch.equal(pooled.Y[:5], torch.arange(5).double() + 10)
