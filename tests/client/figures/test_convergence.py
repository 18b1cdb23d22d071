"""Costs over trials: best so far, what is drawn of very many, and how trials without a cost are marked."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geodrome import schemas
from geodrome.figures import convergence
from geodrome.figures.trials import chosen, improvements, thinned

REAL = {"type": "real", "bounds": [0, 1]}


def traces(figure):
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize(
    ("goal", "steps"), [("minimize", [(1, 5.0), (3, 2.0), (6, 2.0)]), ("maximize", [(1, 5.0), (2, 7.0), (6, 7.0)])]
)
def test_the_best_so_far_follows_the_goal(record, trial, goal, steps):
    trials = [trial(number, cost) for number, cost in enumerate([5.0, 7.0, 2.0, 7.0, 2.0], start=1)] + [trial(6)]
    study = record(REAL, objective={"goal": goal, "name": "error", "unit": "mm"})

    line = traces(convergence(study, trials))["best so far"]

    assert list(zip(line.x, line.y, strict=True)) == steps
    assert line.line.shape == "hv"


def test_trials_in_any_order_give_the_same_line(record, trial):
    trials = [trial(number, cost) for number, cost in enumerate([5.0, 7.0, 2.0], start=1)]

    assert traces(convergence(record(REAL), trials[::-1]))["best so far"].x == (1, 3, 3)


def test_every_trial_is_marked_by_what_became_of_it(record, trial):
    trials = [
        trial(1, 3.0),
        trial(2, 2.0, flags=["late"]),
        trial(3, 1.0, flags=["outside_domain"]),
        trial(4, reason="e-stop"),
        trial(5, state="lost"),
        trial(6, state="abandoned"),
        trial(7, state="running"),
    ]

    shown = traces(convergence(record(REAL), trials))

    marks = ["completed", "late", "outside the domain", "failed", "lost", "abandoned"]
    assert [shown[name].x for name in marks] == [(1,), (2,), (3,), (4,), (5,), (6,)]
    assert shown["failed"].yaxis == "y2"
    assert len({shown[name].marker.symbol for name in ("completed", "late", "outside the domain")}) == 3
    assert shown["failed"].text == ("trial 4<br>failed: e-stop",)
    assert shown["late"].text == ("trial 2<br>cost 2 mm<br>late",)


def test_the_recommendation_is_a_line_with_a_band(record, trial):
    recommended = schemas.Recommendation(point=0.5, form=None, mean=1.5, std=0.25)

    shown = traces(convergence(record(REAL), [trial(1, 3.0), trial(2, 2.0)], recommended=recommended))

    assert shown["recommended, by the model"].y == (1.5, 1.5)
    assert set(shown["± 1 standard deviation"].y) == {1.25, 1.75}


def test_of_very_many_trials_2000_points_are_drawn_with_the_extremes_and_all_steps(record, trial):
    rng = np.random.default_rng(0)
    costs = rng.lognormal(size=100_000)
    costs[54_321], costs[77_777] = 1e-6, 1e6
    pattern = trial(1, 1.0)
    trials = [
        pattern.model_copy(update={"number": number, "cost": cost}) if number % 50 else trial(number)
        for number, cost in enumerate(costs.tolist(), start=1)
    ]

    start = time.perf_counter()
    figure = convergence(record(REAL), trials)
    assert time.perf_counter() - start < 5

    shown = traces(figure)
    assert sum(len(trace.x) for trace in figure.data) <= 2000
    assert {1e-6, 1e6} <= set(shown["completed"].y)
    known = np.array([np.inf if (place + 1) % 50 == 0 else cost for place, cost in enumerate(costs)])
    assert list(shown["best so far"].y[:-1]) == sorted(set(np.minimum.accumulate(known)), reverse=True)


def test_a_line_of_too_many_steps_keeps_its_ends(record, trial):
    pattern = trial(1, 1.0)
    trials = [pattern.model_copy(update={"number": number, "cost": -float(number)}) for number in range(1, 5001)]

    figure = convergence(record(REAL), trials)

    line = traces(figure)["best so far"]
    assert (line.y[0], line.y[-1]) == (-1.0, -5000.0)
    assert sum(len(trace.x) for trace in figure.data) <= 2000


def test_outliers_do_not_stretch_the_axis(record, trial):
    trials = [trial(1, 3.0), trial(2, 2.0), trial(3, 1e50, flags=["outlier"])]

    low, high = convergence(record(REAL), trials).layout.yaxis.range

    assert (low, high) == pytest.approx((1.95, 3.05))


def test_the_axis_of_costs_is_logarithmic_on_request(record, trial):
    figure = convergence(record(REAL), [trial(1, 3.0)], log=True)

    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis.title.text == "error, mm"


def test_a_study_without_trials_has_a_figure(record):
    assert not convergence(record(REAL), []).data


def test_what_people_write_is_no_markup(record, trial):
    study = record(REAL, name="arm", objective={"name": "<b>x</b>", "unit": "<a>"})

    figure = convergence(study, [trial(1, reason="<i>stop</i>")])

    assert figure.layout.yaxis.title.text == "&lt;b&gt;x&lt;/b&gt;, &lt;a&gt;"
    assert traces(figure)["failed"].text == ("trial 1<br>failed: &lt;i&gt;stop&lt;/i&gt;",)


def test_thinned_values_keep_the_extremes_of_every_stretch():
    values = np.random.default_rng(1).normal(size=999)

    kept = thinned(values, 100)

    assert len(kept) <= 100
    assert {values.argmin(), values.argmax()} <= set(kept)
    assert (np.diff(kept) > 0).all()
    assert list(thinned(values[:100], 100)) == list(range(100))


def test_an_equal_cost_is_no_improvement():
    assert list(improvements(np.array([3.0, 3.0, 2.0, 2.0, 4.0]), "minimize")) == [0, 2]


def test_the_best_trial_is_among_the_chosen_ones(trial):
    trials = [trial(number, 10.0 if number != 38 else 1.0) for number in range(1, 101)]

    some = chosen(trials, "minimize", 5)

    assert len(some) == 5
    assert 38 in [item.number for item in some]
    assert [item.number for item in some] == sorted(item.number for item in some)
