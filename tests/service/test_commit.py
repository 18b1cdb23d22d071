"""The answer leaves after the commit, and a fault of ours is told as such and changes nothing."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from typing import Any

import pytest
from fastapi import FastAPI
from geodrome.schemas import StudyDefinition
from geodrome_service.app import create_app
from geodrome_service.settings import Settings
from geodrome_service.store import history, outcomes, queueing, sqlite, studies
from geodrome_service.store.database import Database, file_url
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

TELL = "/v1/studies/bench/trials/1/tell"


@pytest.fixture
def app(database: Database, now) -> FastAPI:
    """The application on a database with one study and one queued trial; without a pool, which a tell needs not."""
    definition = StudyDefinition.model_validate({"name": "bench", "space": {"type": "rotation"}})
    origin = {"kind": "initial", "acquisition": None, "value": None, "mean": None, "std": None, "seed": 0, "note": None}
    with database.write.begin() as session:
        study, _ = studies.create(session, definition.model_dump(mode="json"), load=False, now=now)
        queueing.enqueue(session, study, [queueing.Suggested([1.0, 0.0, 0.0, 0.0], origin, {})], now=now)
    return create_app(Settings(), database)


def post(app: FastAPI, path: str, body: dict[str, Any], note=lambda message: None) -> tuple[int, dict[str, Any], bytes]:
    """What the application sends, message by message as a server gets it."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        note(message["type"])
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"x-request-id", b"request-17")],
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    content = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(content), content


def stored_state(database: Database) -> str:
    with database.read() as session:
        return history.find(session, studies.find(session, "bench"), 1).state


def test_the_commit_comes_before_the_answer(app, database):
    order: list[str] = []
    event.listen(database.write, "after_commit", lambda session: order.append("commit"))

    status, _, _ = post(app, TELL, {"cost": 1}, note=order.append)

    assert status == 200
    assert order == ["commit", "http.response.start", "http.response.body"]


def test_a_commit_that_fails_is_no_success(app, database, caplog):
    def fail(session: object) -> None:
        raise OperationalError("COMMIT", {}, sqlite3.OperationalError("disk I/O error"))

    event.listen(database.write, "before_commit", fail)

    status, problem, _ = post(app, TELL, {"cost": 1})

    assert (status, problem["code"], problem["retryable"]) == (503, "database-unavailable", True)
    assert stored_state(database) == "queued"
    assert "request-17" in caplog.text


def test_a_database_that_another_process_holds_is_unavailable(monkeypatch, tmp_path, now):
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 10)
    path = tmp_path / "held.db"
    database = Database(file_url(path))
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")

    app = create_app(Settings(), database)
    status, problem, _ = post(app, "/v1/studies", {"name": "a", "space": {"type": "rotation"}})

    assert (status, problem["code"]) == (503, "database-unavailable")
    held.close()
    database.close()


def test_a_fault_of_ours_shows_no_trace_but_is_in_the_log(app, database, monkeypatch, caplog):
    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(outcomes, "record", break_down)

    with caplog.at_level(logging.ERROR):
        status, problem, content = post(app, TELL, {"cost": 1})

    assert (status, problem["code"], problem["request_id"]) == (500, "internal", "request-17")
    assert b"secret" not in content
    assert b"Traceback" not in content
    assert "request-17" in caplog.text
    assert "secret detail" in caplog.text
    assert stored_state(database) == "queued"


def test_a_refused_request_changes_nothing(app, database):
    commits: list[object] = []
    event.listen(database.write, "after_commit", commits.append)

    status, _, _ = post(app, TELL, {"cost": 1, "point": [0, 0, 0, 0]})

    assert status == 422
    assert commits == []
    assert stored_state(database) == "queued"
