"""The history of a study: every change of state, in order, never changed afterwards."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Event, Study, Trial


def record_study(session: Session, study: Study, kind: str, *, now: datetime) -> None:
    """Notes what happened to a study."""
    session.add(Event(study_serial=study.serial, number=None, at=now, kind=kind, details={}))


def record_trial(session: Session, trial: Trial, kind: str, *, now: datetime, **details: Any) -> None:
    """Notes what happened to a trial."""
    session.add(Event(study_serial=trial.study_serial, number=trial.number, at=now, kind=kind, details=details))


def last_event(session: Session, study: Study) -> int:
    """Id of the study's latest event: whoever has seen the same has seen all."""
    latest = session.scalar(select(func.max(Event.id)).where(Event.study_serial == study.serial))
    assert latest is not None, "a study begins with an event"
    return latest
