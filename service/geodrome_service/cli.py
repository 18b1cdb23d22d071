"""The command that runs the service."""

from __future__ import annotations

import ipaddress
from typing import Annotated

import typer
from pydantic import ValidationError

from geodrome_service.settings import Settings

LOOPBACK_NAME = "localhost"


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
        bool, typer.Option("--insecure", help="Listen on an address that others reach; nobody needs a key.")
    ] = False,
) -> None:
    """Run the service until it is interrupted. What is not given comes from GEODROME_* variables or .env."""
    settings = _settings(host=host, port=port, database_url=database, workers=workers)
    if not insecure and not _is_loopback(settings.host):
        raise typer.BadParameter(
            f"{settings.host} is no loopback address, and this version has no keys: whoever reaches it may do "
            "everything. Say --insecure if that is wanted.",
            param_hint="--host",
        )
    # These take seconds to import, which no --help should wait for; the server longest, so the database is first.
    from geodrome_service.store.database import CannotOpen, Database, database_url  # noqa: PLC0415

    try:
        opened = Database(database_url(settings.database_url), connections=settings.database_connections)
    except CannotOpen as error:
        typer.echo(f"geodrome serve: {error}", err=True)
        raise typer.Exit(1) from error
    from geodrome_service.server import run  # noqa: PLC0415

    run(settings, opened)


def _settings(**given: str | int | None) -> Settings:
    """The settings, those given on the command line first."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False)
        name = "_".join(map(str, first["loc"]))
        raise typer.BadParameter(
            f"{first['msg']}, got {first['input']!r}", param_hint=f"{name} (GEODROME_{name.upper()})"
        ) from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOOPBACK_NAME
