"""What goes on in a study: its robots, when results came of late, when anything happened. Answered by indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from geodrome.pace import PACE, RESULTS
from geodrome.schemas import TrialState
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Event, Study, Trial

LATEST = 200
"""Trials among which robots are looked for, and running ones at most."""

LOOKED_AT = 1000
"""Events among which results are looked for."""


@dataclass
class Worker:
    """A robot, or whoever else asks.

    Attributes:
        name: Its own; None for those that give none.
        seen: When it last asked, told or extended a lease.
        running: Numbers of the trials that it runs.
        results: How many of the latest trials it has told.
    """

    name: str | None
    seen: datetime
    running: list[int] = field(default_factory=list)
    results: int = 0


def workers(session: Session, study: Study) -> list[Worker]:
    """Those of the latest trials and of the running ones; whoever was seen last stands first."""
    columns = select(
        Trial.number, Trial.state, Trial.worker, Trial.asked_at, Trial.told_at, Trial.lease_s, Trial.lease_expires_at
    ).where(Trial.study_serial == study.serial)
    latest = session.execute(columns.order_by(Trial.number.desc()).limit(LATEST)).all()
    runs = columns.where(Trial.state == TrialState.RUNNING.value)
    running = session.execute(runs.order_by(Trial.number.desc()).limit(LATEST)).all()
    found: dict[str | None, Worker] = {}
    for number, row in sorted({row.number: row for row in [*latest, *running]}.items()):
        if row.asked_at is None:
            continue  # nobody was given it
        seen = _seen(row.asked_at, row.told_at, row.lease_s, row.lease_expires_at)
        worker = found.setdefault(row.worker, Worker(row.worker, seen))
        worker.seen = max(worker.seen, seen)
        if row.state == TrialState.RUNNING.value:
            worker.running.append(number)
        elif row.told_at is not None:
            worker.results += 1
    return sorted(found.values(), key=lambda worker: worker.seen, reverse=True)


def result_times(session: Session, study: Study) -> list[datetime]:
    """When the latest results came, earliest first: those that are among the latest events."""
    events = (
        select(Event.position, Event.at, Event.kind)
        .where(Event.study_serial == study.serial)
        .order_by(Event.position.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    found = select(events.c.at).where(events.c.kind.in_(sorted(RESULTS)))
    return list(session.scalars(found.order_by(events.c.position.desc()).limit(PACE)))[::-1]


def last_at(session: Session, study: Study) -> datetime | None:
    """When something last happened."""
    event = session.get(Event, (study.serial, study.last_event))
    return None if event is None else event.at


def best_of_design(session: Session, study: Study) -> float | None:
    """The best cost of the initial design, to compare with; None while the design is not done, or without a cost."""
    size: int = study.initial_design["size"]
    best = func.max(Trial.cost) if study.objective["goal"] == "maximize" else func.min(Trial.cost)
    first = (Trial.study_serial == study.serial, Trial.number <= size, Trial.state == TrialState.COMPLETED.value)
    return session.scalar(select(best).where(*first)) if study.completed + study.failed > size else None


def _seen(asked: datetime, told: datetime | None, lease_s: float | None, ends: datetime | None) -> datetime:
    """A lease that runs was given, or extended, as long before its end as it lasts."""
    beat = ends - timedelta(seconds=lease_s) if ends is not None and lease_s is not None else asked
    return max(moment for moment in (asked, told, beat) if moment is not None)


def names(workers: Sequence[Worker]) -> list[str]:
    """Names of those that have one, in the order of the alphabet."""
    return sorted(worker.name for worker in workers if worker.name is not None)
