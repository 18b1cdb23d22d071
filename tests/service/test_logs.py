"""The log: a line for each request, in one form for all who write, and without secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys

import httpx
import pytest
from geodrome_service import logs
from geodrome_service.cluster import open_pool
from geodrome_service.settings import Settings
from geodrome_service.store.database import Database
from structlog.contextvars import bound_contextvars

from tests.service.calling import Service
from tests.service.conftest import SPACE

KEY = "geodrome_" + "k" * 43
PASSWORD = "hunter2-of-the-lab"


@pytest.fixture
def written(capsys):
    """Sets the log up; returns what reads it. Afterwards it is as it was."""
    root, own = logging.getLogger(), logging.getLogger("geodrome")
    handlers, levels = list(root.handlers), (root.level, own.level)

    def configure(form: str = "json", level: str = "info"):
        logs.configure(logs.Logging(form, level))
        return lambda: capsys.readouterr().err

    yield configure
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])


def test_each_request_leaves_one_line(service, written):
    read = written()
    key = service.make_key("viewer")

    service("GET", "/v1/studies/nobody?x=1", key=key, headers={"X-Request-Id": "request-17"})

    [line] = [json.loads(line) for line in read().splitlines()]
    assert line.pop("seconds") >= 0
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "request", "level": "info", "logger": "geodrome.requests", "request_id": "request-17",
        "method": "GET", "route": "/v1/studies/{study}", "status": 404, "study": "nobody", "key": 1,
    }  # fmt: skip


def test_what_programs_ask_every_few_seconds_is_not_news(service, written):
    read = written()
    for path in ("/healthz", "/readyz", "/metrics"):
        service("GET", path)
    assert read() == ""

    read = written(level="debug")
    service("GET", "/healthz")

    assert "/healthz" in read()


def test_a_fault_is_told_with_its_trace_under_the_id_of_its_request(service, written, monkeypatch):
    read = written(level="error")

    def fail(_request):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("geodrome_service.api.rules.PATTERNS", {})
    monkeypatch.setattr("geodrome_service.api.access._bearer", fail)

    answer = service("GET", "/v1/studies", headers={"X-Request-Id": "request-18"})

    [line] = [json.loads(line) for line in read().splitlines()]
    assert answer.status_code == 500
    assert line["request_id"] == "request-18"
    assert "ZeroDivisionError: no such luck" in line["exception"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_whatever_looks_like_a_secret_is_blotted_out(written, form):
    read = written(form)
    log = logging.getLogger("geodrome.anything")
    try:
        raise ValueError(f"postgresql://me:{PASSWORD}@lab/geodrome")
    except ValueError as error:
        log.error("%s", {"Authorization": f"Bearer {KEY}"}, exc_info=error)
    log.warning("a question: /v1/studies?key=%s", KEY, extra={"header": "Basic c2VjcmV0"})
    log.warning("host=lab password=%s user=me", PASSWORD)
    with bound_contextvars(key=KEY):
        log.warning("more")

    text = read()

    assert len(text.splitlines()) >= 4
    for secret in (KEY, KEY[9:], PASSWORD, "c2VjcmV0"):
        assert secret not in text
    assert "ValueError: postgresql://me:***@lab/geodrome" in text


def test_the_values_of_variables_are_in_no_trace(written):
    read = written("console")
    password = PASSWORD
    try:
        raise ValueError(len(password))
    except ValueError as error:
        logging.getLogger("geodrome").error("it failed", exc_info=error)

    text = read()
    assert "ValueError: 18" in text
    assert PASSWORD not in text


def test_a_line_for_people_has_the_same_words(service, written):
    read = written("console")

    service("GET", "/v1/studies")

    [line] = read().splitlines()
    assert "request" in line
    assert "route=/v1/studies" in line
    assert "status=200" in line


def test_the_form_is_for_programs_where_no_terminal_is(monkeypatch):
    assert logs.logging_of(None, "info").form == "json"
    assert logs.logging_of("console", "info").form == "console"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert logs.logging_of(None, "info").form == "console"


def test_workers_log_the_same_way(capfd):
    async def warn() -> None:
        async with open_pool(Settings(log_format="json")) as pool:
            await pool.is_ready()
            await pool._run(logging.getLogger("distributed.worker").warning, "memory is short")
            await pool._run(logging.getLogger("distributed.worker").info, "not worth a line")

    asyncio.run(warn())

    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["event"], line["level"], line["logger"]) for line in lines] == [
        ("memory is short", "warning", "distributed.worker")
    ]


def test_a_server_writes_only_json_and_no_secrets(start_server, empty_url, tmp_path):
    url = empty_url if empty_url.get_backend_name() == "sqlite" else empty_url.set(password=PASSWORD)
    database = Database(empty_url)
    key = Service(database).make_key("admin")
    database.close()
    server = start_server(url, tmp_path, GEODROME_LOG_LEVEL="debug")
    with httpx.Client(base_url=server.url, timeout=60, headers={"Authorization": f"Bearer {key}"}) as http:
        made = http.post("/v1/studies", json={"name": "arm", "space": SPACE})
        asked = http.post("/v1/studies/arm/ask")
        lost = http.get("/v1/nothing", params={"key": key})
        wrong = http.get("/v1/studies", headers={"Authorization": f"Bearer {key}x"})
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(b"no HTTP at all\r\n\r\n")
        connection.makefile("rb").read()
    server.stop()

    text = server.log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]

    assert [answer.status_code for answer in (made, asked, lost, wrong)] == [201, 200, 404, 401]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests if line["status"] != 200 or line["method"] == "POST"] == [
        201,
        200,
        404,
        401,
    ]
    assert [line.get("key") for line in requests] == [1, 1, 1, None]
    assert [line["logger"] for line in lines if "Invalid HTTP" in line["event"]] == ["uvicorn.error"]
    assert all(secret not in text for secret in (key, key[9:], PASSWORD))
