"""Suggestions under linear constraints: within them from the first on, and at the optimum on their border."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest

from tests.core.geometry.test_constraints import DOMAINS, holds_in_32_bits


def asked(space, cost, rounds, **problem):
    """Points and costs of a run."""
    points, costs = [], []
    none = space.rows([])
    for number in range(rounds):
        known = History(space.rows(points), torch.tensor(costs, dtype=torch.float64), none, none, none)
        (found,) = suggest(Problem(space, initial_size=3, **problem), known, seed=number)
        points.append(found.point)
        costs.append(cost(found.point))
    return points, costs


@pytest.mark.parametrize("name", ["thin", "narrow band", "small gains", "mixed"])
def test_every_suggestion_satisfies_the_constraints_also_when_the_cost_pulls_outwards(name):
    spec, constraints = DOMAINS[name]
    space = space_from_spec(spec).constrained(constraints)
    column = space.manifold.polytope.reals.columns[0]

    points, _ = asked(space, lambda point: -float(space.check(point).row[column]), 6)

    for point in points:
        assert holds_in_32_bits(constraints, point)
        assert space.check(point).outside == ()


def test_a_batch_and_a_design_about_a_point_satisfy_them():
    spec, constraints = DOMAINS["sum"]
    space = space_from_spec(spec).constrained(constraints)
    around = space.check({"a": 0.5, "b": 0.4, "c": 0, "d": 0}).row
    problem = Problem(space, initial_size=6, around=around, spread=0.2)

    found = suggest(problem, History.empty(space), 8, seed=3)

    assert all(holds_in_32_bits(constraints, one.point) for one in found)
    assert len({str(one.point) for one in found}) == 8


def test_the_optimum_on_the_border_is_found():
    """(a - 0.9)^2 + (b - 0.3)^2 with a + b <= 1 is least at (0.8, 0.2), where it is 0.02."""
    box = {"type": "euclidean", "dim": 2, "bounds": [[0, 1], [0, 1]]}
    space = space_from_spec({"type": "product", "factors": {"p": box}}).constrained(
        [{"type": "linear", "coefficients": {"p[0]": 1, "p[1]": 1}, "upper": 1}]
    )

    _, costs = asked(space, lambda point: (point["p"][0] - 0.9) ** 2 + (point["p"][1] - 0.3) ** 2, 12)

    assert 0.02 <= min(costs) < 0.0202
