"""``suggest``: pure, deterministic, on the manifold, inside the domain, and better than chance."""

from __future__ import annotations

import json
import math

import pytest
import torch
from geodrome_core import History, Problem, recommend, space_from_spec, suggest, suggestion_seed
from geodrome_core.engine import SOLVERS
from geodrome_core.promises import PROMISES

from tests.core.spaces import SPACES


def observed(name: str, count: int, seed: int = 0):
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    generator = torch.Generator().manual_seed(seed)
    X = manifold.random(count, generator)
    target = manifold.random(1, generator)
    Y = 5 + 3 * manifold.distance(X, target) / manifold.diameter
    none = space.rows([])
    return space, target, History(X, Y, pending=none, failed=none, abandoned=none)


def as_float32(point):
    if isinstance(point, dict):
        return {key: as_float32(value) for key, value in point.items()}
    if isinstance(point, list):
        return [as_float32(value) for value in point]
    return torch.tensor(point, dtype=torch.float32).double().item()


@pytest.mark.parametrize("name", SPACES)
def test_the_same_arguments_give_the_same_points(name):
    space, _, history = observed(name, 8)
    problem = Problem(space)
    before = history.X.clone(), history.Y.clone()

    first = suggest(problem, history, 2, seed=7)
    second = suggest(problem, history, 2, seed=7)

    assert [item.point for item in first] == [item.point for item in second]
    assert [item.value for item in first] == [item.value for item in second]
    assert torch.equal(history.X, before[0])
    assert torch.equal(history.Y, before[1])


@pytest.mark.parametrize("name", SPACES)
def test_suggestions_lie_inside_also_after_json_and_float32(name):
    space, _, history = observed(name, 8)

    items = [*suggest(Problem(space), History.empty(space), 5, seed=1), *suggest(Problem(space), history, 3, seed=1)]

    for item in items:
        exact = space.check(json.loads(json.dumps(item.point)))
        assert torch.equal(exact.row, item.row)
        assert exact.point == item.point
        assert exact.outside == ()
        assert space.check(as_float32(item.point)).outside == ()


def test_a_ball_is_never_left_by_a_cost_that_pulls_outwards():
    """Field case L37 (SauersML/gam issue 354): an exponential map ended on the border of the disc."""
    space = space_from_spec({"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 4.0})
    none = space.rows([])
    X, costs, norms = none, [], []
    for number in range(10):
        history = History(X, torch.tensor(costs, dtype=torch.float64), pending=none, failed=none, abandoned=none)
        (item,) = suggest(Problem(space), history, 1, seed=number)
        norms.append(math.hypot(*item.point))
        X, costs = torch.cat([X, item.row.unsqueeze(0)]), [*costs, -norms[-1]]

    assert max(norms) < 1
    assert max(norms) == pytest.approx(math.tanh(2.0), abs=1e-4)
    assert bool(torch.isfinite(space.manifold.distance(X[:, None], X)).all())


@pytest.mark.parametrize("name", ["real", "euclidean2", "spd2", "cap2", "ball3", "ball4", "product"])
def test_a_cost_that_pulls_outwards_leads_to_the_border_and_not_beyond(name):
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    X = manifold.random(12, torch.Generator().manual_seed(0))
    Y = -X.sum(-1) / X.sum(-1).abs().max()
    none = space.rows([])

    items = suggest(Problem(space), History(X, Y, pending=none, failed=none, abandoned=none), 3, seed=0)

    for item in items:
        assert space.check(item.point).outside == ()
        assert space.check(as_float32(item.point)).outside == ()


def test_the_design_comes_first_and_the_model_after():
    space, _, history = observed("rotation3", 5)
    problem = Problem(space, initial_size=5)
    three = History(
        history.X[:3], history.Y[:3], pending=history.X[3:4], failed=history.failed, abandoned=history.abandoned
    )

    assert [item.kind for item in suggest(problem, three, 3, seed=0)] == ["initial", "model", "model"]
    assert [item.kind for item in suggest(problem, history, 1, seed=0)] == ["model"]


def test_without_two_costs_there_is_no_model():
    space, _, history = observed("rotation3", 9)
    one = History(
        history.X[:1], history.Y[:1], pending=history.X[1:], failed=history.failed, abandoned=history.abandoned
    )

    assert [item.kind for item in suggest(Problem(space), one, 2, seed=0)] == ["initial", "initial"]


def test_the_given_start_is_the_first_point():
    space = space_from_spec(SPACES["rotation3"])
    start = space.check([0.5, 0.5, 0.5, 0.5])

    items = suggest(Problem(space, around=start.row), History.empty(space), 2, seed=0)

    assert items[0].point == start.point
    assert items[1].point != start.point


@pytest.mark.parametrize("name", ["real", "euclidean2", "sphere2", "rotation3", "spd2"])
def test_eight_robots_get_eight_points(name):
    space, _, history = observed(name, 6)
    pending = history.X[:0]
    for number in range(8):
        now = History(history.X, history.Y, pending=pending, failed=history.failed, abandoned=history.abandoned)
        (item,) = suggest(Problem(space), now, 1, seed=number)
        taken = torch.cat([history.X, pending])
        assert space.manifold.distance(item.row, taken).min() > 1e-6
        pending = torch.cat([pending, item.row.unsqueeze(0)])


@pytest.mark.parametrize("name", SPACES)
def test_a_batch_is_pairwise_distinct(name):
    space, _, history = observed(name, 8)

    rows = torch.stack([item.row for item in suggest(Problem(space), history, 4, seed=3)])

    gaps = space.manifold.distance(rows.unsqueeze(1), rows.unsqueeze(0))
    assert gaps[~torch.eye(4, dtype=torch.bool)].min() > 1e-6


@pytest.mark.parametrize("name", ["rotation3", "spd2"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_suggestions_come_near_a_smooth_optimum(name, seed):
    """Cost is the squared relative distance to a target: the best of 5 + 10 is within 5 % of the diameter."""
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    target = manifold.random(1, torch.Generator().manual_seed(100 + seed))
    X, Y = space.rows([]), torch.empty(0, dtype=torch.float64)
    for number in range(15):
        history = History(X, Y, pending=X[:0], failed=X[:0], abandoned=X[:0])
        (item,) = suggest(Problem(space), history, 1, seed=suggestion_seed(seed, number))
        X = torch.cat([X, item.row.unsqueeze(0)])
        Y = torch.cat([Y, (manifold.distance(item.row, target) / manifold.diameter) ** 2])

    assert math.sqrt(Y.min().item()) < 0.05


def test_a_maximized_study_looks_the_other_way():
    space, _, history = observed("real", 10)
    mirrored = History(
        history.X, -history.Y, pending=history.pending, failed=history.failed, abandoned=history.abandoned
    )

    low = suggest(Problem(space), history, 1, seed=0)[0]
    high = suggest(Problem(space, maximize=True), mirrored, 1, seed=0)[0]

    assert low.point == high.point
    assert low.mean == pytest.approx(-high.mean)
    assert low.std == pytest.approx(high.std)


@pytest.mark.parametrize(
    "costs",
    [[1.0] * 6, [0.0, 0.0, 0.0, 0.0, 0.0, 1e50], [1e-300, 2e-300, 3e-300, 4e-300, 5e-300, 6e-300], [1e308, -1e308] * 3],
    ids=["equal", "outlier", "tiny", "huge"],
)
def test_awkward_costs_still_give_a_point(costs):
    space, _, history = observed("rotation3", 6)
    awkward = History(
        history.X,
        torch.tensor(costs, dtype=torch.float64),
        pending=history.pending,
        failed=history.failed,
        abandoned=history.abandoned,
    )

    (item,) = suggest(Problem(space), awkward, 1, seed=0)

    assert space.check(item.point).outside == ()
    assert math.isfinite(item.mean)
    assert math.isfinite(item.std)


def test_an_outlier_does_not_hide_the_optimum():
    """One cost of 1e50 among twenty ordinary ones: the suggestion stays where it was without it."""
    space, target, history = observed("sphere2", 20)
    far = space.manifold.exp(target, torch.pi * space.manifold.basis(target)[:, 0])
    with_outlier = History(
        torch.cat([history.X, far]),
        torch.cat([history.Y, torch.tensor([1e50], dtype=torch.float64)]),
        pending=history.pending,
        failed=history.failed,
        abandoned=history.abandoned,
    )

    (item,) = suggest(Problem(space), with_outlier, 1, seed=0)

    assert space.manifold.distance(item.row, target[0]) < 0.3


def test_failed_points_are_not_asked_again():
    space, _, history = observed("rotation3", 8)
    failed = suggest(Problem(space), history, 1, seed=0)[0]
    now = History(
        history.X, history.Y, pending=history.pending, failed=failed.row.unsqueeze(0), abandoned=history.abandoned
    )

    (item,) = suggest(Problem(space), now, 1, seed=0)

    assert space.manifold.distance(item.row, failed.row) > 0.01


@pytest.mark.parametrize("name", ["rotation3", "euclidean2"])
def test_chances_of_failures_weigh_the_same_by_improvement_and_by_its_logarithm(name):
    space, _, history = observed(name, 25)
    failed = space.manifold.random(8, torch.Generator().manual_seed(1))
    now = History(history.X, history.Y, pending=history.pending, failed=failed, abandoned=history.abandoned)

    plain = suggest(Problem(space, acquisition="ei"), now, 2, seed=0)
    logarithm = suggest(Problem(space, acquisition="log_ei"), now, 2, seed=0)

    assert [item.point for item in plain] == [item.point for item in logarithm]
    assert [item.value for item in plain] == pytest.approx([math.exp(item.value) for item in logarithm])


def test_predictions_are_in_the_unit_of_the_cost():
    space, _, history = observed("sphere2", 30)

    (item,) = suggest(Problem(space), history, 1, seed=0)

    assert 4.5 < item.mean < 6
    assert 0 < item.std < 1
    assert item.hyperparameters["lengthscales"][""] > 0


@pytest.mark.parametrize("name", ["real", "rotation3", "spd2"])
def test_the_recommendation_is_near_the_optimum_and_inside(name):
    space, target, history = observed(name, 40)

    best = recommend(Problem(space), history)

    checked = space.check(best.point)
    assert checked.outside == ()
    assert space.manifold.distance(checked.row, target[0]) < 0.15 * space.manifold.diameter
    assert best.mean < history.Y.min() + 0.3


def test_there_is_nothing_to_recommend_without_costs():
    space = space_from_spec(SPACES["rotation3"])

    assert recommend(Problem(space), History.empty(space)) is None


def test_seeds_of_suggestions_differ_between_trials_and_studies():
    seeds = {suggestion_seed(study, number) for study in range(20) for number in range(1, 50)}

    assert len(seeds) == 20 * 49
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_an_unknown_acquisition_is_refused():
    space = space_from_spec(SPACES["rotation3"])

    with pytest.raises(KeyError, match="guess"):
        suggest(Problem(space, acquisition="guess"), History.empty(space))


@pytest.mark.parametrize("acquisition", PROMISES)
def test_a_batch_of_every_acquisition_is_one_of_distinct_points(acquisition):
    space, _, history = observed("rotation3", 8)

    items = suggest(Problem(space, acquisition=acquisition), history, 32, seed=0)

    rows = torch.stack([item.row for item in items])
    gaps = space.manifold.distance(rows.unsqueeze(1), rows) + 9 * torch.eye(32, dtype=torch.float64)
    assert gaps.min() > 1e-3
    assert {item.kind for item in items} == {"model"}


@pytest.mark.parametrize("name", ["real", "count", "ball2", "cap2"])
def test_where_the_best_point_is_out_already_the_next_best_follows(name):
    """The costs fall evenly towards a border: every search ends at one and the same point."""
    space = space_from_spec(SPACES[name])
    X = space.manifold.random(8, torch.Generator().manual_seed(0))
    none = X[:0]

    items = suggest(Problem(space), History(X, X[:, 0], pending=none, failed=none, abandoned=none), 5, seed=0)

    assert {item.kind for item in items} == {"model"}
    assert len({json.dumps(item.point) for item in items}) == 5


INEQUALITIES = {
    "euclidean2": lambda x: 1.0 - x.sum(-1),
    "spd2": lambda x: 4.0 - x[..., 0] - x[..., 3],
    "rotation3": lambda x: 0.3 - x[..., 0],
}


@pytest.mark.parametrize("name", INEQUALITIES)
def test_inequalities_hold_for_every_suggestion(name):
    """The costs lead beyond them; on SPD(2) into the corner with a bound, from which rounding to float32 moves away."""
    allowed = INEQUALITIES[name]
    space = space_from_spec(SPACES[name])
    for seed in range(4):
        X = space.manifold.random(60, torch.Generator().manual_seed(seed))
        X = X[allowed(X) >= 0][:8]
        none = X[:0]
        history = History(X, allowed(X), pending=none, failed=none, abandoned=none)

        items = suggest(Problem(space, inequalities=[allowed]), history, 2, seed=seed)

        assert (allowed(torch.stack([item.row for item in items])) >= 0).all()
        assert {item.kind for item in items} == {"model"}


def test_a_search_that_loses_its_digits_still_gives_a_promising_point(monkeypatch):
    def fail(*_: object) -> None:
        raise torch.linalg.LinAlgError("the matrix is singular")

    monkeypatch.setitem(SOLVERS, "trust_region", fail)
    space, _, history = observed("rotation3", 8)

    (item,) = suggest(Problem(space), history, 1, seed=0)

    assert item.kind == "model"
    assert "lost its digits" in item.note
    assert space.manifold.contains(item.row)


def test_a_point_that_was_measured_several_times_is_one_of_the_design():
    space = space_from_spec(SPACES["rotation3"])
    X = space.manifold.random(2, torch.Generator().manual_seed(0))
    known = History(X.repeat(3, 1), torch.arange(6).double(), pending=X[:0], failed=X[:0], abandoned=X[:0])

    items = suggest(Problem(space, initial_size=4), known, 3, seed=0)

    assert [item.kind for item in items] == ["initial", "initial", "model"]


@pytest.mark.parametrize("nu", [2.5, math.inf, None])
@pytest.mark.parametrize("name", SPACES)
def test_one_place_measured_again_and_again_still_gives_another_point(name, nu):
    """Pooled, it is one observation: there are no pairs to learn from."""
    space, _, history = observed(name, 1)
    costs = torch.tensor([1.0, 2.0, 1.0, 3.0], dtype=torch.float64)
    none = space.rows([])
    repeated = History(history.X.repeat(4, 1), costs, pending=none, failed=none, abandoned=none)

    (item,) = suggest(Problem(space, nu=nu, initial_size=1), repeated, 1, seed=0)

    assert item.kind == "model"
    assert float(space.manifold.distance(item.row, history.X[0])) > 0
