"""Costs on the model's scale: monotone, standardized, robust, and reversible."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.outcomes import TAIL, CostScale, candidates
from hypothesis import given, settings
from hypothesis import strategies as st

costs = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(lambda c: torch.tensor(c, dtype=torch.float64))


@settings(deadline=None, derandomize=True)
@given(costs, st.booleans(), st.booleans())
def test_better_costs_are_smaller_values(told, maximize, is_logarithmic):
    values = CostScale.of(told, maximize=maximize, is_logarithmic=is_logarithmic).forward(told)

    best = told.argmax() if maximize else told.argmin()
    assert torch.isfinite(values).all()
    assert values[best] == values.min()


@settings(deadline=None, derandomize=True)
@given(costs, st.booleans(), st.booleans())
def test_backward_undoes_forward(told, maximize, is_logarithmic):
    scale = CostScale.of(told, maximize=maximize, is_logarithmic=is_logarithmic)

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


def lopsided(count=41):
    """Costs whose logarithms are evenly spaced."""
    return torch.linspace(0, 4, count, dtype=torch.float64).exp()


def test_the_logarithm_makes_both_tails_equally_long():
    told = lopsided()
    at = [round(q * (len(told) - 1)) for q in (TAIL, 0.5, 1 - TAIL)]

    low, middle, high = CostScale.of(told, is_logarithmic=True).forward(told)[at].tolist()

    assert high - middle == pytest.approx(middle - low)
    assert told[at[2]] - told[at[1]] > 4 * (told[at[1]] - told[at[0]])


def test_costs_with_a_long_tail_of_bad_ones_may_be_logarithmic_and_others_are_not():
    assert [scale.reach < float("inf") for scale in candidates(lopsided())] == [False, True]
    assert [scale.reach < float("inf") for scale in candidates(-lopsided(), maximize=True)] == [False, True]
    assert len(candidates(-lopsided())) == 1
    assert len(candidates(torch.linspace(0, 1, 9, dtype=torch.float64))) == 1
    assert len(candidates(torch.zeros(9, dtype=torch.float64))) == 1


@pytest.mark.parametrize("is_logarithmic", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
def test_a_small_deviation_is_as_long_as_the_scale_is_steep(is_logarithmic, maximize):
    told = lopsided() * (-1 if maximize else 1)
    scale = CostScale.of(told, maximize=maximize, is_logarithmic=is_logarithmic)
    step = 1e-6 * told.abs()

    found = scale.forward_std(told, step)

    change = (scale.forward(told + step / 2) - scale.forward(told - step / 2)).abs()
    torch.testing.assert_close(found[1:], change[1:], rtol=1e-4, atol=1e-12)  # the best is where the scale has a bend
    assert scale.forward_std(told, torch.full_like(told, torch.nan)).isnan().all()


def test_the_unit_of_logarithmic_costs_is_that_at_their_median():
    told = lopsided()
    scale = CostScale.of(told, is_logarithmic=True)
    middle = told.median()

    ends = scale.forward(torch.stack([middle - 1e-4, middle + 1e-4]))

    assert float(ends[1] - ends[0]) * scale.unit == pytest.approx(2e-4, rel=1e-3)


def test_a_crowd_that_counts_as_one_leaves_the_scale_as_it_is():
    ordinary = torch.linspace(0, 9, 10, dtype=torch.float64)
    crowd = torch.linspace(-1e-6, 1e-6, 60, dtype=torch.float64)
    told = torch.cat([ordinary, crowd])
    weights = torch.cat([torch.ones(10), torch.full((60,), 1 / 60)]).double()

    with_crowd = CostScale.of(told, weights)

    assert with_crowd.unit == pytest.approx(CostScale.of(ordinary).unit, rel=0.3)
    assert CostScale.of(told).unit < 1e-5


@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_costs_of_every_size_are_finite_on_the_scale(is_logarithmic):
    told = torch.tensor([-1e308, -1e-300, 0.0, 1e-300, 1e-5, 1.0, 7.0, 1e50, 1e300, 1e308], dtype=torch.float64)

    scale = CostScale.of(told[2:], is_logarithmic=is_logarithmic)

    assert torch.isfinite(scale.forward(told)).all()
    assert (scale.forward(told).diff() >= 0).all()


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 20), st.floats(1e-9, 1e9), st.floats(-1e3, 1e3))
def test_evenly_spaced_costs_are_not_lopsided_whatever_their_rounding(tens, step, first):
    assert len(candidates(step * (first + torch.arange(10 * tens + 1, dtype=torch.float64)))) == 1


@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_costs_come_back_finite_however_far_the_model_goes(is_logarithmic):
    scale = CostScale.of(torch.tensor([0.0, 1.0, 7.0, 1e50, 1e150, 1e300]).double(), is_logarithmic=is_logarithmic)
    values = torch.linspace(-50, 50, 11, dtype=torch.float64)

    assert torch.isfinite(scale.backward(values)).all()
    assert torch.isfinite(scale.backward_std(values, torch.ones_like(values))).all()
