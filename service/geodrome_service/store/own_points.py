"""Points that people bring: to be run, or with what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from geodrome.errors import StudyClosed
from geodrome.schemas import StudyState, TrialState
from sqlalchemy.orm import Session

from geodrome_service.store import counting, events, history, outcomes, queueing
from geodrome_service.store.outcomes import Told
from geodrome_service.store.tables import Json, Study, Trial

NO_ORIGIN: dict[str, None] = dict.fromkeys(("acquisition", "value", "mean", "std", "seed", "note"))
"""Of a point that no engine has suggested."""


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


def add(session: Session, study: Study, own: Sequence[Own], *, now: datetime) -> list[Trial]:
    """Adds points that somebody brings, queued or with what is known of them.

    Raises:
        StudyClosed: The study is closed, and a point is to be run.
    """
    if study.state == StudyState.CLOSED.value and any(one.told is None for one in own):
        raise StudyClosed(f"study {study.name!r} is closed; points with a cost are still stored")
    number = history.next_number(session, study)
    return [_add(session, study, number + offset, one, now=now) for offset, one in enumerate(own)]


def _add(session: Session, study: Study, number: int, own: Own, *, now: datetime) -> Trial:
    kind = "enqueued" if own.told is None else "told"
    trial = queueing.queued(study, number, own.point, {"kind": kind, **NO_ORIGIN}, now=now)
    trial.corrections = own.corrections
    queueing.add(session, study, trial)
    if own.told is None:
        trial.metrics, trial.user_metadata = own.metrics, own.metadata
        events.record(session, study, "queued", trial=trial, now=now)
        return trial
    counting.move(study, trial, TrialState(own.told.outcome.value))
    outcomes.write(trial, own.told, late=False, now=now)
    events.record(session, study, own.told.outcome.value, trial=trial, now=now, told=own.told.body, late=False)
    return trial
