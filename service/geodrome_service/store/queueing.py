"""The queue of a study: the points that wait to be handed out, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from geodrome.schemas import TrialState
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


def enqueue(session: Session, study: Study, suggestions: Sequence[Suggested], *, now: datetime) -> None:
    """Puts suggestions at the end of the study's queue."""
    trials = []
    for number, suggested in enumerate(suggestions, start=history.next_number(session, study)):
        trial = queued(study, number, suggested.point, suggested.origin, now=now)
        trial.recipe = suggested.recipe
        add(session, study, trial)
        noting.note(session, Happening.SUGGESTED, suggested.origin["kind"])
        trials.append(trial)
    session.flush()
    events.record_all(session, study, "queued", trials, now=now)


def queued(study: Study, number: int, point: Json, origin: Json, *, now: datetime) -> Trial:
    """A trial that waits in the queue, not yet in the database."""
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


def add(session: Session, study: Study, trial: Trial) -> None:
    """Puts a trial into the database, and counts it."""
    session.add(trial)
    counting.added(study, TrialState(trial.state))
