"""Points of one's own: observations from elsewhere, points to be run, and what is the same point."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

INSIDE, OUTSIDE = [0.25, -0.5], [2.0, 0.0]
HALF = math.sqrt(0.5)


@pytest.fixture
def add(http, lab):
    """Adds a point to the study."""
    return lambda **body: http.post(f"{lab.path}/trials", json=body)


def test_a_point_with_a_cost_is_an_observation(lab, add):
    answer = add(point=INSIDE, cost=1.5, std=0.1, metrics={"rms": 3.0}, metadata={"bag": "a.mcap"})

    trial = answer.json()
    assert answer.status_code == 201
    assert (trial["number"], trial["state"], trial["cost"], trial["std"]) == (1, "completed", 1.5, 0.1)
    assert trial["origin"]["kind"] == "told"
    assert (trial["metrics"], trial["metadata"]) == ({"rms": 3.0}, {"bag": "a.mcap"})
    assert lab.show()["counts"]["completed"] == 1
    assert lab.show()["best"]["number"] == 1


def test_a_point_without_a_cost_is_handed_out_next(lab, add):
    answer = add(point=INSIDE, metadata={"why": "worked in May"})

    asked = lab.ask(worker="panda-1")

    assert (answer.status_code, answer.json()["state"], answer.json()["origin"]["kind"]) == (201, "queued", "enqueued")
    assert (asked["number"], asked["point"], asked["metadata"]) == (1, INSIDE, {"why": "worked in May"})
    assert lab.tell(1, cost=2.0).status_code == 200


def test_repeated_costs_are_told_of_an_own_point_as_of_any_other(add):
    trial = add(point=INSIDE, costs=[1.0, 2.0, 3.0]).json()

    assert (trial["cost"], trial["values"]) == (2.0, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("outcome", ["failed", "abandoned"])
def test_an_outcome_without_a_cost_is_an_observation(lab, add, outcome):
    trial = add(point=INSIDE, outcome=outcome, reason="joint limit").json()

    assert (trial["state"], trial["reason"], trial["cost"]) == (outcome, "joint limit", None)
    assert lab.show()["counts"][outcome] == 1


def test_an_observation_may_lie_outside_and_is_flagged_a_point_to_be_run_may_not(lab, add):
    told, queued = add(point=OUTSIDE, cost=9.0), add(point=OUTSIDE)

    assert (told.status_code, told.json()["point"], told.json()["flags"]) == (201, OUTSIDE, ["outside_domain"])
    assert (queued.status_code, queued.json()["code"]) == (422, "invalid-point")
    assert queued.json()["errors"][0]["pointer"].startswith("/point")
    assert lab.show()["counts"]["queued"] == 0


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"cost": 1}, "invalid-point", "/point"),
        ({"point": [0, 0], "cost": "NaN"}, "invalid-cost", "/cost"),
        ({"point": [0, 0], "cost": None, "outcome": "completed"}, "invalid-cost", "/cost"),
        ({"point": [0, 0], "cost": 1, "outcome": "failed"}, "invalid-cost", "/cost"),
        ({"point": [0, 0], "std": 1}, "invalid-cost", "/cost"),
        ({"point": [0, 0], "outcome": "lost"}, "invalid-request", "/outcome"),
        ({"point": [0, 0], "worker": "x"}, "invalid-request", "/worker"),
        ({"point": [0, 0, 0], "cost": 1}, "invalid-point", "/point"),
    ],
)
def test_what_is_wrong_is_named_and_adds_nothing(http, lab, body, code, pointer):
    answer = http.post(f"{lab.path}/trials", json=body)

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert lab.trials() == []


def test_the_same_point_of_the_manifold_is_skipped_on_request(make_lab, http):
    lab = make_lab(space={"type": "rotation"})
    first = http.post(f"{lab.path}/trials", json={"point": [HALF, 0, 0, HALF]}).json()

    same = http.post(f"{lab.path}/trials", json={"point": [-HALF, 0, 0, -HALF], "skip_if_exists": True})
    other = http.post(f"{lab.path}/trials", json={"point": [HALF, 0, HALF, 0], "skip_if_exists": True})
    again = http.post(f"{lab.path}/trials", json={"point": [-HALF, 0, 0, -HALF]})

    assert (same.status_code, same.json()) == (200, first)
    assert (other.status_code, other.json()["number"]) == (201, 2)
    assert (again.status_code, again.json()["number"]) == (201, 3)


def test_a_batch_is_added_whole_and_in_order(http, lab):
    bodies = [{"point": [index / 1000, 0], "cost": index} for index in range(500)]

    answer = http.post(f"{lab.path}/trials/batch", json={"trials": bodies})

    assert answer.status_code == 201
    assert [trial["cost"] for trial in answer.json()["trials"]] == list(range(500))
    assert lab.show()["counts"]["completed"] == 500


def test_a_batch_with_one_wrong_point_adds_nothing_and_says_which(http, lab):
    bodies = [{"point": [0, 0], "cost": 1}, {"point": [0], "cost": 1}, {"point": "x", "cost": 1}]

    answer = http.post(f"{lab.path}/trials/batch", json={"trials": bodies})
    cost = http.post(
        f"{lab.path}/trials/batch", json={"trials": [bodies[0], {"point": [0, 0], "outcome": "completed"}]}
    )

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-point")
    assert [error["pointer"][:17] for error in answer.json()["errors"]] == ["/trials/1/point", "/trials/2/point"]
    assert (cost.status_code, cost.json()["code"]) == (422, "invalid-cost")
    assert cost.json()["errors"][0]["pointer"] == "/trials/1/cost"
    assert lab.trials() == []


def test_a_batch_skips_what_it_has_itself(http, lab):
    body = {"point": [0.5, 0.5], "cost": 1, "skip_if_exists": True}

    first = http.post(f"{lab.path}/trials/batch", json={"trials": [body, body]})
    again = http.post(f"{lab.path}/trials/batch", json={"trials": [body]})

    assert (first.status_code, [trial["number"] for trial in first.json()["trials"]]) == (201, [1, 1])
    assert (again.status_code, [trial["number"] for trial in again.json()["trials"]]) == (200, [1])


def test_robots_that_bring_the_same_points_at_once_add_each_of_them_once(http, lab):
    points = [[index / 10, 0] for index in range(5)]

    def bring(_robot: int) -> list[int]:
        bodies = [{"point": point, "cost": 1, "skip_if_exists": True} for point in points]
        return [http.post(f"{lab.path}/trials", json=body).json()["number"] for body in bodies]

    with ThreadPoolExecutor(8) as robots:
        found = list(robots.map(bring, range(8)))

    assert [trial["point"] for trial in lab.trials()] == points
    assert found == [[1, 2, 3, 4, 5]] * 8


def test_a_trial_is_where_it_was_run(http, lab):
    trial = lab.ask()
    lab.tell(trial["number"], cost=1, point=[0.25, 0.25])
    elsewhere = {"point": trial["point"], "cost": 1, "skip_if_exists": True}

    there = http.post(f"{lab.path}/trials", json={"point": [0.25, 0.25], "cost": 1, "skip_if_exists": True})
    new = http.post(f"{lab.path}/trials", json=elsewhere)

    assert (there.status_code, there.json()["number"]) == (200, trial["number"])
    assert new.status_code == 201


def test_a_batch_has_at_most_a_thousand(http, lab):
    answer = http.post(f"{lab.path}/trials/batch", json={"trials": [{"point": [0, 0]}] * 1001})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/trials")


def test_a_point_is_added_once_under_a_key(http, lab, study_name):
    headers = {"Idempotency-Key": study_name}

    first, twin = (http.post(f"{lab.path}/trials", json={"point": INSIDE, "cost": 1}, headers=headers) for _ in "ab")

    assert twin.json() == first.json()
    assert twin.headers["Idempotent-Replayed"] == "true"
    assert len(lab.trials()) == 1


def test_a_closed_study_takes_observations_but_no_points_to_be_run(http, lab, add):
    http.patch(lab.path, json={"state": "closed"})

    assert add(point=INSIDE, cost=1).status_code == 201
    refused = add(point=INSIDE)
    assert (refused.status_code, refused.json()["code"]) == (409, "study-closed")


def test_suggestions_learn_from_own_points(http, lab):
    bodies = [{"point": [x / 3 - 1, 0.5], "cost": (x / 3 - 1) ** 2} for x in range(7)]
    http.post(f"{lab.path}/trials/batch", json={"trials": bodies})

    asked = lab.ask()

    assert asked["origin"]["kind"] == "model"
