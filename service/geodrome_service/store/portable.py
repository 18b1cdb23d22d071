"""A study as text that can be carried: its definition, its trials and its events, whole and bit for bit.

Equal content gives equal bytes, on either database. What belongs to a server and not to the study stays behind: who
waits, who computes, and the idempotency keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from geodrome.schemas import TrialState
from sqlalchemy import Double, Row, Table, insert, select
from sqlalchemy.orm import Session

from geodrome_service.store import counting
from geodrome_service.store.canonical import canonical_json
from geodrome_service.store.tables import Event, Study, Trial, UtcDateTime, table_of

FORMAT = "geodrome-study"
VERSION = 1

PAGE = 1000
"""Rows that are read, or written, at once."""

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
"""Fields of a study that never change after creation; budget, lease and metadata may."""

DEFINITION = ("id", "name", "state", "created_at", *DEFINING, "budget", "lease_s", "metadata")
"""Members of the study that are columns; counters follow from the trials and the events."""

Record = dict[str, Any]
"""A row as it travels: all columns but the study's serial, moments as text."""


def written(session: Session, study: Study) -> Iterator[str]:
    """The study as canonical JSON, piece by piece; one transaction makes the pieces fit."""
    head = {"format": FORMAT, "version": VERSION, "study": definition(session, study)}
    yield canonical_json(head)[:-1]
    yield from _listed("trials", trials(session, study))
    yield from _listed("events", events(session, study))
    yield "}"


def digest(session: Session, study: Study) -> str:
    """SHA-256 of the study's canonical JSON, in hexadecimal."""
    found = hashlib.sha256()
    for piece in written(session, study):
        found.update(piece.encode())
    return found.hexdigest()


def definition(session: Session, study: Study) -> Record:
    """The study's own row, with how many trials there are by state, and how many events."""
    table = table_of(Study)
    row = session.execute(select(*(table.c[name] for name in DEFINITION)).where(table.c.serial == study.serial)).one()
    counts = {state.value: count for state, count in counting.counts(study).items()}
    return {**_record(table, row), "counts": counts, "last_event": study.last_event}


def trials(session: Session, study: Study) -> Iterator[Record]:
    """The trials by number."""
    return _rows(session, table_of(Trial), "number", study)


def events(session: Session, study: Study) -> Iterator[Record]:
    """The events by position."""
    return _rows(session, table_of(Event), "position", study)


def metric_names(session: Session, study: Study) -> list[str]:
    """Names of all metrics of the study's trials, in alphabetical order."""
    metrics = select(Trial.metrics).where(Trial.study_serial == study.serial)
    names = {name for page in session.scalars(metrics.execution_options(yield_per=PAGE)) for name in page}
    return sorted(names)


def add(session: Session, study: Record, trials: Iterable[Record], events: Iterable[Record]) -> Study:
    """A study with all its trials and events, as they are given: whoever calls has checked them.

    Raises:
        IntegrityError: Its name or its id is taken.
    """
    columns = {name: study[name] for name in DEFINITION}
    row = {**columns, **study["counts"], "last_event": study["last_event"]}
    session.execute(insert(table_of(Study)), [_row(table_of(Study), row)])
    added = session.scalars(select(Study).where(Study.id == study["id"])).one()
    for table, records in ((table_of(Trial), trials), (table_of(Event), events)):
        for page in _pages(records):
            session.execute(insert(table), [{"study_serial": added.serial, **_row(table, record)} for record in page])
    return added


def counted(trials: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many trials there are in each state."""
    counts = dict.fromkeys((state.value for state in TrialState), 0)
    for trial in trials:
        counts[trial["state"]] += 1
    return counts


def _rows(session: Session, table: Table, key: str, study: Study) -> Iterator[Record]:
    columns = [column for column in table.c if column.name != "study_serial"]
    after = 0
    while True:
        rows = session.execute(
            select(*columns)
            .where(table.c.study_serial == study.serial, table.c[key] > after)
            .order_by(table.c[key])
            .limit(PAGE)
        ).all()
        for row in rows:
            yield _record(table, row)
        if len(rows) < PAGE:
            return
        after = getattr(rows[-1], key)


def _record(table: Table, row: Row[Any]) -> Record:
    record = row._asdict()
    moments, numbers = _kinds(table)
    for name in moments & record.keys():
        if (moment := record[name]) is not None:
            record[name] = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return _without_minus(record, numbers)


def _row(table: Table, record: Record) -> dict[str, Any]:
    row = dict(record)
    moments, numbers = _kinds(table)
    for name in moments & row.keys():
        if (moment := row[name]) is not None:
            row[name] = datetime.fromisoformat(moment)
    return _without_minus(row, numbers)


def _without_minus(record: Record, numbers: frozenset[str]) -> Record:
    """Zeros without a sign: SQLite keeps none."""
    for name in numbers & record.keys():
        if record[name] is not None:
            record[name] += 0.0
    return record


@cache
def _kinds(table: Table) -> tuple[frozenset[str], frozenset[str]]:
    """The columns that hold moments, and those that hold numbers."""
    moments = frozenset(column.name for column in table.c if isinstance(column.type, UtcDateTime))
    return moments, frozenset(column.name for column in table.c if isinstance(column.type, Double))


def _listed(name: str, records: Iterator[Record]) -> Iterator[str]:
    yield f',"{name}":['
    separator = ""
    for page in _pages(records):
        yield separator + ",".join(map(canonical_json, page))
        separator = ","
    yield "]"


def _pages(records: Iterable[Record]) -> Iterator[list[Record]]:
    page: list[Record] = []
    for record in records:
        page.append(record)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page
