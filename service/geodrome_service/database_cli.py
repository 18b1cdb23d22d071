"""The commands that look after databases, and the one that computes a study's suggestions again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from geodrome.errors import StudyNotFound
from pydantic import ValidationError

from geodrome_service.cli import settings_of
from geodrome_service.settings import Settings

if TYPE_CHECKING:
    from geodrome_service.store.database import Database

app = typer.Typer(help="Look after a database: upgrade, check, backup, copy.", no_args_is_help=True)

DatabaseName = Annotated[
    str | None,
    typer.Option("--database", help="SQLite file or postgresql://user@host/name; as `geodrome serve` if not given."),
]


@app.command()
def upgrade(database: DatabaseName = None) -> None:
    """Bring the tables up to this version's, as `geodrome serve` does when it starts."""
    from geodrome_service.store.database import newest_revision  # noqa: PLC0415

    with _opened(database, migrated=False) as opened:
        before = opened.revision()
    with _opened(database) as opened:
        after = opened.revision()
    typer.echo(
        f"up to date: {newest_revision()}" if before == after else f"upgraded from {before or 'none'} to {after}"
    )


@app.command()
def check(database: DatabaseName = None) -> None:
    """Look for damage and contradictions; exit code 1 if there are any. Nothing is changed."""
    from geodrome_service.store import checks  # noqa: PLC0415

    with _current(database) as opened, opened.read.begin() as session:
        count = 0
        for count, finding in enumerate(checks.findings(session), start=1):  # noqa: B007 (how many there were)
            typer.echo(finding)
    if count:
        _fail("one thing is wrong" if count == 1 else f"{count} things are wrong")
    typer.echo("nothing is wrong")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="File to write; it must not exist.")], database: DatabaseName = None
) -> None:
    """Write a consistent copy of the database into a file, while servers go on: of PostgreSQL by pg_dump."""
    from geodrome_service.store.backups import CannotBackUp, back_up  # noqa: PLC0415

    with _opened(database, migrated=False) as opened:
        url = opened.url
    try:
        back_up(url, file)
    except CannotBackUp as error:
        _fail(str(error))
    typer.echo(f"{file}: {file.stat().st_size} bytes")


@app.command()
def copy(
    source: Annotated[str, typer.Argument(help="SQLite file or postgresql://user@host/name.")],
    target: Annotated[str, typer.Argument(help="Likewise; an SQLite file is made.")],
) -> None:
    """Copy all studies into another database, compared byte by byte. Stop the servers first.

    Start it again after an interruption: what is there already is compared, and the rest copied.
    """
    from geodrome_service.store.copying import CannotCopy  # noqa: PLC0415
    from geodrome_service.store.copying import copy as copies  # noqa: PLC0415

    with _current(source) as here, _opened(target) as there:
        try:
            for one in copies(here, there):
                how = "copied" if one.is_new else "there already"
                typer.echo(f"{one.name}: {one.trials} trials, {one.events} events, sha256 {one.digest}, {how}")
        except CannotCopy as error:
            _fail(str(error))


def replay(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Name or id of the study.")],
    *,
    database: DatabaseName = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that compute.")] = 1,
) -> None:
    """Compute every suggestion of a study again, from its events; exit code 1 at the first that differs."""
    from geodrome_service.replay import Difference  # noqa: PLC0415

    with _current(database) as opened:
        try:
            found = asyncio.run(_replay(opened, study, workers))
        except StudyNotFound as error:
            _fail(error.detail)
    if isinstance(found, Difference):
        where = "" if found.number is None else f"trial {found.number}: "
        if found.got is None and found.expected is None:
            _fail(f"{where}{found.what}")
        _fail(f"{where}{found.what} is stored as {found.expected}, and computed as {found.got}")
    typer.echo(f"{found} suggestions recomputed, all equal")


async def _replay(opened: Database, study: str, workers: int) -> object:
    from geodrome_service.cluster import open_pool  # noqa: PLC0415
    from geodrome_service.replay import replay as again  # noqa: PLC0415

    async with open_pool(settings_of(workers=workers)) as pool:
        return await again(opened, study, pool.suggest, at_once=workers)


@contextmanager
def _opened(name: str | None, *, migrated: bool = True) -> Iterator[Database]:
    from geodrome_service.store.database import CannotOpen, Database, database_url  # noqa: PLC0415

    try:
        opened = Database(database_url(name or Settings().database_url), migrated=migrated)
    except (CannotOpen, ValidationError) as error:
        _fail(str(error))
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def _current(name: str | None) -> Iterator[Database]:
    """A database whose tables are those of this version; it is not changed."""
    from geodrome_service.store.database import newest_revision  # noqa: PLC0415

    with _opened(name, migrated=False) as opened:
        found, newest = opened.revision(), newest_revision()
        if found != newest:
            _fail(f"the tables are at revision {found or 'none'}, this version's at {newest}: run geodrome db upgrade")
        yield opened


def _fail(message: str) -> NoReturn:
    typer.echo(f"geodrome: {message}", err=True)
    raise typer.Exit(1)
