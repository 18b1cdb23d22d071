"""Leases: trials that are handed out belong to their worker for a time, and are lost when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from geodrome.errors import StudyClosed, StudyPaused
from geodrome.schemas import StudyState, TrialState
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from geodrome_service.store import counting, events, history, noting, repeats
from geodrome_service.store.noting import Happening
from geodrome_service.store.tables import Study, Trial

_OF_STUDY = Trial.study_serial == bindparam("serial")
_HAS_ENDED = (Trial.state == TrialState.RUNNING.value, Trial.lease_expires_at <= bindparam("now"))
_ENDED = select(Trial).where(_OF_STUDY, *_HAS_ENDED).order_by(Trial.number)
_STUDIES_WITH_ENDED = select(Trial.study_serial).where(*_HAS_ENDED).distinct()

_RUNNING_HERE = (
    select(Trial)
    .where(_OF_STUDY, Trial.state == TrialState.RUNNING.value, Trial.worker == bindparam("worker"))
    .order_by(Trial.number)
    .limit(bindparam("count"))
)

# One statement, and rows that another transaction holds are passed over: two claims never meet. The rows are chosen in
# a common table expression: PostgreSQL may run a subquery more than once, and each time claim others.
_FIRST = (
    select(Trial.number)
    .where(_OF_STUDY, Trial.state == TrialState.QUEUED.value)
    .order_by(Trial.number)
    .limit(bindparam("count"))
    .with_for_update(skip_locked=True)
    .cte("first")
)
_CLAIM = (
    update(Trial)
    .where(_OF_STUDY, Trial.number.in_(select(_FIRST.c.number)))
    .values(
        state=TrialState.RUNNING.value,
        worker=bindparam("by"),
        asked_at=bindparam("now"),
        lease_s=bindparam("for_s"),
        lease_expires_at=bindparam("until"),
    )
    .returning(Trial)
    .execution_options(synchronize_session=False, populate_existing=True)
)


@dataclass(frozen=True)
class Order:
    """What a worker asks for.

    Attributes:
        count: How many trials.
        worker: Who asks; None for somebody unnamed.
        resume: Whether the worker's own running trials are handed out again, before all others.
        lease_s: How long the trials are the worker's.
    """

    count: int
    worker: str | None
    resume: bool
    lease_s: float


@dataclass(frozen=True)
class Missing:
    """An order that waits for suggestions.

    Attributes:
        study_serial: The study that they are to be for.
        count: How many trials must be in the queue for the order to be filled.
    """

    study_serial: int
    count: int


def hand_out(session: Session, study: Study, order: Order, *, now: datetime) -> Sequence[Trial] | Missing:
    """Trials for a worker: its own running ones, then queued ones, first in first out.

    Nothing changes hands while suggestions are missing that the budget still pays for.

    Raises:
        StudyPaused: The study is paused.
        StudyClosed: The study is closed; or its budget is spent and nothing waits to be handed out.
    """
    match StudyState(study.state):
        case StudyState.ACTIVE:
            pass
        case StudyState.PAUSED:
            raise StudyPaused(f"study {study.name!r} is paused; what is told is still stored")
        case StudyState.CLOSED:
            raise StudyClosed(f"study {study.name!r} is closed; what is told is still stored")
        case state:
            assert_never(state)
    expire(session, study, now=now)
    own = _own_running(session, study, order)
    wanted = order.count - len(own)
    if wanted > study.queued:
        room = counting.room(study)
        if room is None or room > 0:
            return Missing(study.serial, wanted)
        if not own and not study.queued:
            raise StudyClosed(_spent(study))
    for trial in own:
        _lease(trial, order.lease_s, now=now)
    events.record_all(session, study, "resumed", own, now=now, worker=order.worker)
    claimed = _claim(session, study, wanted, order, now=now)
    return [*own, *claimed]


def expire(session: Session, study: Study, *, now: datetime) -> None:
    """Makes the study's running trials whose lease has ended lost, and offers their points again."""
    for trial in session.scalars(_ENDED, {"serial": study.serial, "now": now}).all():
        trial.reason = f"the lease ended at {trial.lease_expires_at:%Y-%m-%d %H:%M:%S} UTC"
        counting.move(study, trial, TrialState.LOST)
        trial.lease_expires_at = None
        events.record(session, study, "lost", trial=trial, now=now, reason=trial.reason)
        noting.note(session, Happening.LEASE_EXPIRED)
        repeats.offer(session, study, trial, now=now)


def with_ended_leases(session: Session, *, now: datetime) -> Sequence[int]:
    """Serials of the studies for which ``expire`` has something to do."""
    return session.scalars(_STUDIES_WITH_ENDED, {"now": now}).all()


def extend(session: Session, study: Study, number: int, lease_s: float | None, *, now: datetime) -> tuple[Trial, bool]:
    """Extends the lease of a trial that its worker still runs; of one whose lease has ended, too, for then it is alive.

    Args:
        session: The transaction.
        study: Whose trial.
        number: Which one.
        lease_s: How long from now; None for as long as the lease was.
        now: The moment.

    Returns:
        The trial, and whether it runs: not if nobody was given it, or its outcome is known.

    Raises:
        TrialNotFound: The study has no trial of this number.
    """
    trial = history.find(session, study, number)
    was_lost = trial.state == TrialState.LOST.value and trial.told is None and trial.asked_at is not None
    if trial.state != TrialState.RUNNING.value and not (was_lost and not repeats.has_result(session, study, trial)):
        return trial, False
    _lease(trial, lease_s or trial.lease_s or study.lease_s, now=now)
    if was_lost:
        counting.move(study, trial, TrialState.RUNNING)
        trial.reason = None
        events.record(session, study, "resumed", trial=trial, now=now, worker=trial.worker)
        repeats.withdraw(session, study, trial, f"withdrawn: trial {number} still runs", now=now)
    return trial, True


def is_overdue(trial: Trial, now: datetime) -> bool:
    """Whether the trial's lease has ended, noticed or not."""
    return trial.state == TrialState.LOST.value or (
        trial.lease_expires_at is not None and trial.lease_expires_at <= now
    )


def _lease(trial: Trial, lease_s: float, *, now: datetime) -> None:
    trial.lease_s = lease_s
    trial.lease_expires_at = now + timedelta(seconds=lease_s)


def _claim(session: Session, study: Study, count: int, order: Order, *, now: datetime) -> list[Trial]:
    until = now + timedelta(seconds=order.lease_s)
    values = {"by": order.worker, "now": now, "for_s": order.lease_s, "until": until}
    claimed = session.scalars(_CLAIM, {"serial": study.serial, "count": count, **values}).all()
    trials = sorted(claimed, key=lambda trial: trial.number)
    counting.added(study, TrialState.QUEUED, -len(trials))
    counting.added(study, TrialState.RUNNING, len(trials))
    events.record_all(session, study, "running", trials, now=now, worker=order.worker)
    for trial in trials:
        noting.note(session, Happening.HANDED_OUT, trial.origin["kind"])
    return trials


def _own_running(session: Session, study: Study, order: Order) -> Sequence[Trial]:
    if order.worker is None or not order.resume:
        return []
    wanted = {"serial": study.serial, "worker": order.worker, "count": order.count}
    return session.scalars(_RUNNING_HERE, wanted).all()


def _spent(study: Study) -> str:
    running = f", of which {study.running} still run" if study.running else ""
    return f"the budget of study {study.name!r} is spent: {study.budget['trials']} trials{running}"
