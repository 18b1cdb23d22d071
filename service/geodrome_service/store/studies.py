"""Studies: making, finding and listing them, and how far they are."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from geodrome.errors import StudyExists, StudyNotFound
from geodrome.schemas import StudyState, TrialState
from sqlalchemy import Subquery, case, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from geodrome_service.store import events
from geodrome_service.store.tables import Study, Trial

DEFINING = (
    "space",
    "objective",
    "kernel",
    "acquisition",
    "initial_design",
    "noise",
    "constraints",
    "seed",
    "max_attempts",
)
"""Fields that never change after creation; budget, lease and metadata may."""

COUNTED = (TrialState.COMPLETED, TrialState.FAILED, TrialState.ABANDONED)
"""States that spend budget."""

RESERVED = (TrialState.QUEUED, TrialState.RUNNING)
"""States that may still come to spend it."""


@dataclass(frozen=True)
class Progress:
    """How far a study is.

    Attributes:
        counts: Trials in each state.
        best: The completed trial with the best cost, the earliest of equals; None before the first.
    """

    counts: Mapping[TrialState, int]
    best: Trial | None

    def budget_left(self, study: Study) -> int | None:
        """Trials that the budget still pays for, not below 0; None without a budget."""
        limit: int | None = study.budget["trials"]
        if limit is None:
            return None
        return max(0, limit - sum(self.counts[state] for state in COUNTED))


def create(session: Session, definition: Mapping[str, Any], *, load: bool, now: datetime) -> tuple[Study, bool]:
    """A new study, or the one of this name.

    Args:
        session: The transaction.
        definition: The fields of a ``StudyDefinition``, resolved, as JSON.
        load: Whether an equally defined study of the same name will do.
        now: The moment of creation.

    Returns:
        The study, and whether it is new.

    Raises:
        StudyExists: The name is taken; with ``load``, by a study that is defined otherwise.
    """
    fields = dict(definition)
    metadata = fields.pop("metadata")
    study = Study(id=str(uuid.uuid4()), state=StudyState.ACTIVE.value, created_at=now, user_metadata=metadata, **fields)
    try:
        with session.begin_nested():
            session.add(study)
    except IntegrityError:
        existing = session.scalars(select(Study).where(Study.name == study.name)).one()
        return _load(existing, fields, load=load), False
    events.record_study(session, study, "created", now=now)
    return study, True


def _load(existing: Study, fields: Mapping[str, Any], *, load: bool) -> Study:
    if not load:
        raise StudyExists(
            f"a study named {existing.name!r} exists since {existing.created_at:%Y-%m-%d %H:%M:%S} UTC; "
            'choose another name, or send "if_exists": "load" to go on with it'
        )
    if other := [name for name in DEFINING if getattr(existing, name) != fields[name]]:
        raise StudyExists(
            f"a study named {existing.name!r} exists and is defined otherwise: {', '.join(other)}",
            extra={"differs": other},
        )
    return existing


def find(session: Session, name_or_id: str) -> Study:
    """The study with this id or name.

    Raises:
        StudyNotFound: There is none.
    """
    found = session.scalars(select(Study).where((Study.id == name_or_id) | (Study.name == name_or_id))).all()
    if not found:
        raise StudyNotFound(f"no study has the name or id {name_or_id!r}")
    # A name may be spelled like another study's id; the id goes first.
    return min(found, key=lambda study: study.id != name_or_id)


def page(
    session: Session,
    *,
    state: StudyState | None,
    name_prefix: str,
    before: int | None,
    limit: int,
) -> tuple[Sequence[Study], int | None]:
    """Studies, newest first.

    Args:
        session: The transaction.
        state: Only those in this state.
        name_prefix: Only those whose names begin so.
        before: Only those made before the study with this serial: the cursor.
        limit: How many at most.

    Returns:
        The studies, and the cursor of the next page, None on the last.
    """
    query = select(Study).where(func.substr(Study.name, 1, len(name_prefix)) == name_prefix)
    if state is not None:
        query = query.where(Study.state == state.value)
    if before is not None:
        query = query.where(Study.serial < before)
    found = session.scalars(query.order_by(Study.serial.desc()).limit(limit + 1)).all()
    return found[:limit], found[limit - 1].serial if len(found) > limit else None


def progress(session: Session, studies: Sequence[Study]) -> dict[int, Progress]:
    """How far each of the studies is, by serial, in two queries however many there are."""
    serials = [study.serial for study in studies]
    counts = {serial: dict.fromkeys(TrialState, 0) for serial in serials}
    for serial, state, count in session.execute(
        select(Trial.study_serial, Trial.state, func.count())
        .where(Trial.study_serial.in_(serials))
        .group_by(Trial.study_serial, Trial.state)
    ):
        counts[serial][TrialState(state)] = count
    best = {trial.study_serial: trial for trial in session.scalars(select(_best_of(serials)))}
    return {serial: Progress(counts[serial], best.get(serial)) for serial in serials}


def _best_of(serials: Sequence[int]) -> type[Trial]:
    """The best completed trial of each study, as an entity to select from."""
    maximized = Study.objective["goal"].as_string() == "maximize"
    loss = case((maximized, -Trial.cost), else_=Trial.cost)
    ranked: Subquery = (
        select(
            Trial,
            func.row_number().over(partition_by=Trial.study_serial, order_by=(loss, Trial.number)).label("rank"),
        )
        .join(Study, Study.serial == Trial.study_serial)
        .where(Trial.study_serial.in_(serials), Trial.state == TrialState.COMPLETED.value)
        .subquery()
    )
    first = select(ranked).where(ranked.c.rank == 1).subquery()
    return aliased(Trial, first)
