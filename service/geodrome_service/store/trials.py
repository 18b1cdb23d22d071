"""Trials: every change of their state.

::

    queued ──► running ──► completed | failed | abandoned
                  │
                  └──► lost ──► the same point, queued again as a new trial, up to the study's max_attempts

A lease that ends makes a running trial lost. Its result is kept whenever it still comes, flagged ``late``; the repeat
is then withdrawn if nobody runs it yet. A person may abandon a trial in any state.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, assert_never

from geodrome.errors import StudyClosed, StudyPaused
from geodrome.schemas import Outcome, StudyState, TrialState
from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from geodrome_service.store import counting, events, history, noting
from geodrome_service.store.noting import Happening
from geodrome_service.store.tables import Json, Study, Trial


@dataclass(frozen=True)
class Suggested:
    """A point that the engine suggests, with what there is to say about it."""

    point: Json
    origin: Json
    recipe: Json


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


@dataclass(frozen=True)
class Told:
    """An outcome as it was told.

    Attributes:
        outcome: What happened.
        body: Everything that was told, in canonical form: equal bodies say the same.
        cost: Mean of the values.
        std: Its standard deviation, None if unknown.
        values: The measurements, if there were several.
        point: What was executed, canonical; None: what was suggested.
        corrections: What was mended in that point.
        outside: Whether that point lies outside the domain.
        reason: Why.
        metrics: Further numbers.
        metadata: Anything else.
    """

    outcome: Outcome
    body: Json
    cost: float | None
    std: float | None
    values: list[float] | None
    point: Json | None
    corrections: list[Json]
    outside: bool
    reason: str | None
    metrics: dict[str, float]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Own:
    """A point that somebody brings.

    Attributes:
        point: The point, canonical.
        corrections: What was mended in it.
        told: What is known of it; None if it is to be run.
        metrics: Further numbers.
        metadata: Anything else.
    """

    point: Json
    corrections: list[Json]
    told: Told | None
    metrics: dict[str, float]
    metadata: dict[str, Any]


NO_ORIGIN: dict[str, None] = dict.fromkeys(("acquisition", "value", "mean", "std", "seed", "note"))
"""Of a point that no engine has suggested."""


class Verdict(enum.Enum):
    """What became of an outcome that was told."""

    STORED = "it is stored now"
    REPEATED = "the same was stored before"
    CONTRADICTED = "another outcome is stored, and stays"


def enqueue(session: Session, study: Study, suggestions: Sequence[Suggested], *, now: datetime) -> None:
    """Puts suggestions at the end of the study's queue."""
    number = history.next_number(session, study)
    for offset, suggested in enumerate(suggestions):
        trial = _queued(study, number + offset, suggested.point, suggested.origin, now=now)
        trial.recipe = suggested.recipe
        _add(session, study, trial)
        events.record(session, study, "queued", trial=trial, now=now)
        noting.note(session, Happening.SUGGESTED, suggested.origin["kind"])


def add_own(session: Session, study: Study, own: Sequence[Own], *, now: datetime) -> list[Trial]:
    """Adds points that somebody brings, queued or with what is known of them.

    Raises:
        StudyClosed: The study is closed, and a point is to be run.
    """
    if study.state == StudyState.CLOSED.value and any(one.told is None for one in own):
        raise StudyClosed(f"study {study.name!r} is closed; points with a cost are still stored")
    number = history.next_number(session, study)
    return [_add_own(session, study, number + offset, one, now=now) for offset, one in enumerate(own)]


def _add_own(session: Session, study: Study, number: int, own: Own, *, now: datetime) -> Trial:
    kind = "enqueued" if own.told is None else "told"
    trial = _queued(study, number, own.point, {"kind": kind, **NO_ORIGIN}, now=now)
    trial.corrections = own.corrections
    _add(session, study, trial)
    if own.told is None:
        trial.metrics, trial.user_metadata = own.metrics, own.metadata
        events.record(session, study, "queued", trial=trial, now=now)
        return trial
    counting.move(study, trial, TrialState(own.told.outcome.value))
    _write_outcome(trial, own.told, late=False, now=now)
    events.record(session, study, own.told.outcome.value, trial=trial, now=now, told=own.told.body, late=False)
    return trial


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
        events.record(session, study, "resumed", trial=trial, now=now, worker=order.worker)
    claimed = _claim(session, study, wanted, order, now=now)
    return [*own, *claimed]


def expire(session: Session, study: Study, *, now: datetime) -> None:
    """Makes the study's running trials whose lease has ended lost, and offers their points again."""
    ended = select(Trial).where(Trial.study_serial == study.serial, *_lease_has_ended(now)).order_by(Trial.number)
    for trial in session.scalars(ended).all():
        trial.reason = f"the lease ended at {trial.lease_expires_at:%Y-%m-%d %H:%M:%S} UTC"
        counting.move(study, trial, TrialState.LOST)
        trial.lease_expires_at = None
        events.record(session, study, "lost", trial=trial, now=now, reason=trial.reason)
        noting.note(session, Happening.LEASE_EXPIRED)
        _offer_again(session, study, trial, now=now)


def with_ended_leases(session: Session, *, now: datetime) -> Sequence[int]:
    """Serials of the studies for which ``expire`` has something to do."""
    return session.scalars(select(Trial.study_serial).where(*_lease_has_ended(now)).distinct()).all()


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
    if trial.state != TrialState.RUNNING.value and not (was_lost and not _has_result(session, study, trial)):
        return trial, False
    _lease(trial, lease_s or trial.lease_s or study.lease_s, now=now)
    if was_lost:
        counting.move(study, trial, TrialState.RUNNING)
        trial.reason = None
        events.record(session, study, "resumed", trial=trial, now=now, worker=trial.worker)
        _withdraw_repeats(session, study, trial, f"withdrawn: trial {number} still runs", now=now)
    return trial, True


def record_outcome(session: Session, study: Study, number: int, told: Told, *, now: datetime) -> tuple[Trial, Verdict]:
    """Stores what happened to a trial, unless another outcome is stored already.

    A trial that nobody asked for may be told too: whoever ran its point has a result.

    Raises:
        TrialNotFound: The study has no trial of this number.
    """
    trial = history.find(session, study, number)
    if trial.told == told.body:
        return trial, Verdict.REPEATED
    before = TrialState(trial.state)
    if not _takes(trial, told.outcome):
        return trial, Verdict.CONTRADICTED
    late = told.outcome is not Outcome.ABANDONED and _is_overdue(trial, now)
    counting.move(study, trial, TrialState(told.outcome.value))
    _write_outcome(trial, told, late=late, now=now)
    events.record(session, study, told.outcome.value, trial=trial, now=now, told=told.body, late=late)
    if told.outcome is not Outcome.LOST:
        _withdraw_repeats(session, study, trial, f"withdrawn: the outcome of trial {number} is known", now=now)
    elif before is not TrialState.LOST:
        _offer_again(session, study, trial, now=now)
    return trial, Verdict.STORED


def _takes(trial: Trial, outcome: Outcome) -> bool:
    """Whether a trial may come to this outcome from where it is."""
    match TrialState(trial.state):
        case TrialState.QUEUED | TrialState.RUNNING:
            return True
        case TrialState.LOST:
            # Lost because time ran out, not because somebody said so: then the result is only late.
            return trial.told is None or outcome is Outcome.ABANDONED
        case TrialState.COMPLETED | TrialState.FAILED:
            return outcome is Outcome.ABANDONED
        case TrialState.ABANDONED:
            return False
        case state:
            assert_never(state)


def _write_outcome(trial: Trial, told: Told, *, late: bool, now: datetime) -> None:
    trial.told = told.body
    trial.told_at = now
    trial.lease_expires_at = None
    trial.reason = told.reason
    trial.metrics = {**trial.metrics, **told.metrics}
    trial.user_metadata = {**trial.user_metadata, **told.metadata}
    if told.outcome is Outcome.COMPLETED:
        trial.cost, trial.std, trial.values = told.cost, told.std, told.values
    if told.point is not None:
        trial.point, trial.corrections = told.point, told.corrections
    flags = {"late": late, "outside_domain": told.outside}
    trial.flags = [*trial.flags, *(flag for flag, holds in flags.items() if holds and flag not in trial.flags)]


def _offer_again(session: Session, study: Study, lost: Trial, *, now: datetime) -> None:
    """Queues the point of a lost trial, unless it had its attempts or one of them has a result."""
    if lost.attempt >= study.max_attempts or _has_result(session, study, lost):
        return
    number = history.next_number(session, study)
    trial = _queued(study, number, lost.suggested_point, lost.origin, now=now)
    trial.attempt = lost.attempt + 1
    trial.retry_of = lost.number
    trial.first_attempt = lost.first_attempt
    _add(session, study, trial)
    events.record(session, study, "queued", trial=trial, now=now, retry_of=lost.number)


def _withdraw_repeats(session: Session, study: Study, trial: Trial, reason: str, *, now: datetime) -> None:
    """Takes repeats of a trial that has a result, or still runs, out of the queue; those that run go on."""
    repeats = select(Trial).where(
        Trial.study_serial == study.serial,
        Trial.first_attempt == trial.first_attempt,
        Trial.state == TrialState.QUEUED.value,
    )
    for repeat in session.scalars(repeats).all():
        counting.move(study, repeat, TrialState.LOST)
        repeat.reason = reason
        events.record(session, study, "lost", trial=repeat, now=now, reason=reason)


def _has_result(session: Session, study: Study, trial: Trial) -> bool:
    """Whether one of the attempts at the trial's point has a result."""
    settled = exists().where(
        Trial.study_serial == study.serial,
        Trial.first_attempt == trial.first_attempt,
        Trial.state.in_([state.value for state in counting.SPENT]),
    )
    return session.scalar(select(settled)) is True


def _lease(trial: Trial, lease_s: float, *, now: datetime) -> None:
    trial.lease_s = lease_s
    trial.lease_expires_at = now + timedelta(seconds=lease_s)


def _claim(session: Session, study: Study, count: int, order: Order, *, now: datetime) -> list[Trial]:
    # One statement, and rows that another transaction holds are passed over: two claims never meet. The rows are chosen
    # in a common table expression: PostgreSQL may run a subquery more than once, and each time claim others.
    first = (
        select(Trial.number)
        .where(Trial.study_serial == study.serial, Trial.state == TrialState.QUEUED.value)
        .order_by(Trial.number)
        .limit(count)
        .with_for_update(skip_locked=True)
        .cte("first")
    )
    claimed = session.scalars(
        update(Trial)
        .where(Trial.study_serial == study.serial, Trial.number.in_(select(first.c.number)))
        .values(
            state=TrialState.RUNNING.value,
            worker=order.worker,
            asked_at=now,
            lease_s=order.lease_s,
            lease_expires_at=now + timedelta(seconds=order.lease_s),
        )
        .returning(Trial)
    ).all()
    trials = sorted(claimed, key=lambda trial: trial.number)
    counting.added(study, TrialState.QUEUED, -len(trials))
    counting.added(study, TrialState.RUNNING, len(trials))
    for trial in trials:
        events.record(session, study, "running", trial=trial, now=now, worker=order.worker)
        noting.note(session, Happening.HANDED_OUT, trial.origin["kind"])
    return trials


def _own_running(session: Session, study: Study, order: Order) -> Sequence[Trial]:
    if order.worker is None or not order.resume:
        return []
    own = select(Trial).where(
        Trial.study_serial == study.serial,
        Trial.state == TrialState.RUNNING.value,
        Trial.worker == order.worker,
    )
    return session.scalars(own.order_by(Trial.number).limit(order.count)).all()


def _queued(study: Study, number: int, point: Json, origin: Json, *, now: datetime) -> Trial:
    return Trial(
        study_serial=study.serial,
        number=number,
        state=TrialState.QUEUED.value,
        attempt=1,
        first_attempt=number,
        point=point,
        suggested_point=point,
        origin=origin,
        created_at=now,
        metrics={},
        user_metadata={},
        corrections=[],
        flags=[],
    )


def _is_overdue(trial: Trial, now: datetime) -> bool:
    """Whether the trial's lease has ended, noticed or not."""
    return trial.state == TrialState.LOST.value or (
        trial.lease_expires_at is not None and trial.lease_expires_at <= now
    )


def _lease_has_ended(now: datetime) -> tuple[Any, ...]:
    return Trial.state == TrialState.RUNNING.value, Trial.lease_expires_at <= now


def _add(session: Session, study: Study, trial: Trial) -> None:
    session.add(trial)
    counting.added(study, TrialState(trial.state))


def _spent(study: Study) -> str:
    running = f", of which {study.running} still run" if study.running else ""
    return f"the budget of study {study.name!r} is spent: {study.budget['trials']} trials{running}"
