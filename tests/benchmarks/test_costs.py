"""What regret is measured on: functions, and robots without a known optimum."""

from __future__ import annotations

import costs
import problems
import pytest
from geodrome_robots.registry import load
from geodrome_robots.stop import Stop
from regret_methods import first_points
from regret_runs import Run, rows_of


def test_functions_are_the_same_as_without_robots():
    assert costs.cost_function("sphere3", "levy") is problems.cost_function("sphere3", "levy")
    assert costs.names("spd2") == problems.names("spd2")
    assert {*problems.SPECS} < {*costs.SPACES}


def test_a_robot_s_cost_is_what_it_measures():
    function = costs.cost_function("robot:manipulability", "printed")
    point = [[2.0, 0.5], [0.5, 1.0]]

    measured = load("manipulability", weights="printed").evaluate(point, seed=7, stop=Stop())

    assert function.cost(point) == pytest.approx(measured.cost, rel=1e-12)
    assert costs.names("robot:manipulability") == ["balanced", "printed"]


@pytest.mark.parametrize("method", ["geodrome", "botorch_ambient", "botorch", "cma_es", "random"])
def test_a_run_goes_on_after_an_infeasible_trial(method):
    """The first of these points turns a joint too fast."""
    function = costs.cost_function("robot:gains", "balanced")
    infeasible = [seed for seed in range(4) if function.costs(first_points(function, seed)).isnan().any()]
    assert infeasible

    rows = rows_of(Run(method, "robot:gains", "balanced", infeasible[0]), 8)

    bests = [float(row["best"]) for row in rows]
    assert "nan" in [row["cost"] for row in rows]
    assert bests == sorted(bests, reverse=True)
    assert all(row["regret"] == "nan" for row in rows)


@pytest.mark.parametrize("space", ["robot:tool-pose", "robot:path-planning", "robot:stiffness"])
def test_methods_search_the_spaces_of_robots(space):
    for method in ("geodrome", "cma_es"):
        rows = rows_of(Run(method, space, "balanced", 0), 7)

        assert float(rows[-1]["best"]) <= float(rows[0]["best"])
