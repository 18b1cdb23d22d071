"""Where suggestions come from: one job at a time for each study, shared by the asks that wait for it.

A job reads the history, lets the pool compute, and puts what comes back into the study's queue. No transaction is open
while it computes. An ask never takes a suggestion from a job directly: it claims from the queue like everybody else, so
that a point whose asker has gone away waits for the next one.

The jobs of several processes share their work too: asks note in the database that they wait, and only the holder of the
study's suggest lease computes, for all of them. The others' jobs end when the points are there.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import os
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from geodrome.errors import ComputeUnavailable
from geodrome_core import suggestion_seed
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from geodrome_service.api.dependencies import in_transaction
from geodrome_service.api.metrics import Metrics
from geodrome_service.api.questions import question
from geodrome_service.compute.pool import Pool
from geodrome_service.compute.questions import Question, Suggestion
from geodrome_service.store import counting, history, queueing, studies, suggesting
from geodrome_service.store.database import ABSENT, Database, cause
from geodrome_service.store.tables import Study

# Robots that start together ask within milliseconds of each other; a fit takes longer than this in any case.
GATHER_S = 0.02

POLL_S = 0.1
"""How often a job looks whether another process is done."""

LARGE = 32
"""From so many known points on, a design is large."""

AHEAD = 8
"""A point is computed ahead for each so many that a large design has more."""

LARGEST_STOCK = 128
"""Points that are computed ahead at most."""

log = logging.getLogger("geodrome.service")


class Turn(enum.Enum):
    """What a job finds when it comes to a study."""

    OURS = "there is something to compute, and the lease is ours"
    THEIRS = "another process computes"
    NOBODYS = "there is nothing to compute"


@dataclass(frozen=True)
class Plan:
    """What a job is to compute.

    Attributes:
        question: The study as the job found it.
        count: Suggestions to compute.
        seed: Seed of the computation.
        after_event: Position of the study's last event that the question knows of.
        askers: The asks that wait for it.
    """

    question: Question
    count: int
    seed: int
    after_event: int
    askers: tuple[str, ...]


class Suggestions:
    """The jobs of all studies, in this process."""

    def __init__(self, database: Database, pool: Pool, metrics: Metrics) -> None:
        self._database = database
        self._pool = pool
        self._metrics = metrics
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._closed = False
        # Of this process alone, wherever else a service runs.
        self._holder = f"{socket.gethostname()[:20]}-{os.getpid()}-{uuid.uuid4().hex[:12]}"

    def job(self, study_serial: int) -> asyncio.Task[None]:
        """The study's present job, or a new one; when it is done, it is time to look into the queue again.

        Whoever waits for it has noted that in the database before.
        """
        if self._closed:
            raise ComputeUnavailable("the service is stopping; ask again when it is back")
        job = self._jobs.get(study_serial)
        if job is None:
            job = asyncio.create_task(self._work(study_serial))
            job.add_done_callback(_log_failure)
            self._jobs[study_serial] = job
        return job

    def prepare(self, study_serial: int) -> None:
        """Lets a job begin for which nobody waits."""
        if not self._closed:
            self.job(study_serial)

    async def close(self) -> None:
        """Ends all jobs; whoever waits for one learns that the service is stopping."""
        self._closed = True
        jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)

    async def _work(self, study_serial: int) -> None:
        try:
            await asyncio.sleep(GATHER_S)
            turn = await run_in_threadpool(self._begin, study_serial)
            while turn is Turn.THEIRS:
                await asyncio.sleep(POLL_S)
                if not await run_in_threadpool(self._is_busy, study_serial):
                    turn = await run_in_threadpool(self._begin, study_serial)
            if turn is Turn.OURS:
                await self._compute(study_serial)
        finally:
            del self._jobs[study_serial]

    async def _compute(self, study_serial: int) -> None:
        """Computes what is missing and puts it into the queue; the lease is ours before, and given back after."""
        extending = asyncio.create_task(self._extend(study_serial))
        try:
            plan = await run_in_threadpool(self._plan, study_serial)
            found = await self._suggested(plan) if plan.count > 0 else []
            await self._in_transaction(lambda tx: _enqueue(tx, study_serial, self._holder, plan, found))
        except BaseException:
            # Also when the service stops: another process need not wait for the lease to end.
            await asyncio.shield(self._in_transaction(lambda tx: _release(tx, study_serial, self._holder)))
            raise
        finally:
            extending.cancel()

    async def _suggested(self, plan: Plan) -> list[Suggestion]:
        with self._metrics.suggest_s.time():
            return await self._pool.suggest(plan.question, count=plan.count, seed=plan.seed)

    async def _extend(self, study_serial: int) -> None:
        while True:
            await asyncio.sleep(suggesting.LEASE.total_seconds() / 3)
            try:
                await self._in_transaction(lambda tx: _take(tx, study_serial, self._holder))
            except (DBAPIError, PoolTimeoutError) as error:
                log.warning("a suggest lease could not be extended now: %s", cause(error))

    async def _in_transaction(self, work: Callable[[Session], object]) -> None:
        await run_in_threadpool(in_transaction, self._database, work)

    def _begin(self, study_serial: int) -> Turn:
        """Takes the lease if there is anything to compute."""
        with self._database.write.begin() as session:
            study, now = studies.locked(session, study_serial), datetime.now(UTC)
            if _due(session, study, now) <= 0:
                return Turn.NOBODYS
            return Turn.OURS if suggesting.take(session, study, self._holder, now=now) else Turn.THEIRS

    def _is_busy(self, study_serial: int) -> bool:
        with self._database.read.begin() as session:
            return suggesting.is_held(session, study_serial, now=datetime.now(UTC))

    def _plan(self, study_serial: int) -> Plan:
        """What to compute so that enough trials are in the queue for all who wait."""
        with self._database.read.begin() as session:
            study, now = session.get_one(Study, study_serial), datetime.now(UTC)
            start = history.latest_hyperparameters(session, study)
            # A point of the design keeps away from those before it, and a large design from the latest of them.
            latest = history.LATEST if counting.design_left(study) else None
            return Plan(
                question=question(study, history.observations(session, study, latest=latest), start),
                count=_due(session, study, now),
                seed=suggestion_seed(study.seed, history.next_number(session, study)),
                after_event=study.last_event,
                askers=tuple(suggesting.waiting(session, study, now=now)),
            )


async def suggestions(request: Request) -> Suggestions:
    """The application's suggestions."""
    held: Suggestions = request.app.state.suggestions
    return held


Computing = Annotated[Suggestions, Depends(suggestions)]


def is_low(study: Study) -> bool:
    """Whether it is time to compute points of a large initial design although nobody waits for them yet."""
    return study.queued * 2 < _stock(study) and counting.room(study) != 0


def _due(session: Session, study: Study, now: datetime) -> int:
    """How many suggestions to compute now, as far as the budget pays for them; 0 or less for none."""
    missing = min(sum(suggesting.waiting(session, study, now=now).values()) - study.queued, suggesting.LARGEST_BATCH)
    stock = _stock(study)
    due = missing + stock if missing * 2 > -stock else 0
    due = max(missing, min(due, counting.design_left(study)))
    room = counting.room(study)
    return due if room is None else min(due, room)


def _stock(study: Study) -> int:
    """How many points of a large initial design stand in the queue before anybody waits for them.

    They depend on no cost. The more there are, the longer one computation takes, and the more it computes.
    """
    known = counting.count(study, *counting.SPENT, *counting.RESERVED)
    return max(0, min((known - LARGE) // AHEAD, LARGEST_STOCK)) if counting.design_left(study) else 0


def _take(session: Session, study_serial: int, holder: str) -> None:
    suggesting.take(session, studies.locked(session, study_serial), holder, now=datetime.now(UTC))


def _release(session: Session, study_serial: int, holder: str) -> None:
    suggesting.release(session, studies.locked(session, study_serial), holder)


def _enqueue(session: Session, study_serial: int, holder: str, plan: Plan, found: list[Suggestion]) -> None:
    study = studies.locked(session, study_serial)
    if not suggesting.release(session, study, holder):
        log.warning("study %s: another process took over, and %d points are dropped", study.name, len(found))
        return
    suggesting.wait_no_more(session, study, plan.askers)
    suggested = [_suggested(one, plan, index) for index, one in enumerate(found)]
    queueing.enqueue(session, study, suggested, now=datetime.now(UTC))


def _suggested(found: Suggestion, plan: Plan, index: int) -> queueing.Suggested:
    origin = {
        "kind": found.kind,
        "acquisition": found.acquisition,
        "value": found.value,
        "mean": found.mean,
        "std": found.std,
        "seed": plan.seed,
        "note": found.note,
    }
    recipe = {
        "seed": plan.seed,
        "count": plan.count,
        "index": index,
        "after_event": plan.after_event,
        "start": plan.question.start,
        "hyperparameters": found.hyperparameters,
    }
    return queueing.Suggested(found.point, origin, recipe)


def _log_failure(task: asyncio.Task[None]) -> None:
    # Whoever waits for the job learns of its end; but perhaps nobody waits any more.
    error = None if task.cancelled() else task.exception()
    if isinstance(error, ComputeUnavailable):
        log.warning("a suggestion could not be computed: %s", error.detail)
    elif isinstance(error, ABSENT):
        log.warning("a suggestion could not be computed: the database does not answer: %s", cause(error))
    elif error is not None:
        log.error("a suggestion could not be computed", exc_info=error)
