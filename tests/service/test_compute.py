"""Computing happens elsewhere: it stops nothing, survives the death of a worker, and can be done again."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor, wait

import httpx
import psutil
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from geodrome_service.store import studies
from geodrome_service.store.database import Database, database_url
from geodrome_service.store.tables import Trial

from tests.service.histories import fill


def test_the_service_answers_while_a_suggestion_is_computed(http, heavy_study, lab):
    lab.ask()
    path = f"/v1/studies/{heavy_study}"
    assert http.post(f"{path}/ask", json={"count": 8, "wait_s": 0}).status_code == 202

    slowest = 0.0
    for number in range(5):
        for method, address, body in (
            ("GET", "/healthz", None),
            ("GET", f"{path}/trials?limit=1", None),
            ("GET", path, None),
            ("POST", f"{lab.path}/trials/1/tell", {"cost": 1}),
        ):
            began = time.monotonic()
            assert http.request(method, address, json=body).status_code == 200, (number, address)
            slowest = max(slowest, time.monotonic() - began)

    assert http.post(f"{path}/ask", json={"wait_s": 0}).status_code == 202, "it still computes"
    assert slowest < 1.0
    trials = http.post(f"{path}/ask", json={"count": 8, "wait_s": 60}).json()["trials"]
    assert [trial["origin"]["kind"] for trial in trials] == ["model"] * 8


def test_a_worker_that_dies_costs_a_retry_and_no_trial(http, running_server, heavy_study):
    path = f"/v1/studies/{heavy_study}"
    assert http.post(f"{path}/ask", json={"wait_s": 0}).status_code == 202

    assert _kill_workers(running_server.process.pid) == 1

    [trial] = http.post(f"{path}/ask", json={"wait_s": 60}).json()["trials"]
    assert (trial["number"], trial["origin"]["kind"]) == (201, "model")
    assert http.get(f"{path}/trials", params={"state": "lost"}).json()["trials"] == []


def test_when_no_worker_survives_asks_are_unavailable_and_tells_go_on(start_server, empty_url, tmp_path):
    fill(empty_url, "fatal", observations=200)
    server = start_server(empty_url, tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    with httpx.Client(base_url=f"{server.url}/v1/studies/fatal", timeout=60) as http, ThreadPoolExecutor(1) as robots:
        assert http.post("/ask", json={"count": 8, "wait_s": 0}).status_code == 202
        waiting = robots.submit(http.post, "/ask", json={"count": 8, "wait_s": 60})
        while not wait({waiting}, timeout=1).done:  # a worker that has no task yet dies in vain
            _kill_workers(server.process.pid)

        refused = waiting.result()
        told = http.post("/trials/200/tell", json={"outcome": "abandoned"})

        assert (refused.status_code, refused.json()["code"]) == (503, "compute-unavailable")
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["retryable"] is True
        assert told.status_code == 200
        # The last kill may have hit the worker that came after: its task is lost too, and the client repeats the ask.
        again = [http.post("/ask", json={"wait_s": 60}).status_code]
        while again[-1] == 503 and len(again) < 5:
            again.append(http.post("/ask", json={"wait_s": 60}).status_code)
        assert again[-1] == 200
    server.stop()


def test_a_suggestion_can_be_computed_again_to_the_last_digit(lab, running_server):
    costs = [0.3, 0.1, 0.7, 0.4, 0.2, 0.6]
    trials = []
    for cost in costs:
        trials.append(lab.ask())
        lab.tell(trials[-1]["number"], cost=cost)
    suggested = lab.ask()

    database = Database(database_url(running_server.database))
    with database.read() as session:
        study = studies.find(session, lab.name)
        recipe = session.get_one(Trial, (study.serial, suggested["number"])).recipe
    database.close()
    torch.set_num_threads(1)
    space = space_from_spec(study.space)
    empty = space.rows([])
    known = History(
        X=space.rows([trial["point"] for trial in trials]),
        Y=torch.tensor(costs, dtype=torch.float64),
        pending=empty,
        failed=empty,
        abandoned=empty,
    )
    found = suggest(Problem(space), known, count=recipe["count"], seed=recipe["seed"], start=recipe["start"])[
        recipe["index"]
    ]

    assert suggested["origin"]["kind"] == "model"
    assert found.point == suggested["point"]
    assert found.hyperparameters == recipe["hyperparameters"]
    assert (found.value, found.mean, found.std) == tuple(suggested["origin"][name] for name in ("value", "mean", "std"))


def _kill_workers(server: int) -> int:
    """Ends the worker processes that a server has at this moment, and says how many."""
    count = 0
    for child in psutil.Process(server).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it may be gone already; a zombie is
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
                count += 1
    return count
