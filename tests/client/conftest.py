"""Bodies as the service sends them, and a network that answers from a script."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from geodrome import Client, Study

Answer = httpx.Response | Exception
COUNTS = {"queued": 0, "running": 0, "completed": 0, "failed": 0, "lost": 0, "abandoned": 0}


class Script(httpx.BaseTransport):
    """Gives one answer after the other, raises those that are exceptions, and keeps the requests."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests if request.content]

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("Idempotency-Key") for request in self.requests]


@pytest.fixture
def trial_body() -> Callable[..., dict[str, Any]]:
    """A trial on the wire; keyword arguments replace fields."""

    def body(**fields: Any) -> dict[str, Any]:
        origin = {
            "kind": "initial", "acquisition": None, "value": None, "mean": None, "std": None, "seed": 1, "note": None,
        }  # fmt: skip
        return {
            "number": 1, "study": "arm", "state": "running", "worker": None, "attempt": 1, "retry_of": None,
            "point": [1.0, 0.0, 0.0, 0.0], "form": None, "origin": origin, "asked_at": "2026-11-27T12:00:00Z",
            "lease_expires_at": "2026-11-27T12:10:00Z", "told_at": None, "cost": None, "std": None, "values": None,
            "reason": None, "metrics": {}, "metadata": {}, "corrections": [], "flags": [], **fields,
        }  # fmt: skip

    return body


@pytest.fixture
def study_body() -> Callable[..., dict[str, Any]]:
    """A study on the wire; keyword arguments replace fields."""

    def body(**fields: Any) -> dict[str, Any]:
        return {
            "id": "5b0c", "name": "arm", "space": {"type": "rotation"}, "objective": {}, "kernel": {},
            "acquisition": {}, "initial_design": {}, "noise": "inferred", "constraints": [], "seed": 0, "budget": {},
            "lease_s": 600.0, "max_attempts": 3, "metadata": {}, "state": "active",
            "created_at": "2026-11-27T11:00:00Z", "counts": COUNTS, "budget_left": None, "best": None, "notes": [],
            **fields,
        }  # fmt: skip

    return body


@pytest.fixture
def scripted() -> Callable[..., tuple[Client, Script]]:
    """A client whose network gives the answers in turn, and the script that shows what was sent."""

    def make(*answers: Answer, timeout_s: float = 60.0) -> tuple[Client, Script]:
        script = Script(list(answers))
        return Client("http://service", timeout_s=timeout_s, transport=script), script

    return make


@pytest.fixture
def asked(scripted, study_body, trial_body) -> Callable[..., tuple[Study, Script]]:
    """A study and its script: after each ask, which gives trial 1, comes one of the answers."""

    def make(*answers: Answer, **fields: Any) -> tuple[Study, Script]:
        trials = {"trials": [trial_body()]}
        turns = [turn for answer in answers for turn in (httpx.Response(200, json=trials), answer)]
        client, script = scripted(httpx.Response(200, json=study_body(**fields)), *turns)
        study = client.study("arm")
        script.requests.clear()
        return study, script

    return make


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine that refuses connections: it is taken, but nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
