"""The history of a study: every change of state, in order, never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Event, Json, Study, Trial, table_of

_INSERT = insert(table_of(Event))


def record(
    session: Session, study: Study, kind: str, *, now: datetime, trial: Trial | None = None, **details: Any
) -> None:
    """Notes what happened to a study, or to one of its trials; the caller holds the study's lock."""
    session.execute(_INSERT, _row(study, kind, None if trial is None else trial.number, details, now=now))


def record_all(
    session: Session, study: Study, kind: str, trials: Iterable[Trial], *, now: datetime, **details: Any
) -> None:
    """Notes that the same happened to several of a study's trials, in their order."""
    if rows := [_row(study, kind, trial.number, details, now=now) for trial in trials]:
        session.execute(_INSERT, rows)


def page(session: Session, study: Study, *, after: int, limit: int) -> Sequence[Event]:
    """The events after a position, in order, at most ``limit``."""
    found = select(Event).where(Event.study_serial == study.serial, Event.position > after)
    return session.scalars(found.order_by(Event.position).limit(limit)).all()


def _row(study: Study, kind: str, number: int | None, details: Json, *, now: datetime) -> dict[str, Any]:
    study.last_event += 1
    return {
        "study_serial": study.serial,
        "position": study.last_event,
        "number": number,
        "at": now,
        "kind": kind,
        "details": details,
    }
