"""Where the axis of a curve ends."""

from __future__ import annotations

import pytest
from geodrome.figures.curves import readable


def test_a_band_is_shown_whole_where_it_is_no_wider_than_the_costs_are_apart():
    assert readable([1, 2], [0.5, 1], shown=[0, 4]) == pytest.approx((-0.2, 4.2))


def test_a_wide_band_is_cut_one_range_of_the_costs_beyond_them():
    assert readable([1, 2], [0.5, 1e12], shown=[0, 4]) == pytest.approx((-4.6, 8.6))


def test_the_known_costs_set_the_range_and_the_shown_ones_stay_in_it():
    assert readable([1, None], [50, None], shown=[20], known=[0, 4]) == pytest.approx((-5.2, 21.2))


def test_without_costs_the_means_serve_and_one_cost_cuts_nothing():
    assert readable([1, 2], [0, 100], shown=[]) == pytest.approx((-0.15, 3.15))
    assert readable([1, 2], [0, 10], shown=[2]) == pytest.approx((-20, 24))


def test_without_a_model_any_axis_will_do():
    assert readable([None], [None], shown=[1, 2]) is None
