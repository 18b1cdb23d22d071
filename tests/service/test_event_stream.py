"""The live stream of events: what happened, then what happens, and where a broken one goes on."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

STREAM = {"Accept": "text/event-stream"}


def received(lines: Iterator[str], count: int) -> list[dict[str, Any]]:
    """The next events of a stream."""
    found: list[dict[str, Any]] = []
    event: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name in {"id", "event", "data"}:
            event[name] = value
        elif not line and event:
            found.append({**json.loads(event["data"]), "id": event["id"], "event": event["event"]})
            event = {}
            if len(found) == count:
                return found
    raise AssertionError("the stream ended early")


def test_a_stream_tells_what_happened_and_goes_on_as_it_happens(http, lab):
    lab.ask(worker="panda-1")

    with http.stream("GET", f"{lab.path}/events", headers=STREAM) as answer:
        lines = answer.iter_lines()
        before = received(lines, 3)
        asked_at = time.monotonic()
        lab.tell(1, cost=1.5)
        [told] = received(lines, 1)
        delay_s = time.monotonic() - asked_at

    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert [event["event"] for event in before] == ["created", "queued", "running"]
    assert [event["id"] for event in before] == ["1", "2", "3"]
    assert (told["kind"], told["number"], told["details"]["told"]["cost"]) == ("completed", 1, 1.5)
    assert delay_s < 10


@pytest.mark.parametrize(("headers", "query"), [({"Last-Event-ID": "2"}, {}), ({}, {"after": 2})])
def test_a_stream_begins_after_the_last_event_that_was_seen(http, lab, headers, query):
    lab.ask()

    with http.stream("GET", f"{lab.path}/events", headers=STREAM | headers, params=query) as answer:
        [event] = received(answer.iter_lines(), 1)

    assert (event["position"], event["kind"]) == (3, "running")


def test_a_stream_of_a_study_that_is_deleted_ends(http, lab):
    with http.stream("GET", f"{lab.path}/events", headers=STREAM) as answer:
        lines = answer.iter_lines()
        received(lines, 1)
        http.delete(lab.path)
        rest = [line for line in lines if line.startswith("data")]

    assert rest == []


def test_a_stream_of_an_unknown_study_is_refused(http):
    answer = http.get("/v1/studies/nobody/events", headers=STREAM)

    assert (answer.status_code, answer.json()["code"]) == (404, "study-not-found")


def test_a_server_that_stops_ends_its_streams(start_server, empty_url, tmp_path):
    server = start_server(empty_url, tmp_path)
    with httpx.Client(base_url=server.url, timeout=30) as http:
        http.post("/v1/studies", json={"name": "s", "space": {"type": "rotation"}})
        with http.stream("GET", "/v1/studies/s/events", headers=STREAM) as answer:
            lines = answer.iter_lines()
            received(lines, 1)
            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            assert [line for line in lines if line.startswith("data")] == []
    code = server.process.wait(30)

    assert code == 0
    assert time.monotonic() - started < 9, "nobody waits for the time of grace"
