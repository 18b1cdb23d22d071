"""Two servers on one database: they share studies, queues and the computing of suggestions."""

from __future__ import annotations

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from geodrome_service.store import studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Trial
from sqlalchemy import URL, select

from tests.service.histories import fill

ASKS = 8


@pytest.fixture
def servers(start_server, empty_url, tmp_path):
    """Two servers, on a study whose suggestions take a while."""
    fill(empty_url, "shared", observations=200)
    directories = [tmp_path / "first", tmp_path / "second"]
    for directory in directories:
        directory.mkdir()
    started = [start_server(empty_url, directory) for directory in directories]
    yield started
    for server in started:
        if server.process.poll() is None:
            server.stop()


def recipes(url: URL) -> list[Any]:
    """What the suggestions were computed from, in the order of their trials."""
    database = Database(url)
    with database.read() as session:
        study = studies.find(session, "shared")
        known = select(Trial.recipe).where(Trial.study_serial == study.serial, Trial.number > 200)
        found = list(session.scalars(known.order_by(Trial.number)))
    database.close()
    return found


def ask(url: str, worker: str) -> dict[str, Any]:
    with httpx.Client(base_url=url, timeout=90) as http:
        answer = http.post("/v1/studies/shared/ask", json={"worker": worker, "wait_s": 60})
    assert answer.status_code == 200, answer.text
    [trial] = answer.json()["trials"]
    return trial


def test_asks_of_both_share_one_computation_and_get_different_points(servers, empty_url):
    with ThreadPoolExecutor(ASKS) as robots:
        asked = list(robots.map(lambda number: ask(servers[number % 2].url, f"panda-{number}"), range(ASKS)))

    assert sorted(trial["number"] for trial in asked) == list(range(201, 201 + ASKS))
    assert len({str(trial["point"]) for trial in asked}) == ASKS
    batches = Counter((recipe["seed"], recipe["count"]) for recipe in recipes(empty_url))
    assert sum(batches.values()) == ASKS, "nobody computed what another did"
    assert all(count == found for (_, count), found in batches.items()), "batches are whole"
    assert len(batches) <= ASKS // 2, "asks that came together wait for one batch"


def test_when_the_one_that_computes_is_killed_the_other_takes_over(servers, empty_url, eventually):
    first, second = servers
    with httpx.Client(base_url=first.url) as http:
        http.post("/v1/studies/shared/ask", json={"worker": "panda-1", "wait_s": 0, "count": 32})
    first.stop(signal.SIGKILL)

    trial = ask(second.url, "panda-2")

    assert trial["number"] >= 201
    assert trial["worker"] == "panda-2"
