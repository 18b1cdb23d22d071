"""Studies: making, finding and listing them, and the best of their trials."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from geodrome.errors import StudyClosed, StudyExists, StudyNotFound
from geodrome.schemas import StudyState, TrialState
from sqlalchemy import ScalarSelect, Select, bindparam, case, delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from geodrome_service.store import events, portable
from geodrome_service.store.portable import DEFINING, Record
from geodrome_service.store.tables import Event, Study, SuggestLease, Trial, WaitingAsk

COLUMNS = {"metadata": "user_metadata"}
"""Fields whose attribute has another name."""


def _locked(query: Select[Study]) -> Select[Study]:
    return query.with_for_update(of=Study).execution_options(populate_existing=True)


# Statements that are made once: making one costs as much as running it.
# A name may be spelled like another study's id; the id goes first.
_FIND = (
    select(Study)
    .where((Study.id == bindparam("wanted")) | (Study.name == bindparam("wanted")))
    .order_by(case((Study.id == bindparam("wanted"), 0), else_=1))
    .limit(1)
)
_FIND_AND_LOCK = _locked(_FIND)
_LOCK = _locked(select(Study).where(Study.serial == bindparam("serial")))


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
    session.flush()
    events.record(session, study, "created", now=now)
    return study, True


def add(session: Session, study: Record, trials: Sequence[Record], events: Sequence[Record]) -> Study:
    """A study that was made elsewhere, with its trials and events as they are.

    It keeps its id where no study has that, nor a name that is spelled like it.

    Raises:
        StudyExists: Its name is taken.
    """
    known = select(Study.serial).where((Study.id == study["id"]) | (Study.name == study["id"]))
    is_taken = session.scalars(known.limit(1)).first() is not None
    # The id may be taken at this very moment; another one is nobody's.
    for one in [str(uuid.uuid4())] if is_taken else [study["id"], str(uuid.uuid4())]:
        try:
            with session.begin_nested():
                return portable.add(session, study | {"id": one}, trials, events)
        except IntegrityError:
            existing = session.scalars(select(Study).where(Study.name == study["name"])).first()
            if existing is not None:
                raise _taken(existing, "import it under another one: ?name=…") from None
    raise AssertionError("neither its name nor its id is taken")


def _taken(existing: Study, advice: str) -> StudyExists:
    since = f"{existing.created_at:%Y-%m-%d %H:%M:%S} UTC"
    return StudyExists(f"a study named {existing.name!r} exists since {since}; {advice}")


def _load(existing: Study, fields: Mapping[str, Any], *, load: bool) -> Study:
    if not load:
        raise _taken(existing, 'choose another name, or send "if_exists": "load" to go on with it')
    if other := [name for name in DEFINING if getattr(existing, name) != fields[name]]:
        raise StudyExists(
            f"a study named {existing.name!r} exists and is defined otherwise: {', '.join(other)}",
            extra={"differs": other},
        )
    return existing


def find(session: Session, name_or_id: str, *, lock: bool = False) -> Study:
    """The study with this id or name; with ``lock`` nobody else changes it or its trials until the transaction ends.

    All that changes a study locks it first. So its events happen one after another, in the order of their ids, and its
    trials and counters cannot disagree.

    Raises:
        StudyNotFound: There is none.
    """
    if "\0" in name_or_id:  # no database stores that in a text
        raise StudyNotFound(f"no study has the name or id {name_or_id!r}")
    study = session.scalars(_FIND_AND_LOCK if lock else _FIND, {"wanted": name_or_id}).first()
    if study is None:
        raise StudyNotFound(f"no study has the name or id {name_or_id!r}")
    return study


def change(session: Session, study: Study, changes: Mapping[str, Any], *, now: datetime) -> None:
    """Changes some of state, budget, lease and metadata of a locked study.

    Raises:
        StudyClosed: It is closed, and stays so.
    """
    differing = {name: value for name, value in changes.items() if getattr(study, COLUMNS.get(name, name)) != value}
    if study.state == StudyState.CLOSED.value and "state" in differing:
        raise StudyClosed(f"study {study.name!r} is closed for good; make another one with the same definition")
    for name, value in differing.items():
        setattr(study, COLUMNS.get(name, name), value)
    if differing:
        events.record(session, study, differing.get("state", "changed"), now=now, **differing)


def remove(session: Session, study: Study) -> None:
    """Deletes a locked study with its trials and events."""
    for table in (Event, Trial, SuggestLease, WaitingAsk):
        session.execute(delete(table).where(table.study_serial == study.serial))
    session.delete(study)


def locked(session: Session, serial: int) -> Study:
    """The study of this serial, locked as by ``find``.

    Raises:
        StudyNotFound: It was deleted meanwhile.
    """
    study = session.scalars(_LOCK, {"serial": serial}).first()
    if study is None:
        raise StudyNotFound("the study was deleted")
    return study


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


def best_trials(session: Session, studies: Sequence[Study]) -> dict[int, Trial]:
    """The best completed trial of each study that has one, by serial: the earliest of those with the best cost."""
    serials = [study.serial for study in studies]
    maximized = Study.objective["goal"].as_string() == "maximize"
    number = case((maximized, _first(descending=True)), else_=_first(descending=False))
    best = (
        select(Trial)
        .join(Study, Study.serial == Trial.study_serial)
        .where(Study.serial.in_(serials), Trial.number == number)
    )
    return {trial.study_serial: trial for trial in session.scalars(best)}


def _first(*, descending: bool) -> ScalarSelect[int]:
    """Number of the study's completed trial that is the first by cost: one step into an index."""
    completed = aliased(Trial)
    return (
        select(completed.number)
        .where(completed.study_serial == Study.serial, completed.state == TrialState.COMPLETED.value)
        .order_by(completed.cost.desc() if descending else completed.cost, completed.number)
        .limit(1)
        .correlate(Study)
        .scalar_subquery()
    )
