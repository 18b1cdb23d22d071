"""Studies with a history, made straight in a database."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from typing import Any

from geodrome.schemas import Outcome, StudyDefinition
from geodrome_service.store import outcomes, queueing, studies
from geodrome_service.store.database import Database
from sqlalchemy import URL

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
ORIGIN = {"kind": "told", "acquisition": None, "value": None, "mean": None, "std": None, "seed": None, "note": None}


def fill(url: URL, name: str, *, observations: int) -> None:
    """Makes a study of rotations with many completed trials, so that a suggestion takes a while to compute."""
    definition = StudyDefinition.model_validate({"name": name, "space": {"type": "rotation"}})
    numbers = random.Random(0)
    opened = Database(url)
    with opened.write.begin() as session:
        study, _ = studies.create(session, definition.model_dump(mode="json"), load=False, now=NOW)
        rotations = [[numbers.gauss(0, 1) for _ in range(4)] for _ in range(observations)]
        points = [[part / math.hypot(*rotation) for part in rotation] for rotation in rotations]
        queueing.enqueue(session, study, [queueing.Suggested(point, ORIGIN, {}) for point in points], now=NOW)
        for number, point in enumerate(points, start=1):
            outcomes.record(session, study, number, completed(point[0] ** 2 + point[1]), now=NOW)
    opened.close()


def completed(cost: float) -> outcomes.Told:
    """The outcome that a body of a cost alone stands for."""
    body = {"outcome": "completed", "cost": cost}
    return outcomes.Told(Outcome.COMPLETED, body, cost, None, None, None, [], False, None, {}, {})


def lived_in(lab: Any) -> None:
    """Trials of every kind: told, failed, lost and offered again, late, abandoned, enqueued, own and still running."""
    for cost in (0.5, 0.25, 0.125):
        lab.tell(
            lab.ask(worker="panda-1")["number"], cost=cost, metrics={"force": 2 * cost}, metadata={"run": [1, "é"]}
        )
    lab.tell(lab.ask()["number"], outcome="failed", reason="=e-stop")
    lab.tell(lab.ask()["number"], outcome="lost", reason="the network")
    executed = lab.ask()
    lab.tell(executed["number"], costs=[1.0, 1.5, 1.25], point=executed["point"])
    late = lab.ask(lease_s=0.001)["number"]
    lab.tell(late, cost=0.75)
    lab.tell(1, outcome="abandoned", reason="a bad sensor")
    queued, own = (lab.ask(worker=f"panda-{index}")["point"] for index in (7, 8))
    lab.http.post(f"{lab.path}/trials", json={"point": own, "cost": 0.3, "std": 0.1})
    lab.http.post(f"{lab.path}/trials", json={"point": queued})
    lab.http.patch(lab.path, json={"metadata": {"arm": "left"}})
