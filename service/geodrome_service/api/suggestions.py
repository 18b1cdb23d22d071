"""Where suggestions come from: one job at a time for each study, shared by the asks that wait for it.

A job reads the history, lets the pool compute, and puts what comes back into the study's queue. No transaction is open
while it computes. An ask never takes a suggestion from a job directly: it claims from the queue like everybody else, so
that a point whose asker has gone away waits for the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from geodrome.errors import ComputeUnavailable
from geodrome.schemas import TrialState
from geodrome_core import suggestion_seed
from sqlalchemy.orm import Session

from geodrome_service.api.dependencies import in_transaction
from geodrome_service.api.questions import question
from geodrome_service.compute import Pool, Question, Suggestion
from geodrome_service.store import events, history, trials
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

# Robots that start together ask within milliseconds of each other; a fit takes longer than this in any case.
GATHER_S = 0.02

log = logging.getLogger("geodrome.service")


@dataclass(frozen=True)
class Plan:
    """What a job is to compute.

    Attributes:
        question: The study as the job found it.
        count: Suggestions to compute.
        seed: Seed of the computation.
        after_event: The study's last event that the question knows of.
    """

    question: Question
    count: int
    seed: int
    after_event: int


@dataclass
class Job:
    """A study's job: it gathers askers for a moment, then computes for them.

    Attributes:
        wanted: Trials that each asker waits for; None once the job computes, and takes no more.
        task: The work itself.
    """

    task: asyncio.Task[None]
    wanted: dict[Hashable, int] | None = field(default_factory=dict)


class Suggestions:
    """The jobs of all studies."""

    def __init__(self, database: Database, pool: Pool) -> None:
        self._database = database
        self._pool = pool
        self._jobs: dict[int, Job] = {}
        self._closed = False

    def job(self, study_serial: int, asker: Hashable, count: int) -> asyncio.Task[None]:
        """The study's present job, or a new one; when it is done, it is time to look into the queue again.

        Args:
            study_serial: The study.
            asker: Who waits; repeats of one ask count once.
            count: How many trials they wait for.
        """
        if self._closed:
            raise ComputeUnavailable("the service is stopping; ask again when it is back")
        job = self._jobs.get(study_serial)
        if job is None:
            job = Job(asyncio.create_task(self._work(study_serial)))
            job.task.add_done_callback(_log_failure)
            self._jobs[study_serial] = job
        if job.wanted is not None:
            job.wanted[asker] = count
        return job.task

    async def close(self) -> None:
        """Ends all jobs; whoever waits for one learns that the service is stopping."""
        self._closed = True
        tasks = [job.task for job in self._jobs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, study_serial: int) -> None:
        try:
            await asyncio.sleep(GATHER_S)
            job = self._jobs[study_serial]
            assert job.wanted is not None, "a job gathers once"
            wanted, job.wanted = sum(job.wanted.values()), None
            plan = await run_in_threadpool(self._plan, study_serial, wanted)
            if plan is None:
                return
            found = await self._pool.suggest(plan.question, count=plan.count, seed=plan.seed)
            await run_in_threadpool(self._store, study_serial, plan, found)
        finally:
            del self._jobs[study_serial]

    def _plan(self, study_serial: int, wanted: int) -> Plan | None:
        """What to compute so that ``wanted`` trials are in the queue; None if they are, or nothing may be added."""
        with self._database.read.begin() as session:
            study = session.get_one(Study, study_serial)
            count = wanted - trials.count(session, study, TrialState.QUEUED)
            room = trials.room_for_suggestions(session, study)
            if room is not None:
                count = min(count, room)
            if count <= 0:
                return None
            return Plan(
                question=question(
                    study, history.observations(session, study), history.latest_hyperparameters(session, study)
                ),
                count=count,
                seed=suggestion_seed(study.seed, history.next_number(session, study)),
                after_event=events.last_event(session, study),
            )

    def _store(self, study_serial: int, plan: Plan, found: list[Suggestion]) -> None:
        in_transaction(self._database, lambda session: _enqueue(session, study_serial, plan, found))


def suggestions(request: Request) -> Suggestions:
    """The application's suggestions."""
    held: Suggestions = request.app.state.suggestions
    return held


Suggesting = Annotated[Suggestions, Depends(suggestions)]


def _enqueue(session: Session, study_serial: int, plan: Plan, found: list[Suggestion]) -> None:
    study = session.get_one(Study, study_serial)
    trials.enqueue(
        session,
        study,
        [_suggested(one, plan, index) for index, one in enumerate(found)],
        now=datetime.now(UTC),
    )


def _suggested(found: Suggestion, plan: Plan, index: int) -> trials.Suggested:
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
    return trials.Suggested(found.point, origin, recipe)


def _log_failure(task: asyncio.Task[None]) -> None:
    # Whoever waits for the job learns of its end; but perhaps nobody waits any more.
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a suggestion could not be computed", exc_info=error)
