"""What is wrong with a database: rows that contradict each other, and files that were damaged."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from geodrome_service.store import past, portable
from geodrome_service.store.tables import Study


def findings(session: Session) -> Iterator[str]:
    """Each thing that is wrong, in a sentence; nothing is changed."""
    if session.get_bind().dialect.name == "sqlite":
        yield from _of_file(session)
    for study in session.scalars(select(Study).order_by(Study.serial)).all():
        for finding in _of_study(session, study):
            yield f"study {study.name}: {finding}"


def _of_file(session: Session) -> Iterator[str]:
    for said in session.scalars(text("PRAGMA integrity_check")):
        if said != "ok":
            yield f"the file is damaged: {said}"
    for row in session.execute(text("PRAGMA foreign_key_check")):
        yield f"row {row[1]} of {row[0]} belongs to no row of {row[2]}"


def _of_study(session: Session, study: Study) -> Iterator[str]:
    try:
        trials, events = list(portable.trials(session, study)), list(portable.events(session, study))
    except ValueError as error:
        yield f"a value cannot be read: {error}"
        return
    found = portable.definition(session, study)
    if found["counts"] != (counted := portable.counted(trials)):
        yield f"its counters are {found['counts']}, but its trials count {counted}"
    if found["last_event"] != len(events):
        yield f"its last event is {found['last_event']}, but it has {len(events)}"
    for name, records, key in (("trials", trials, "number"), ("events", events, "position")):
        gap = next((index for index, record in enumerate(records, start=1) if record[key] != index), None)
        if gap is not None:
            yield f"its {name} are numbered with a gap: {gap} is missing"
            return
    for trial in trials:
        if max(trial["retry_of"] or 0, trial["first_attempt"]) > trial["number"]:
            yield f"trial {trial['number']} repeats one that is not before it"
    try:
        then = past.of(past.happened(events), past.kept(trials))
    except past.Impossible as error:
        yield str(error)
        return
    for number, wrong in past.disagreements(then, trials):
        yield f"trial {number}: {wrong}"
