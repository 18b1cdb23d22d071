"""Initial designs of thousands of points: each ask costs no more than in a small one."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from geodrome_service.store import history, studies

from tests.service.histories import fill

NUMBERS = random.Random(0)

WAIT_S = 30


def own(count: int) -> dict:
    points = [[NUMBERS.uniform(-1, 1), NUMBERS.uniform(-1, 1)] for _ in range(count)]
    return {"trials": [{"point": point, "cost": point[0]} for point in points]}


@pytest.fixture
def large(make_lab):
    """A study with 64 observations, and a design that is larger than that."""

    def make(size: int = 2000, **definition):
        lab = make_lab(initial_design={"size": size}, **definition)
        assert lab.http.post(f"{lab.path}/trials/batch", json=own(64)).status_code == 201
        return lab

    return make


def test_a_small_design_computes_nothing_ahead(lab):
    lab.ask()

    assert lab.show()["counts"]["queued"] == 0


def test_a_large_design_computes_a_few_points_ahead_that_the_next_asks_get(large):
    lab = large()

    first = lab.ask()
    ahead = lab.show()["counts"]["queued"]
    others = [lab.ask() for _ in range(6)]

    assert ahead == 4, "of 64 known points, 32 are more than a small design has, and one in 8 is computed ahead"
    points = [tuple(trial["point"]) for trial in (first, *others)]
    assert {trial["origin"]["kind"] for trial in (first, *others)} == {"initial"}
    assert [trial["number"] for trial in (first, *others)] == list(range(65, 72))
    assert len(set(points)) == 7
    assert first["origin"]["seed"] == others[3]["origin"]["seed"] != others[4]["origin"]["seed"]


def test_the_queue_of_a_large_design_is_filled_before_anybody_waits(large):
    lab = large()
    numbers = [lab.ask()["number"] for _ in range(4)]
    assert numbers == [65, 66, 67, 68], "one of the four points that were computed ahead is left"

    deadline = time.monotonic() + WAIT_S
    while (queued := lab.show()["counts"]["queued"]) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)

    assert queued == 4


def test_nothing_is_computed_ahead_that_the_budget_does_not_pay_for(large):
    lab = large(budget={"trials": 66})

    lab.ask()

    assert lab.show()["counts"]["queued"] == 1


def test_the_last_points_of_a_design_are_not_exceeded(large):
    lab = large(size=66)

    lab.ask()

    assert lab.show()["counts"]["queued"] == 1


def test_the_latest_trials_come_in_their_order(database, empty_url):
    fill(empty_url, "some", observations=7)

    with database.read() as session:
        study = studies.find(session, "some")
        everything = history.observations(session, study)
        latest = history.observations(session, study, latest=3)

    assert len(everything.costs) == 7
    assert latest.observed == everything.observed[-3:]
    assert latest.costs == everything.costs[-3:]
    assert not list(itertools.chain(latest.pending, latest.failed, latest.abandoned))
