"""What happens in studies: when something last did, and which robots work at them; for many studies at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from geodrome.schemas import TrialState
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from geodrome_service.store.tables import Event, Study, Trial

LATEST = 50
"""The trials of a study, by number, whose robots are named."""


@dataclass(frozen=True)
class Activity:
    """What happens in a study.

    Attributes:
        at: When its latest event was; None if it has none.
        robots: Who runs its trials, and who ran its latest ones, with how many each runs now: those that run most
            first, then the one that was seen last.
    """

    at: datetime | None = None
    robots: dict[str, int] = field(default_factory=dict)


def of_studies(session: Session, studies: Sequence[Study]) -> dict[int, Activity]:
    """What happens in each of these studies, by serial: three questions to indexes, however many studies there are."""
    serials = [study.serial for study in studies]
    found = {serial: Activity() for serial in serials}
    for serial, at in session.execute(_moments(serials)):
        found[serial] = Activity(at)
    for serial, robot, running in session.execute(_running(serials)):
        assert robot is not None
        found[serial].robots[robot] = running
    for serial, robot in session.execute(_latest(serials)):
        assert robot is not None
        found[serial].robots.setdefault(robot, 0)
    return found


def _moments(serials: Sequence[int]) -> Select[int, datetime]:
    is_latest = (Event.study_serial == Study.serial) & (Event.position == Study.last_event)
    return select(Study.serial, Event.at).join(Event, is_latest).where(Study.serial.in_(serials))


def _running(serials: Sequence[int]) -> Select[int, str | None, int]:
    runs = Trial.study_serial.in_(serials) & (Trial.state == TrialState.RUNNING.value)
    number = func.count().label("running")
    return (
        select(Trial.study_serial, Trial.worker, number)
        .where(runs, Trial.worker.is_not(None))
        .group_by(Trial.study_serial, Trial.worker)
        .order_by(number.desc(), Trial.worker)
    )


def _latest(serials: Sequence[int]) -> Select[int, str | None]:
    numbered = aliased(Trial)
    of_study = numbered.study_serial == Study.serial
    largest = select(func.max(numbered.number)).where(of_study).correlate(Study).scalar_subquery()
    return (
        select(Trial.study_serial, Trial.worker)
        .join(Study, (Study.serial == Trial.study_serial) & (Trial.number > largest - LATEST))
        .where(Study.serial.in_(serials), Trial.worker.is_not(None))
        .group_by(Trial.study_serial, Trial.worker)
        .order_by(func.max(Trial.number).desc())
    )
