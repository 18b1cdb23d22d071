"""What is told is stored exactly, once, and cannot be told otherwise; but a person may abandon a trial."""

from __future__ import annotations

import math

import pytest
from geodrome import schemas


def test_a_cost_is_a_whole_body(lab):
    lab.ask()

    answer = lab.tell(1, cost=0.44)

    trial = schemas.Trial.model_validate(answer.json())
    assert answer.status_code == 200
    assert (trial.state, trial.cost, trial.std, trial.values) == ("completed", 0.44, None, None)
    assert trial.told_at is not None
    assert trial.lease_expires_at is None
    assert lab.trial(1) == answer.json()
    assert lab.show()["counts"]["completed"] == 1


@pytest.mark.parametrize("cost", [0.1 + 0.2, 1e-310, 1.7e308, -1e308, 123456789.123456789, -5])
def test_a_cost_comes_back_to_the_last_digit(lab, cost):
    lab.ask()

    lab.tell(1, cost=cost)

    assert lab.trial(1)["cost"] == cost


def test_everything_told_is_kept(lab):
    lab.ask(worker="panda-1")
    told = {
        "cost": 1.5,
        "std": 0.25,
        "reason": "smooth run ü",
        "metrics": {"overshoot N": 3, "settling_s": 0.7},
        "metadata": {"bag": "run_17.mcap", "nested": {"a": [1, None, "x"]}},
    }

    lab.tell(1, **told)

    trial = lab.trial(1)
    assert {name: trial[name] for name in told} == told
    assert (trial["worker"], trial["flags"], trial["corrections"]) == ("panda-1", [], [])


@pytest.mark.parametrize(
    ("told", "cost", "std"),
    [
        ({"costs": [1, 2, 6]}, 3.0, math.sqrt(7 / 3)),
        ({"costs": [1, 2, 6], "std": 0.5}, 3.0, 0.5),
        ({"costs": [1, 2, 6], "std": 0}, 3.0, 0.0),
        ({"costs": [4]}, 4.0, None),
        ({"costs": [0.1, 0.1, 0.1]}, 0.1, 0.0),
        ({"costs": [1e308, 1e308]}, 1e308, 0.0),
    ],
)
def test_repeats_are_summed_up_and_kept(lab, told, cost, std):
    lab.ask()

    trial = lab.tell(1, **told).json()

    assert trial["cost"] == cost
    assert trial["std"] == (None if std is None else pytest.approx(std))
    assert trial["values"] == told["costs"]


@pytest.mark.parametrize("outcome", ["failed", "lost", "abandoned"])
def test_an_outcome_without_a_cost_is_stored_with_its_reason(lab, outcome):
    lab.ask()

    trial = lab.tell(1, outcome=outcome, reason="why", cost=None).json()

    assert (trial["state"], trial["reason"], trial["cost"]) == (outcome, "why", None)


def test_telling_the_same_again_is_harmless(lab):
    lab.ask()
    first = lab.tell(1, cost=0.5, metrics={"a": 1})

    again = lab.tell(1, cost=0.5, metrics={"a": 1})

    assert again.status_code == 200
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers


@pytest.mark.parametrize(
    "otherwise",
    [
        {"cost": 0.6},
        {"costs": [0.5]},
        {"cost": 0.5, "std": 0},
        {"cost": 0.5, "point": [0.1, 0.1]},
        {"cost": 0.5, "metrics": {"a": 1}},
        {"outcome": "failed"},
        {"outcome": "lost"},
    ],
)
def test_telling_otherwise_is_a_conflict_that_shows_what_is_stored(lab, otherwise):
    lab.ask()
    stored = lab.tell(1, cost=0.5).json()

    answer = lab.tell(1, **otherwise)

    assert (answer.status_code, answer.json()["code"]) == (409, "outcome-conflict")
    assert answer.json()["stored"] == stored
    assert lab.trial(1) == stored


@pytest.mark.parametrize("first", [{"cost": 1.0}, {"outcome": "failed"}, {"outcome": "lost"}])
def test_a_person_may_abandon_a_trial_whatever_became_of_it(lab, first):
    lab.ask()
    lab.tell(1, **first)

    answer = lab.tell(1, outcome="abandoned", reason="the sensor was broken")

    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["reason"]) == ("abandoned", "the sensor was broken")
    assert answer.json()["cost"] == first.get("cost")
    assert lab.show()["best"] is None
    assert lab.trials(state="queued") == []
    assert lab.tell(1, **first).status_code == 409


def test_a_trial_that_nobody_asked_for_may_be_told_too(http, lab, eventually):
    http.post(f"{lab.path}/ask", json={"wait_s": 0})
    eventually(lambda: len(lab.trials(state="queued")) == 1)

    trial = lab.tell(1, cost=1).json()

    assert (trial["state"], trial["asked_at"], trial["flags"]) == ("completed", None, [])


def test_the_executed_point_replaces_the_suggested_one(lab):
    lab.ask()

    trial = lab.tell(1, cost=1, point=[[0.5], [-0.25]]).json()

    assert (trial["point"], trial["flags"]) == ([0.5, -0.25], [])


def test_an_executed_point_outside_the_domain_is_an_observation_with_a_flag(lab):
    lab.ask()

    trial = lab.tell(1, cost=1, point=[0.5, 1.2]).json()

    assert (trial["state"], trial["point"], trial["flags"]) == ("completed", [0.5, 1.2], ["outside_domain"])
    assert lab.ask()["number"] == 2


def test_what_is_mended_in_an_executed_point_is_reported(make_lab):
    lab = make_lab(space={"type": "rotation"})
    lab.ask()

    trial = lab.tell(1, cost=1, point=[-0.7071, 0, 0, -0.7071]).json()

    [correction] = trial["corrections"]
    assert trial["point"] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5], abs=1e-12)
    assert correction["pointer"] == "/point"
    assert correction["deviation"] == pytest.approx(9.6e-6, rel=0.01)


def test_the_same_rotation_told_again_with_the_other_sign_is_the_same(make_lab):
    lab = make_lab(space={"type": "rotation"})
    lab.ask()
    lab.tell(1, cost=1, point=[0.6, 0.8, 0, 0])

    again = lab.tell(1, cost=1, point=[-0.6, -0.8, 0, 0])

    assert again.headers["Idempotent-Replayed"] == "true"


def test_costs_from_everywhere_between_the_floats_do_not_stop_the_asking(lab):
    for cost in (1e308, -1e308, 0.0, 1e-308, 5.0, 5.0):
        lab.tell(lab.ask()["number"], cost=cost)

    assert lab.ask()["number"] == 7


def test_trials_are_listed_by_number_page_by_page(http, lab):
    for _ in range(5):
        lab.ask()

    first = http.get(f"{lab.path}/trials", params={"limit": 2}).json()
    second = http.get(f"{lab.path}/trials", params={"limit": 2, "after": first["next_cursor"]}).json()
    third = http.get(f"{lab.path}/trials", params={"limit": 2, "after": second["next_cursor"]}).json()

    assert [[trial["number"] for trial in page["trials"]] for page in (first, second, third)] == [[1, 2], [3, 4], [5]]
    assert third["next_cursor"] is None


def test_trials_are_listed_by_state_and_worker(lab):
    lab.ask(worker="a")
    lab.ask(worker="b")
    lab.tell(1, cost=1)
    lab.ask(worker="a")

    def numbers(**query: str) -> list[int]:
        return [trial["number"] for trial in lab.trials(**query)]

    assert numbers(state="running") == [2, 3]
    assert numbers(worker="a") == [1, 3]
    assert numbers(worker="a", state="completed") == [1]
    assert numbers(worker="nobody") == []
