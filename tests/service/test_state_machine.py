"""Whatever robots, people, time and restarts do, in any order: trials go where the plain model of them says."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import hypothesis.strategies as st
import pytest
from fastapi.concurrency import run_in_threadpool
from geodrome_service.api.dependencies import in_transaction
from geodrome_service.store import counting, queueing, studies, suggesting
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Trial
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import URL, select, update
from sqlalchemy.orm import Session

from tests.service.calling import Service
from tests.service.reference import RESERVED, SPENT, Lab, Refused

SPACE = {"type": "real", "bounds": [0, 1]}
FRESH = 0.5
"""What the engine of these tests always suggests."""

NEXT = {
    None: {"queued", "completed", "failed", "abandoned"},
    "queued": {"running", "lost", "completed", "failed", "abandoned"},
    "running": {"resumed", "lost", "completed", "failed", "abandoned"},
    "resumed": {"resumed", "lost", "completed", "failed", "abandoned"},
    "lost": {"resumed", "lost", "completed", "failed", "abandoned"},
    "completed": {"abandoned"},
    "failed": {"abandoned"},
    "abandoned": set(),
}
"""What may happen to a trial after what."""

workers = st.sampled_from([None, "panda-1", "panda-2"])
tellings = st.sampled_from(
    [
        {"outcome": "completed", "cost": 0.25},
        {"outcome": "completed", "cost": 0.5},
        {"outcome": "failed"},
        {"outcome": "lost"},
        {"outcome": "abandoned"},
    ]
)
"""What may be told; few, so that the same is told again."""

points = st.sampled_from([0.1, 0.2, 0.3])


class Engine:
    """Suggests at once, and always the same point."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def job(self, study_serial: int) -> asyncio.Task[None]:
        return asyncio.create_task(
            run_in_threadpool(in_transaction, self._database, lambda tx: _fill(tx, study_serial))
        )


def _fill(session: Session, study_serial: int) -> None:
    study, now = studies.locked(session, study_serial), datetime.now(UTC)
    missing = sum(suggesting.waiting(session, study, now=now).values()) - study.queued
    if (room := counting.room(study)) is not None:
        missing = min(missing, room)
    origin = {"kind": "initial", **dict.fromkeys(("acquisition", "value", "mean", "std", "seed", "note"))}
    queueing.enqueue(session, study, [queueing.Suggested(FRESH, origin, {})] * missing, now=now)


class Machine(RuleBasedStateMachine):
    """A study of the service and its model, to which the same happens."""

    url: URL

    def __init__(self) -> None:
        super().__init__()
        self.name = f"lab-{uuid.uuid4()}"
        self.path = f"/v1/studies/{self.name}"
        self.latest: tuple[dict[str, Any], dict[str, str], Any] | None = None
        self.open()

    def open(self) -> None:
        self.database = Database(self.url)
        self.service = Service(self.database)
        self.service.app.state.suggestions = Engine(self.database)

    @initialize(max_attempts=st.integers(1, 3), budget=st.none() | st.integers(1, 8))
    def create(self, max_attempts: int, budget: int | None) -> None:
        self.lab = Lab(max_attempts, budget)
        definition = {"name": self.name, "space": SPACE, "max_attempts": max_attempts, "budget": {"trials": budget}}
        assert self.service("POST", "/v1/studies", json=definition).status_code == 201

    @rule(point=points, told=st.none() | tellings.filter(lambda told: told["outcome"] in {"completed", "failed"}))
    def add(self, point: float, told: dict[str, Any] | None) -> None:
        answer = self.service("POST", f"{self.path}/trials", json={"point": point, **(told or {})})
        self.same(answer, lambda: self.lab.add(point, told))

    @rule(worker=workers, count=st.integers(1, 3), resume=st.booleans())
    def ask(self, worker: str | None, count: int, resume: bool) -> None:
        body, key = {"worker": worker, "count": count, "resume": resume}, {"Idempotency-Key": str(uuid.uuid4())}
        answer = self.service("POST", f"{self.path}/ask", json=body, headers=key)
        fresh = [FRESH] * count
        handed = self.same(answer, lambda: self.lab.ask(worker, count, resume=resume, fresh=fresh))
        if handed is not None:
            assert [trial["number"] for trial in answer.json()["trials"]] == [trial.number for trial in handed]
            self.latest = body, key, answer.json()

    @precondition(lambda self: self.latest is not None)
    @rule()
    def ask_the_same_again(self) -> None:
        assert self.latest is not None
        body, key, stored = self.latest
        answer = self.service("POST", f"{self.path}/ask", json=body, headers=key)
        assert (answer.status_code, answer.json()) == (200, stored)

    @precondition(lambda self: self.lab.trials)
    @rule(data=st.data(), told=tellings)
    def tell(self, data: st.DataObject, told: dict[str, Any]) -> None:
        number = data.draw(st.integers(1, len(self.lab.trials)))
        answer = self.service("POST", f"{self.path}/trials/{number}/tell", json=told)
        self.same(answer, lambda: self.lab.tell(number, told))

    @precondition(lambda self: self.lab.trials)
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(1, len(self.lab.trials)))
        answer = self.service("POST", f"{self.path}/trials/{number}/heartbeat")
        self.same(answer, lambda: self.lab.heartbeat(number))

    @precondition(lambda self: self.running())
    @rule(data=st.data())
    def time_runs_out(self, data: st.DataObject) -> None:
        """Nobody has looked yet."""
        trial = data.draw(st.sampled_from(self.running()))
        over = update(Trial).where(Trial.study_serial == self.serial(), Trial.number == trial.number)
        with self.database.write.begin() as session:
            session.execute(over.values(lease_expires_at=datetime.now(UTC) - timedelta(seconds=1)))
        trial.overdue = True

    @rule()
    def look(self) -> None:
        listed = self.service("GET", f"{self.path}/trials").json()["trials"]
        self.lab.look()
        assert [trial["state"] for trial in listed] == [trial.state for trial in self.lab.trials]

    @rule(state=st.sampled_from(["active", "active", "paused", "closed"]))
    def change(self, state: str) -> None:
        self.same(self.service("PATCH", self.path, json={"state": state}), lambda: self.lab.change(state))

    @rule(budget=st.none() | st.integers(1, 12))
    def pay(self, budget: int | None) -> None:
        assert self.service("PATCH", self.path, json={"budget": {"trials": budget}}).status_code == 200
        self.lab.budget = budget

    @rule()
    def restart(self) -> None:
        self.database.close()
        self.open()

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        with self.database.read.begin() as session:
            study = studies.find(session, self.name)
            rows = session.scalars(select(Trial).where(Trial.study_serial == study.serial).order_by(Trial.number)).all()
            counts = {state.value: number for state, number in counting.counts(study).items()}
        found = [
            (row.number, row.state, row.point, row.attempt, row.retry_of, row.worker, "late" in row.flags)
            for row in rows
        ]
        assert found == [
            (one.number, one.state, one.point, one.attempt, one.retry_of, one.worker, one.late)
            for one in self.lab.trials
        ]
        states = [trial.state for trial in self.lab.trials]
        assert counts == {state: states.count(state) for state in ("lost", *SPENT, *RESERVED)}
        assert all((row.lease_expires_at is not None) == (row.state == "running") for row in rows)

    def teardown(self) -> None:
        """Every change was noted, and none was a forbidden one."""
        self.lab.look()
        latest: dict[int, str | None] = dict.fromkeys((trial.number for trial in self.lab.trials), None)
        for event in self.service("GET", f"{self.path}/events", params={"limit": 1000}).json()["events"]:
            if (number := event["number"]) is not None:
                assert event["kind"] in NEXT[latest[number]], (number, latest[number], event)
                latest[number] = event["kind"]
        shown = {number: "running" if kind == "resumed" else kind for number, kind in latest.items()}
        assert shown == {trial.number: trial.state for trial in self.lab.trials}
        self.database.close()

    def same(self, answer: httpx.Response, happens: Any) -> Any:
        """What the model does, once the service has done the same; None if both refused."""
        done, refused = None, None
        try:
            done = happens()
        except Refused as refusal:
            refused = str(refusal)
        assert (None if answer.is_success else answer.json()["code"]) == refused, answer.text
        return done

    def running(self) -> list[Any]:
        return [trial for trial in self.lab.trials if trial.state == "running"]

    def serial(self) -> int:
        with self.database.read.begin() as session:
            return studies.find(session, self.name).serial


@pytest.mark.slow
def test_no_order_of_events_leads_where_the_model_does_not(empty_url):
    class OnThis(Machine):
        url = empty_url

    run_state_machine_as_test(OnThis, settings=settings(max_examples=30, stateful_step_count=40, deadline=None))
