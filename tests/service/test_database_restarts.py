"""The database goes away and comes back: whoever asks and tells meanwhile waits, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import geodrome
import httpx
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL

from tests.postgres import temporary_database
from tests.service.conftest import SPACE


@contextmanager
def away(url: URL) -> Iterator[None]:
    """Cuts all connections to a database, and lets nobody connect, as while its server restarts."""
    name = sql.Identifier(url.database or "")
    server = url.set(database="postgres").render_as_string(hide_password=False)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [url.database])
        try:
            yield
        finally:
            connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))


@pytest.fixture
def url() -> Iterator[URL]:
    with temporary_database() as made:
        yield made


def test_asks_and_tells_are_unavailable_meanwhile_and_go_on_afterwards(start_server, url, tmp_path):
    server = start_server(url, tmp_path)
    with httpx.Client(base_url=server.url, timeout=60) as http:
        http.post("/v1/studies", json={"name": "a", "space": SPACE})
        number = http.post("/v1/studies/a/ask", json={}).json()["trials"][0]["number"]

        with away(url):
            refused = [
                http.post("/v1/studies/a/ask", json={}),
                http.post(f"/v1/studies/a/trials/{number}/tell", json={"cost": 1}),
                http.get("/v1/studies/a"),
                http.get("/v1/studies/a/best"),
                http.post("/v1/studies", json={"name": "b", "space": SPACE}),
            ]
            assert not http.get("/readyz").json()["database"]
            assert http.get("/healthz").status_code == 200

        assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
            (503, "database-unavailable")
        ] * 5
        assert all(answer.json()["retryable"] and int(answer.headers["Retry-After"]) >= 1 for answer in refused)
        assert http.get("/readyz").status_code == 200
        assert http.post(f"/v1/studies/a/trials/{number}/tell", json={"cost": 1}).status_code == 200
        assert http.post("/v1/studies/a/ask", json={}).status_code == 200
    server.stop()
    logged = server.log.read_text().splitlines()
    assert any("the database does not answer" in line for line in logged)
    assert max(map(len, logged)) < 1000  # each request adds a line, and what is known of it is no reason for more


def test_the_sdk_waits_until_the_database_is_back(start_server, url, tmp_path):
    server = start_server(url, tmp_path)
    with geodrome.Client(server.url) as client, ThreadPoolExecutor(1) as robot:
        study = client.create_study("a", space=geodrome.Sphere(dim=2))
        trial = study.ask()

        with away(url):
            telling = robot.submit(trial.tell, cost=0.5)
            assert not wait({telling}, timeout=1.5).done, "it tries again"

        assert telling.result().cost == 0.5
        assert [event.kind for event in study.events()].count("completed") == 1
    server.stop()


def test_a_suggestion_that_is_computed_meanwhile_is_computed_again(start_server, url, tmp_path):
    server = start_server(url, tmp_path)
    with geodrome.Client(server.url) as client, ThreadPoolExecutor(1) as robot:
        study = client.create_study("a", space=geodrome.Sphere(dim=2))
        asking = robot.submit(study.ask)  # the first one waits for a worker that imports torch

        with away(url):
            wait({asking}, timeout=3)

        assert asking.result().number == 1
        assert study.record.counts.queued == 0
    server.stop()
