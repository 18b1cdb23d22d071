"""The history of a study: every change of state, in order, never changed afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Event, Study, Trial, table_of

_INSERT = insert(table_of(Event))


def record(
    session: Session, study: Study, kind: str, *, now: datetime, trial: Trial | None = None, **details: Any
) -> None:
    """Notes what happened to a study, or to one of its trials; the caller holds the study's lock."""
    study.last_event += 1
    row = {
        "study_serial": study.serial,
        "position": study.last_event,
        "number": None if trial is None else trial.number,
        "at": now,
        "kind": kind,
        "details": details,
    }
    session.execute(_INSERT, row)


def page(session: Session, study: Study, *, after: int, limit: int) -> Sequence[Event]:
    """The events after a position, in order, at most ``limit``."""
    found = select(Event).where(Event.study_serial == study.serial, Event.position > after)
    return session.scalars(found.order_by(Event.position).limit(limit)).all()
