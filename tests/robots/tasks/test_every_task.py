"""What holds for each task that comes with Geodrome."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from geodrome_robots.conformance import check_robot
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.registry import ROBOTS, load
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop, Stopped
from geodrome_robots.tasks.task import Task

WEIGHTED = [(name, weighting) for name in ROBOTS for weighting in load(name).weightings]


@pytest.fixture(params=ROBOTS)
def task(request) -> Task:
    return load(request.param)


@pytest.fixture
def points(task, generator) -> list:
    space = parse_space(task.space)
    return [random_point(space, generator) for _ in range(80)]


def measured(task: Task, point: object, seed: int = 0) -> object:
    try:
        return task.evaluate(point, seed=seed, stop=Stop())
    except Infeasible as error:
        return str(error)


@pytest.mark.parametrize(("name", "weighting"), WEIGHTED)
def test_it_keeps_the_rules_of_a_robot(name, weighting):
    check_robot(load(name, weights=weighting))


def test_a_trial_gives_the_same_bits_after_another_and_on_another_robot(task, points):
    first, *others = points[:4]
    costs = measured(task, first)
    for point in others:
        measured(task, point)

    assert measured(task, first, seed=1) == costs
    assert measured(type(task)(), first) == costs


def test_most_points_are_feasible_and_balanced_weights_give_the_terms_a_like_spread(task, points):
    metrics = []
    for point in points:
        with contextlib.suppress(Infeasible):
            metrics.append(task.evaluate(point, seed=0, stop=Stop()).metrics)

    spreads = [abs(weight) * np.std([one[name] for one in metrics]) for name, weight in task.weights.items()]

    assert task.weighting == "balanced"
    assert len(metrics) > 0.65 * len(points)
    assert max(spreads) < 2 * min(spreads)


def test_it_is_broken_off_when_somebody_wants_it(task, points):
    stop = Stop()
    stop.want("the operator")

    with pytest.raises(Stopped, match="the operator"):
        task.evaluate(points[0], seed=0, stop=stop)


@pytest.mark.parametrize(("name", "weighting"), WEIGHTED)
def test_it_describes_itself_without_making_an_arm(name, weighting):
    task = load(name, weights=weighting)

    described = task.describe()

    assert vars(task).keys() == {"weighting", "weights"}
    assert json.loads(json.dumps(described)) == described
    assert described["cost"]["weights"] == task.weightings[weighting]
    assert described["cost"]["weights"].keys() <= described["cost"]["terms"].keys()
    assert described["deterministic"]
    factors = task.space.get("factors", {})
    assert described["parameters"].keys() >= factors.keys()


def test_weights_that_nobody_defined_are_refused(task):
    with pytest.raises(ValueError, match=f"{task.name} has the weightings balanced.*, not 'heavy'"):
        type(task)("heavy")
