"""Multipliers of slacks stay positive definite, however near to singular both are."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.geometry.slack import Slack
from geodrome_core.search.multipliers import SAFEGUARD, inverse, newton_step, relative, safeguarded
from torch import Tensor

from tests.strategies import generator

SPREADS = (1e0, 1e-8, 1e-15, 1e-18)
"""Ratios of eigenvalues; the last ones are below the rounding of the largest."""


def spread(ratio: float, seed: int) -> Tensor:
    """Two symmetric matrices of 3 rows for each of 20 points, with eigenvalues from 1 to the ratio."""
    vectors = torch.linalg.qr(torch.randn(20, 2, 3, 3, generator=generator(seed), dtype=torch.float64)).Q
    values = torch.tensor([1.0, ratio**0.5, ratio], dtype=torch.float64)
    return (vectors * values) @ vectors.mT


@pytest.mark.parametrize("ratio", SPREADS)
def test_a_multiplier_that_rounding_has_made_indefinite_is_moved_and_mended(ratio):
    z, value = spread(ratio, 1), spread(1e-6, 2)
    slope = torch.randn(20, 4, 2, 3, 3, generator=generator(3), dtype=torch.float64)
    slack = Slack(value, slope + slope.mT, lambda c: c.new_zeros(20, 4, 4))
    step = 0.1 * torch.randn(20, 4, generator=generator(4), dtype=torch.float64)
    mu = torch.full((20,), 1e-4, dtype=torch.float64)

    moved = newton_step(slack, z, torch.linalg.inv(value), step, mu)
    found = safeguarded(moved, value, mu)

    assert found.isfinite().all()
    factor = torch.linalg.cholesky(value)
    products = torch.linalg.eigvalsh(factor.mT @ found @ factor)
    assert (products >= 0.5e-4 / SAFEGUARD - 1e-14 * products.amax(-1, keepdim=True)).all()
    assert (products <= 2e-4 * SAFEGUARD).all()


@pytest.mark.parametrize("ratio", [*SPREADS, 0.0])
def test_a_slack_that_rounding_has_used_up_has_an_inverse(ratio):
    slack = spread(ratio, 7)

    found = inverse(slack)

    assert found.isfinite().all()
    assert (torch.linalg.eigvalsh(found)[..., -1] > 0.99).all()
    if ratio >= 1e-8:
        eye = torch.eye(3, dtype=torch.float64).expand(20, 2, 3, 3)
        torch.testing.assert_close(slack @ found, eye, rtol=0, atol=1e-15 / ratio)
    assert inverse(torch.zeros(1, 1, 1, 1, dtype=torch.float64)).isfinite().all()


def test_a_change_is_measured_by_the_matrix():
    matrix = spread(1e-4, 5)
    change = spread(1e-2, 6)

    found = relative(matrix, change)

    expected = torch.linalg.eigvals(torch.linalg.solve(matrix, change)).real.sort(-1).values
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    row = relative(matrix[..., :1, :1], change[..., :1, :1])
    torch.testing.assert_close(row, (change / matrix)[..., 0, :1])
