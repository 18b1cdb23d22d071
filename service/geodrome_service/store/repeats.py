"""Further attempts at the points of lost trials, as many as the study allows."""

from __future__ import annotations

from datetime import datetime

from geodrome.schemas import TrialState
from sqlalchemy import bindparam, exists, select
from sqlalchemy.orm import Session

from geodrome_service.store import counting, events, history, queueing
from geodrome_service.store.tables import Study, Trial

_OF_ONE_POINT = (Trial.study_serial == bindparam("serial"), Trial.first_attempt == bindparam("first"))
_QUEUED = select(Trial).where(*_OF_ONE_POINT, Trial.state == TrialState.QUEUED.value)
_SETTLED = select(exists().where(*_OF_ONE_POINT, Trial.state.in_([state.value for state in counting.SPENT])))


def offer(session: Session, study: Study, lost: Trial, *, now: datetime) -> None:
    """Queues the point of a lost trial, unless it had its attempts or one of them has a result."""
    if lost.attempt >= study.max_attempts or has_result(session, study, lost):
        return
    number = history.next_number(session, study)
    trial = queueing.queued(study, number, lost.suggested_point, lost.origin, now=now)
    trial.attempt = lost.attempt + 1
    trial.retry_of = lost.number
    trial.first_attempt = lost.first_attempt
    queueing.add(session, study, trial)
    events.record(session, study, "queued", trial=trial, now=now, retry_of=lost.number)


def withdraw(session: Session, study: Study, trial: Trial, reason: str, *, now: datetime) -> None:
    """Takes repeats of a trial that has a result, or still runs, out of the queue; those that run go on."""
    for repeat in session.scalars(_QUEUED, _key(study, trial)).all():
        counting.move(study, repeat, TrialState.LOST)
        repeat.reason = reason
        events.record(session, study, "lost", trial=repeat, now=now, reason=reason)


def has_result(session: Session, study: Study, trial: Trial) -> bool:
    """Whether one of the attempts at the trial's point has a result."""
    return session.scalar(_SETTLED, _key(study, trial)) is True


def _key(study: Study, trial: Trial) -> dict[str, int]:
    return {"serial": study.serial, "first": trial.first_attempt}
