"""The trials of a study without their points, so that of very many only some need be read whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Study, Trial

AT_ONCE = 500
"""Numbers in one query: databases take some thousand at most."""


class Outline(NamedTuple):
    """What costs little to read of a trial."""

    number: int
    state: str
    cost: float | None


def outlines(session: Session, study: Study) -> list[Outline]:
    """Of all trials, by number."""
    columns = select(Trial.number, Trial.state, Trial.cost).where(Trial.study_serial == study.serial)
    return [Outline(*row) for row in session.execute(columns.order_by(Trial.number))]


def numbered(session: Session, study: Study, numbers: Collection[int]) -> Sequence[Trial]:
    """The trials that have these numbers, by number."""
    found: list[Trial] = []
    wanted = sorted(numbers)
    for start in range(0, len(wanted), AT_ONCE):
        some = wanted[start : start + AT_ONCE]
        query = select(Trial).where(Trial.study_serial == study.serial, Trial.number.in_(some))
        found += session.scalars(query.order_by(Trial.number)).all()
    return found


def latest_origins(session: Session, study: Study, count: int) -> Sequence[tuple[int, dict[str, object]]]:
    """Number and origin of the latest trials, the newest first."""
    rows = select(Trial.number, Trial.origin).where(Trial.study_serial == study.serial)
    return [(number, origin) for number, origin in session.execute(rows.order_by(Trial.number.desc()).limit(count))]
