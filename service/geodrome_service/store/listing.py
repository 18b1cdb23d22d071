"""Trials as a person looks through them: by state, by worker, flagged ones, by number or cost, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from geodrome.schemas import TrialState
from sqlalchemy import ColumnElement, String, TextClause, cast, func, select, text
from sqlalchemy.orm import Session

from geodrome_service.store import counting
from geodrome_service.store.tables import FLAGGED, Event, Study, Trial

Flag = Literal["late", "outside_domain"]


@dataclass(frozen=True)
class Choice:
    """Which trials, in which order.

    Attributes:
        state: Only those in this state.
        worker: Only those that this worker has or had.
        flag: Only those that are flagged so.
        by_cost: By cost instead of number: then only completed trials, unless another state is named.
        descending: The largest first.
    """

    state: TrialState | None = None
    worker: str | None = None
    flag: Flag | None = None
    by_cost: bool = False
    descending: bool = True

    @property
    def shown_state(self) -> TrialState | None:
        """The state of all trials that are listed; None for any."""
        return TrialState.COMPLETED if self.by_cost and self.state is None else self.state


def page(session: Session, study: Study, choice: Choice, *, offset: int, limit: int) -> Sequence[Trial]:
    """The chosen trials after the first ``offset``, at most ``limit``."""
    columns = [Trial.cost, Trial.number] if choice.by_cost else [Trial.number]
    order = [column.desc() if choice.descending else column.asc() for column in columns]
    query = select(Trial).where(*_where(study, choice)).order_by(*order).offset(offset).limit(limit)
    return session.scalars(query).all()


def count(session: Session, study: Study, choice: Choice) -> int:
    """How many trials are chosen; known without counting where only the state matters."""
    if choice.worker is None and choice.flag is None:
        counts = counting.counts(study)
        return sum(counts.values()) if choice.shown_state is None else counts[choice.shown_state]
    return session.scalar(select(func.count()).select_from(Trial).where(*_where(study, choice))) or 0


def outline(session: Session, study: Study) -> Sequence[tuple[int, str, float | None]]:
    """Number, state and cost of all trials: an index has just these."""
    rows = select(Trial.number, Trial.state, Trial.cost).where(Trial.study_serial == study.serial)
    return session.execute(rows).all()


def numbered(session: Session, study: Study, numbers: Sequence[int]) -> Sequence[Trial]:
    """The trials of these numbers, by number; not those that are not there."""
    found = select(Trial).where(Trial.study_serial == study.serial, Trial.number.in_(numbers))
    return session.scalars(found.order_by(Trial.number)).all()


def observed(session: Session, study: Study, *, latest: int) -> Sequence[Trial]:
    """The latest completed trials, newest first."""
    found = select(Trial).where(Trial.study_serial == study.serial, Trial.state == TrialState.COMPLETED.value)
    return session.scalars(found.order_by(Trial.number.desc()).limit(latest)).all()


def happened(session: Session, study: Study, number: int) -> Sequence[Event]:
    """The events of one trial, in order."""
    found = select(Event).where(Event.study_serial == study.serial, Event.number == number)
    return session.scalars(found.order_by(Event.position)).all()


def _where(study: Study, choice: Choice) -> list[ColumnElement[bool] | TextClause]:
    wanted: list[ColumnElement[bool] | TextClause] = [Trial.study_serial == study.serial]
    if choice.shown_state is not None:
        wanted.append(Trial.state == choice.shown_state.value)
    if choice.by_cost:
        wanted.append(Trial.cost.is_not(None))
    if choice.worker is not None:
        wanted.append(Trial.worker == choice.worker)
    if choice.flag is not None:
        wanted.append(text(FLAGGED))
        wanted.append(cast(Trial.flags, String).contains(f'"{choice.flag}"'))
    return wanted
