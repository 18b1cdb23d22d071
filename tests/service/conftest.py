"""What tests of the service share: studies made in a line, and a database without a server."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from geodrome.schemas import Outcome, StudyDefinition
from geodrome_service.store import studies, trials
from geodrome_service.store.database import Database

SPACE = {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [-1, 1]]}
ORIGIN = {"kind": "told", "acquisition": None, "value": None, "mean": None, "std": None, "seed": None, "note": None}
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


class Lab:
    """A study on the shared server, and those who work with it."""

    def __init__(self, http: httpx.Client, name: str, **definition: Any) -> None:
        self.http = http
        self.name = name
        self.path = f"/v1/studies/{name}"
        body = {"name": name, "space": SPACE, **definition}
        self.created = http.post("/v1/studies", json=body)
        assert self.created.status_code == 201, self.created.text

    def ask(self, **body: Any) -> dict[str, Any]:
        """One trial."""
        answer = self.http.post(f"{self.path}/ask", json=body)
        assert answer.status_code == 200, answer.text
        [trial] = answer.json()["trials"]
        return trial

    def tell(self, number: int, **body: Any) -> httpx.Response:
        return self.http.post(f"{self.path}/trials/{number}/tell", json=body)

    def trial(self, number: int) -> dict[str, Any]:
        return self.http.get(f"{self.path}/trials/{number}").json()

    def trials(self, **query: Any) -> list[dict[str, Any]]:
        return self.http.get(f"{self.path}/trials", params=query).json()["trials"]

    def show(self) -> dict[str, Any]:
        return self.http.get(self.path).json()


@pytest.fixture
def make_lab(http: httpx.Client, study_name: str) -> Callable[..., Lab]:
    """Makes a study of two bounded numbers on the shared server."""

    def make(**definition: Any) -> Lab:
        return Lab(http, study_name, **definition)

    return make


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """A study with all its defaults."""
    return make_lab()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database of one's own."""
    opened = Database(tmp_path / "geodrome.db")
    yield opened
    opened.close()


def fill(path: Path, name: str, *, observations: int) -> None:
    """Makes a study of rotations with many completed trials, so that a suggestion takes a while to compute."""
    definition = StudyDefinition.model_validate({"name": name, "space": {"type": "rotation"}})
    numbers = random.Random(0)
    opened = Database(path)
    with opened.write.begin() as session:
        study, _ = studies.create(session, definition.model_dump(mode="json"), load=False, now=NOW)
        rotations = [[numbers.gauss(0, 1) for _ in range(4)] for _ in range(observations)]
        points = [[part / math.hypot(*rotation) for part in rotation] for rotation in rotations]
        trials.enqueue(session, study, [trials.Suggested(point, ORIGIN, {}) for point in points], now=NOW)
        for number, point in enumerate(points, start=1):
            trials.record_outcome(session, study, number, completed(point[0] ** 2 + point[1]), now=NOW)
    opened.close()


def completed(cost: float) -> trials.Told:
    """The outcome that a body of a cost alone stands for."""
    body = {"outcome": "completed", "cost": cost}
    return trials.Told(Outcome.COMPLETED, body, cost, None, None, None, [], False, None, {}, {})


@pytest.fixture(scope="session")
def fill_study() -> Callable[..., None]:
    """Makes a study with a history, straight in a database file."""
    return fill


@pytest.fixture
def heavy_study(running_server: Any, study_name: str) -> str:
    """A study on the shared server whose next suggestion takes seconds."""
    name = f"{study_name}-heavy"
    fill(running_server.database, name, observations=200)
    return name


@pytest.fixture
def now() -> datetime:
    """The moment at which tests of the store begin."""
    return NOW
