"""Costs on the model's scale: monotone, standardized, robust, and reversible."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.outcomes import CostScale
from hypothesis import given, settings
from hypothesis import strategies as st

costs = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(lambda c: torch.tensor(c, dtype=torch.float64))


@settings(deadline=None, derandomize=True)
@given(costs, st.booleans())
def test_better_costs_are_smaller_values(told, maximize):
    values = CostScale.of(told, maximize=maximize).forward(told)

    best = told.argmax() if maximize else told.argmin()
    assert torch.isfinite(values).all()
    assert values[best] == values.min()


@settings(deadline=None, derandomize=True)
@given(costs, st.booleans())
def test_backward_undoes_forward(told, maximize):
    scale = CostScale.of(told, maximize=maximize)

    back = scale.backward(scale.forward(told))

    torch.testing.assert_close(back, told, rtol=1e-6, atol=1e-9 * (1 + float(told.abs().max())))


def test_ordinary_costs_are_standardized():
    told = torch.linspace(3, 9, 25, dtype=torch.float64)

    values = CostScale.of(told).forward(told)

    assert values.mean().item() == pytest.approx(0, abs=1e-12)
    assert values.std(correction=0).item() == pytest.approx(1)


def test_a_huge_cost_leaves_the_ordinary_ones_apart():
    ordinary = torch.linspace(0, 1, 10, dtype=torch.float64)
    told = torch.cat([ordinary, torch.tensor([1e50], dtype=torch.float64)])

    values = CostScale.of(told).forward(told)

    assert (values[:-1].diff() > 0.02).all()
    assert values[:-1].max() < values[-1] < 6


def test_equal_costs_are_no_trouble():
    values = CostScale.of(torch.full((4,), 7.0, dtype=torch.float64)).forward(torch.tensor([7.0, 8.0]).double())

    assert values.tolist() == [0.0, 1.0]


def test_a_standard_deviation_comes_back_in_the_unit_of_the_cost():
    told = torch.tensor([10.0, 20.0, 30.0, 40.0], dtype=torch.float64)
    scale = CostScale.of(told)
    value = scale.forward(torch.tensor(20.0, dtype=torch.float64))
    higher = scale.forward(torch.tensor(25.0, dtype=torch.float64))

    std = scale.backward_std(value, higher - value)

    assert std.item() == pytest.approx(5.0)


def test_the_unit_is_the_difference_of_ordinary_costs_that_are_one_apart():
    told = torch.linspace(3, 9, 25, dtype=torch.float64)
    scale = CostScale.of(told)

    ends = scale.forward(torch.tensor([5.0, 7.0], dtype=torch.float64))

    assert float(ends[1] - ends[0]) * scale.unit == pytest.approx(2)
