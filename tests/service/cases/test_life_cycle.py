"""Cases from the field: the life of a trial."""

from __future__ import annotations

import itertools
from pathlib import Path

import httpx
import pytest

from tests.service.cases.wire import asked, distance, predicted
from tests.service.conftest import SPACE, Lab

BOX = {"type": "real", "bounds": [0, 1]}
SPACES = {
    "real": BOX,
    "integer": {"type": "integer", "bounds": [0, 20]},
    "euclidean": SPACE,
    "joints": {"type": "joints", "bounds": [[-2, 2], [-1, 1]]},
    "torus": {"type": "torus", "dim": 2},
    "sphere": {"type": "sphere", "dim": 2},
    "rotation": {"type": "rotation"},
    "rotation4": {"type": "rotation", "dim": 4},
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [1, 100]},
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [1, 100]},
    "spd6": {"type": "spd", "dim": 6, "eigenvalues": [1, 100], "metric": "cholesky"},
    "eigen_product": {"type": "spd", "dim": 2, "eigenvalues": [1, 100], "metric": "eigen_product"},
    "hyperbolic": {"type": "hyperbolic", "dim": 2, "radius": 2},
    "pose": {"type": "pose", "position": {"bounds": [[-1, 1]] * 3}, "orientation": {}},
    "product": {"type": "product", "factors": {"gain": BOX, "tool": {"type": "rotation"}}},
}


@pytest.mark.parametrize("is_asked_again", [False, True], ids=["nobody has it", "somebody has it"])
def test_a_result_after_the_lease_is_kept(make_lab, eventually, is_asked_again):
    """L44, optuna/optuna#5470, Epistimio/orion#704; with a lease of 0.05 s in place of 1 s."""
    lab = make_lab(lease_s=0.05)
    trial = lab.ask(worker="panda-1")
    eventually(lambda: lab.trial(trial["number"])["state"] == "lost")
    again = lab.ask(worker="panda-2", lease_s=60) if is_asked_again else None

    late = lab.tell(trial["number"], cost=1.0)

    assert (late.status_code, late.json()["state"], late.json()["flags"]) == (200, "completed", ["late"])
    if again is not None:
        assert again["retry_of"] == trial["number"]
        assert lab.tell(again["number"], cost=1.1).status_code == 200
        assert [one["cost"] for one in lab.trials()] == [1.0, 1.1]
        assert lab.trials()[0]["point"] == lab.trials()[1]["point"]
    assert lab.ask(worker="panda-3")["state"] == "running"


def test_the_model_learns_from_what_ran_and_the_budget_pays_for_it(make_lab):
    """L46, allenai/vla-evaluation-harness#129, OpenRAL/openral#263."""
    lab = make_lab(budget={"trials": 20}, initial_design={"size": 12})
    trials = asked(lab, 12)
    for trial in trials[:5]:
        lab.tell(trial["number"], cost=trial["point"][0])
    for trial in trials[5:8]:
        lab.tell(trial["number"], outcome="failed", reason="unstable")
    for trial in trials[8:]:
        lab.tell(trial["number"], outcome="lost", reason="network")

    study = lab.show()
    assert [study["counts"][state] for state in ("completed", "failed", "lost", "queued")] == [5, 3, 4, 4]
    assert study["budget_left"] == 20 - 5 - 3
    again = asked(lab, 4)
    assert [trial["point"] for trial in again] == [trial["point"] for trial in trials[8:]]
    # Failures are in the model: a chance to succeed is known, and worse where runs failed.
    feasible = [one["feasible"] for one in predicted(lab, *[trial["point"] for trial in trials[:8]])]
    assert min(feasible[:5]) > max(feasible[5:])


def test_nothing_is_asked_near_an_abandoned_point(make_lab):
    """L47, facebook/Ax#329, #372; a lost point comes again. Of 50 asks, the last 42 are answered by the model."""
    lab = make_lab(initial_design={"size": 8})
    first, second = asked(lab, 2)
    lab.tell(first["number"], outcome="abandoned", reason="the cable is in the way")
    lab.tell(second["number"], outcome="lost")

    points = [trial["point"] for trial in asked(lab, 8)]
    for number in range(3, 11):
        lab.tell(number, cost=distance(SPACE, lab.trial(number)["point"], first["point"]))
    points += [trial["point"] for _ in range(6) for trial in asked(lab, 7)]

    assert points[0] == second["point"]
    assert lab.trials()[-1]["origin"]["kind"] == "model"
    assert min(distance(SPACE, point, first["point"]) for point in points) > 0.02


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_parallel_robots_get_different_points(make_lab, space):
    """L49, optuna/optuna#1547, facebookresearch/nevergrad#976; q and -q count as one."""
    lab = make_lab(space=space)

    points = [trial["point"] for trial in asked(lab, 8)]

    assert all(distance(space, one, other) > 1e-6 for one, other in itertools.combinations(points, 2))


def test_a_trial_of_a_worker_that_was_killed_is_not_stuck(start_server, empty_url, tmp_path: Path, eventually):
    """L50, optuna/optuna#485, #3215; with a lease of 0.2 s, which ends while no server runs."""
    server = start_server(empty_url, tmp_path)
    with httpx.Client(base_url=server.url, timeout=60) as http:
        Lab(http, "killed", space=BOX, lease_s=0.2, budget={"trials": 1}).ask(worker="panda-1")
    server.stop()
    again = start_server(empty_url, tmp_path)

    with httpx.Client(base_url=again.url, timeout=60) as http:
        eventually(lambda: http.get("/v1/studies/killed/trials/1").json()["state"] == "lost")
        answer = http.post("/v1/studies/killed/ask", json={"worker": "panda-2", "lease_s": 60})

    again.stop()
    assert (answer.status_code, answer.json()["trials"][0]["retry_of"]) == (200, 1)
