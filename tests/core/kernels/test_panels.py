"""Tables of functions of one variable: what they return is the function, in whatever shape it is asked for."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.kernels.lookup import BLOCK, SMALLEST_MATRIX
from geodrome_core.kernels.panels import NODES, SMALLEST_EXPONENT, Panels

from tests.strategies import generator

PANELS = Panels(3)


def table() -> torch.Tensor:
    """Of the root and of a wave."""
    return PANELS.coefficients(torch.stack([torch.sqrt(PANELS.knots), torch.cos(PANELS.knots)]))


def test_a_table_has_the_values_of_the_functions():
    w = 2 ** torch.linspace(SMALLEST_EXPONENT, 3, 5_000, dtype=torch.float64)

    root, wave = PANELS.evaluate(table(), w).unbind(-1)

    torch.testing.assert_close(root, torch.sqrt(w), atol=0.0, rtol=1e-13)
    torch.testing.assert_close(wave, torch.cos(w), atol=1e-13, rtol=0.0)


def test_a_table_of_the_panels_that_arguments_lie_on_serves_them():
    w = torch.rand(300, generator=generator(0), dtype=torch.float64) + 0.3
    located = PANELS.at(w)
    values = torch.stack([torch.sqrt(PANELS.knots), torch.cos(PANELS.knots)])

    some = PANELS.coefficients(values[:, PANELS.columns(located.panels)], located.panels)

    assert len(located.panels) < 6
    assert some.shape == table().shape
    torch.testing.assert_close(located.evaluate(some), located.evaluate(table()), atol=1e-15, rtol=0)


def test_no_arguments_need_no_panels():
    located = PANELS.at(torch.empty(0, dtype=torch.float64))
    values = PANELS.knots.unsqueeze(0)[:, PANELS.columns(located.panels)]

    table = PANELS.coefficients(values, located.panels)

    assert not table.any()
    assert located.evaluate(table).shape == (0, 1)


def test_beyond_the_ends_the_values_of_the_ends_are_kept():
    ends = torch.tensor([PANELS.smallest, 8 * (1 - 1e-15)], dtype=torch.float64)
    beyond = torch.tensor([0.0, 1e9], dtype=torch.float64)

    assert torch.equal(PANELS.evaluate(table(), beyond), PANELS.evaluate(table(), ends))


@pytest.mark.parametrize("size", [SMALLEST_MATRIX - 1, SMALLEST_MATRIX, 2 * BLOCK + 1, 3 * BLOCK - 1])
def test_a_symmetric_matrix_is_looked_up_as_any_other(size):
    w = torch.rand(size, size, generator=generator(0), dtype=torch.float64)
    symmetric = w + w.mT

    for matrix in (w, symmetric):
        expected = PANELS.evaluate(table(), matrix.flatten()).reshape(size, size, 2)
        assert torch.equal(PANELS.evaluate_all(table(), matrix), expected)


def test_arguments_may_have_any_shape():
    w = torch.rand(2, 3, 4, generator=generator(0), dtype=torch.float64)

    assert PANELS.evaluate_all(table(), w).shape == (2, 3, 4, 2)
    assert PANELS.evaluate_all(table(), w[0, 0, 0]).shape == (2,)


def test_the_knots_lie_inside_their_panels():
    knots = PANELS.knots.reshape(-1, NODES)

    assert bool((knots.amin(-1)[1:] > knots.amax(-1)[:-1]).all())
    assert math.log2(float(knots.min())) == pytest.approx(SMALLEST_EXPONENT, abs=0.01)
