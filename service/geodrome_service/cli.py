"""The command that runs the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from geodrome_service.settings import Settings

if TYPE_CHECKING:
    from geodrome_service.store.database import Database


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 if not given.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 8100 if not given, 0 takes a free one.")] = None,
    database: Annotated[
        str | None,
        typer.Option(help="SQLite file, which is made, or postgresql://user@host/name; geodrome.db if not given."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that compute suggestions; 1 if not given.")] = None,
    *,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen on an address that others reach although there are no keys.")
    ] = False,
) -> None:
    """Run the service until it is interrupted. What is not given comes from GEODROME_* variables or .env."""
    given = {"host": host, "port": port, "database_url": database, "workers": workers, "insecure": insecure or None}
    settings = settings_of(**given)
    # The server takes seconds to import, and the database has something to say first.
    opened = open_database(settings, "serve")
    if settings.needs_keys and not keys_exist(opened):
        opened.close()
        raise typer.BadParameter(
            f"{settings.host} is no loopback address, and there are no keys: whoever reaches it could do everything. "
            "Make one with geodrome keys create --role admin, or say --insecure if that is wanted.",
            param_hint="--host",
        )
    from geodrome_service.server import run  # noqa: PLC0415

    run(settings, opened)


def settings_of(**given: str | int | None) -> Settings:
    """The settings, those given on the command line first; what is None was not given.

    Raises:
        typer.BadParameter: One of them breaks a rule.
    """
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False)
        if not first["loc"]:  # a rule about several
            raise typer.BadParameter(first["msg"]) from error
        name = "_".join(map(str, first["loc"]))
        raise typer.BadParameter(
            f"{first['msg']}, got {first['input']!r}", param_hint=f"{name} (GEODROME_{name.upper()})"
        ) from error


def open_database(settings: Settings, command: str) -> Database:
    """The database of the settings; if it cannot be opened, ``command`` says why and exits with 1."""
    # These take seconds to import, which no --help should wait for.
    from geodrome_service.store.database import CannotOpen, Database, database_url  # noqa: PLC0415

    try:
        return Database(database_url(settings.database_url), connections=settings.database_connections)
    except CannotOpen as error:
        typer.echo(f"geodrome {command}: {error}", err=True)
        raise typer.Exit(1) from error


def keys_exist(database: Database) -> bool:
    """Whether the database has keys, or once had."""
    from geodrome_service.store import keys  # noqa: PLC0415

    with database.read.begin() as session:
        return keys.exist(session)
