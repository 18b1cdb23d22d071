"""Studies from one database into another, of any kind: each in a transaction of its own, compared before it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from geodrome_service.store import portable
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study


class CannotCopy(Exception):
    """A study cannot come into the target; the message says why."""


@dataclass(frozen=True)
class Copied:
    """A study that is in both databases.

    Attributes:
        name: Its name.
        trials, events: How many it has.
        digest: SHA-256 of its canonical JSON, the same in both.
        is_new: Whether it was copied now; else it was there before.
    """

    name: str
    trials: int
    events: int
    digest: str
    is_new: bool


def copy(source: Database, target: Database) -> Iterator[Copied]:
    """Copies all studies, in the order in which they were made; those that are there already are compared.

    A copy that was interrupted goes on when it is started again.

    Raises:
        CannotCopy: A name or an id is taken by another study, before anything is copied; or a study does not come out
            of the target as it went in, and is not kept there.
    """
    with source.read.begin() as session:
        ids = list(session.scalars(select(Study.id).order_by(Study.serial)))
    if clashes := list(_clashes(source, target, ids)):
        raise CannotCopy("; ".join(clashes))
    for one in ids:
        yield _copied(source, target, one)


def _clashes(source: Database, target: Database, ids: Sequence[str]) -> Iterator[str]:
    with source.read.begin() as here, target.read.begin() as there:
        for one in ids:
            study = _by_id(here, one)
            assert study is not None
            taken = there.scalars(select(Study).where((Study.name == study.name) | (Study.id == one))).all()
            for other in taken:
                if (other.name, other.id) != (study.name, one):
                    yield (
                        f"study {study.name!r} ({one}) would meet study {other.name!r} ({other.id}) of the target: "
                        "delete one of them, or export it and import it under another name"
                    )
                elif portable.digest(there, other) != portable.digest(here, study):
                    yield f"study {study.name!r} is in the target already, and has become another there"


def _copied(source: Database, target: Database, one: str) -> Copied:
    with source.read.begin() as here, target.write.begin() as there:
        study = _by_id(here, one)
        if study is None:
            raise CannotCopy(f"study {one} was deleted meanwhile")
        wanted = portable.digest(here, study)
        copy = _by_id(there, one)
        is_new = copy is None
        if copy is None:
            definition = portable.definition(here, study)
            copy = portable.add(there, definition, portable.trials(here, study), portable.events(here, study))
        if portable.digest(there, copy) != wanted:
            raise CannotCopy(
                f"study {study.name!r} does not come out of the target as it went in; it is not kept there"
            )
        counts = portable.definition(here, study)["counts"]
        return Copied(study.name, sum(counts.values()), study.last_event, wanted, is_new)


def _by_id(session: Session, one: str) -> Study | None:
    return session.scalars(select(Study).where(Study.id == one)).first()
