"""Who asks gets a point: own running trials first, then queued ones, then new ones; none of them twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import combinations

import httpx
import pytest
from geodrome import schemas
from geodrome_service.store import studies
from geodrome_service.store.database import Database, database_url


def test_an_empty_body_asks_for_one_point(http, lab):
    before = datetime.now(UTC)

    answer = http.post(f"{lab.path}/ask")

    [trial] = schemas.Trials.model_validate(answer.json()).trials
    assert answer.status_code == 200
    assert (trial.number, trial.study, trial.state, trial.worker) == (1, lab.name, "running", None)
    assert (trial.attempt, trial.retry_of, trial.flags) == (1, None, [])
    assert trial.origin.kind == "initial"
    assert trial.origin.seed is not None
    assert all(-1 <= coordinate <= 1 for coordinate in trial.point)
    assert trial.asked_at is not None
    assert before <= trial.asked_at
    assert trial.lease_expires_at == trial.asked_at + timedelta(seconds=600)


def test_after_the_initial_design_the_model_suggests(make_lab):
    lab = make_lab(initial_design={"size": 3})
    for number in range(3):
        lab.tell(lab.ask()["number"], cost=number * 0.5)

    origin = lab.ask()["origin"]

    assert (origin["kind"], origin["acquisition"]) == ("model", "log_ei")
    assert None not in (origin["value"], origin["mean"], origin["std"])


def test_the_initial_design_begins_with_the_known_good_point(make_lab):
    lab = make_lab(initial_design={"size": 3, "around": [0.25, -0.5], "spread": 0.05})

    first = lab.ask()["point"]
    lab.tell(1, cost=1.0)
    second = lab.ask()["point"]

    assert first == [0.25, -0.5]
    assert first != second
    assert all(abs(a - b) < 0.3 for a, b in zip(first, second, strict=True))


def test_the_same_seed_gives_the_same_points(http, study_name):
    def points(name: str, seed: int) -> list[object]:
        body = {"name": name, "space": {"type": "rotation"}, "seed": seed, "initial_design": {"size": 2}}
        http.post("/v1/studies", json=body)
        found = []
        for number in range(1, 5):
            [trial] = http.post(f"/v1/studies/{name}/ask").json()["trials"]
            found.append(trial["point"])
            http.post(f"/v1/studies/{name}/trials/{number}/tell", json={"cost": trial["point"][0] ** 2})
        return found

    first = points(f"{study_name}-a", 3)

    assert points(f"{study_name}-b", 3) == first
    assert points(f"{study_name}-c", 4) != first


def apart(point, other) -> bool:
    """Whether two canonical points differ by more than rounding."""
    match point:
        case dict():
            return any(apart(point[name], other[name]) for name in point)
        case list():
            return any(apart(part, its) for part, its in zip(point, other, strict=True))
        case _:
            return abs(point - other) > 1e-4


@pytest.mark.parametrize(
    "space",
    [
        {"type": "rotation"},
        {"type": "spd", "dim": 2, "eigenvalues": [1, 100]},
        {"type": "sphere", "dim": 2},
        {
            "type": "product",
            "factors": {"gain": {"type": "real", "bounds": [1, 100], "scale": "log"}, "tool": {"type": "rotation"}},
        },
    ],
    ids=lambda space: space["type"],
)
def test_eight_robots_that_ask_at_once_get_eight_points(server, http, study_name, space):
    http.post("/v1/studies", json={"name": study_name, "space": space, "initial_design": {"size": 3}})
    together = threading.Barrier(8)

    def ask(robot: int) -> dict[str, object]:
        with httpx.Client(base_url=server, timeout=60) as own:
            together.wait()
            answer = own.post(f"/v1/studies/{study_name}/ask", json={"worker": f"robot-{robot}", "wait_s": 60})
        [trial] = answer.json()["trials"]
        return trial

    with ThreadPoolExecutor(8) as robots:
        trials = list(robots.map(ask, range(8)))

    assert sorted(trial["number"] for trial in trials) == list(range(1, 9))
    assert all(apart(one["point"], other["point"]) for one, other in combinations(trials, 2))
    assert {trial["worker"] for trial in trials} == {f"robot-{robot}" for robot in range(8)}
    assert len(http.get(f"/v1/studies/{study_name}/trials").json()["trials"]) == 8


def test_a_batch_is_as_large_as_was_asked(http, lab):
    trials = http.post(f"{lab.path}/ask", json={"count": 7}).json()["trials"]

    assert [trial["number"] for trial in trials] == list(range(1, 8))
    assert len({str(trial["point"]) for trial in trials}) == 7


def test_a_worker_that_comes_back_gets_its_own_trial_with_a_new_lease(lab):
    first = lab.ask(worker="panda-1", lease_s=60)
    other = lab.ask(worker="panda-2")

    again = lab.ask(worker="panda-1", lease_s=3600)

    assert other["number"] != first["number"] == again["number"]
    assert again["point"] == first["point"]
    assert again["asked_at"] == first["asked_at"]
    assert again["lease_expires_at"] > first["lease_expires_at"]
    assert len(lab.trials()) == 2


def test_a_worker_that_wants_no_old_trials_gets_a_new_one(lab):
    lab.ask(worker="panda-1")

    assert lab.ask(worker="panda-1", resume=False)["number"] == 2


def test_somebody_unnamed_gets_no_old_trials(lab):
    lab.ask()

    assert lab.ask()["number"] == 2


def test_own_trials_come_before_new_ones_in_a_batch(http, lab):
    lab.ask(worker="panda-1")

    trials = http.post(f"{lab.path}/ask", json={"worker": "panda-1", "count": 3}).json()["trials"]

    assert [trial["number"] for trial in trials] == [1, 2, 3]


def test_what_was_computed_for_nobody_is_handed_out_in_order(http, lab, eventually):
    assert http.post(f"{lab.path}/ask", json={"count": 2, "wait_s": 0}).status_code == 202
    eventually(lambda: len(lab.trials(state="queued")) == 2)

    assert [lab.ask()["number"], lab.ask()["number"]] == [1, 2]


def test_not_ready_in_time_is_202_and_the_repeat_gets_the_trial(http, lab):
    key = {"Idempotency-Key": lab.name}

    answers = [http.post(f"{lab.path}/ask", json={"wait_s": 0}, headers=key)]
    while answers[-1].status_code == 202:
        answers.append(http.post(f"{lab.path}/ask", json={"wait_s": 0}, headers=key))

    assert answers[0].status_code == 202
    assert int(answers[0].headers["Retry-After"]) >= 1
    assert "same Idempotency-Key" in answers[0].json()["detail"]
    assert answers[-1].json()["trials"][0]["number"] == 1
    assert len(lab.trials()) == 1


def test_the_point_of_a_robot_that_went_away_is_for_the_next(server, lab, eventually):
    with httpx.Client(base_url=server, timeout=0.005) as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post(f"{lab.path}/ask", json={"worker": "gone"})
    eventually(lambda: len(lab.trials()) == 1)

    trial = lab.ask(worker="panda-1")

    assert (trial["number"], trial["worker"]) == (1, "panda-1")
    assert len(lab.trials()) == 1


def test_a_spent_budget_closes_the_study_for_asks(make_lab, http):
    lab = make_lab(budget={"trials": 2})
    lab.tell(lab.ask()["number"], cost=1)
    lab.tell(lab.ask()["number"], outcome="failed", reason="e-stop")

    answer = http.post(f"{lab.path}/ask")

    assert (answer.status_code, answer.json()["code"]) == (409, "study-closed")
    assert "budget" in answer.json()["detail"]
    assert (lab.show()["budget_left"], lab.show()["state"]) == (0, "active")


def test_two_robots_cannot_overshoot_the_budget(make_lab, http):
    lab = make_lab(budget={"trials": 2})
    lab.ask(worker="a")
    lab.ask(worker="b")

    third = http.post(f"{lab.path}/ask", json={"worker": "c"})

    assert (third.status_code, third.json()["code"]) == (409, "study-closed")
    assert "2 still run" in third.json()["detail"]
    assert lab.ask(worker="a")["number"] == 1


def test_a_budget_that_pays_for_fewer_gives_fewer(make_lab, http):
    lab = make_lab(budget={"trials": 3})

    trials = http.post(f"{lab.path}/ask", json={"count": 5}).json()["trials"]

    assert len(trials) == 3


def test_one_who_asks_again_and_again_without_a_key_is_counted_once(http, heavy_study, eventually):
    path = f"/v1/studies/{heavy_study}"
    polls = [http.post(f"{path}/ask", json={"wait_s": 0}) for _ in range(12)]

    eventually(lambda: http.get(path).json()["counts"]["queued"] > 0)

    assert {answer.status_code for answer in polls} <= {200, 202}
    counts = http.get(path).json()["counts"]
    assert counts["queued"] + counts["running"] <= 4, "not one for each poll"


@pytest.mark.parametrize(("state", "code"), [("paused", "study-paused"), ("closed", "study-closed")])
def test_a_paused_or_closed_study_refuses_asks_but_not_tells(http, lab, running_server, state, code):
    lab.ask()
    database = Database(database_url(running_server.database))
    with database.write.begin() as session:
        studies.find(session, lab.name).state = state
    database.close()

    refused = http.post(f"{lab.path}/ask", json={"wait_s": 0})

    assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert lab.tell(1, cost=1).status_code == 200
    assert lab.show()["state"] == state


def test_lost_trials_are_free(make_lab):
    lab = make_lab(budget={"trials": 1})
    lab.ask()
    lab.tell(1, outcome="lost", reason="network")

    repeat = lab.ask()

    assert (repeat["number"], repeat["retry_of"]) == (2, 1)
    assert lab.show()["budget_left"] == 1


def test_a_heat_kernel_suggests_like_any_other(make_lab):
    """Its smoothness is infinite, which no JSON says as a number."""
    lab = make_lab(kernel={"nu": "inf"}, initial_design={"size": 2})
    for cost in (0.5, 0.2):
        lab.tell(lab.ask()["number"], cost=cost)

    assert lab.ask()["origin"]["kind"] == "model"
