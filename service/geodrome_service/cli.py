"""The command that runs the service."""

from __future__ import annotations

import ipaddress
from typing import Annotated

import typer

LOOPBACK_NAME = "localhost"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.", envvar="GEODROME_HOST")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one.", envvar="GEODROME_PORT", min=0, max=65535)
    ] = 8100,
    database: Annotated[
        str, typer.Option(help="SQLite file that keeps everything; it is made.", envvar="GEODROME_DATABASE")
    ] = "geodrome.db",
    workers: Annotated[
        int, typer.Option(help="Processes that compute suggestions.", envvar="GEODROME_WORKERS", min=1)
    ] = 1,
    *,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen on an address that others reach; nobody needs a key.")
    ] = False,
) -> None:
    """Run the service until it is interrupted."""
    if not insecure and not _is_loopback(host):
        raise typer.BadParameter(
            f"{host} is no loopback address, and this version has no keys: whoever reaches it may do everything. "
            "Say --insecure if that is wanted.",
            param_hint="--host",
        )
    # These take seconds to import, which no --help should wait for; the server longest, so the database is first.
    from geodrome_service.settings import Settings  # noqa: PLC0415
    from geodrome_service.store.database import CannotOpen, Database, sqlite_file  # noqa: PLC0415

    try:
        settings = Settings(database=sqlite_file(database), host=host, port=port, workers=workers)
        opened = Database(settings.database)
    except CannotOpen as error:
        typer.echo(f"geodrome serve: {error}", err=True)
        raise typer.Exit(1) from error
    from geodrome_service.server import run  # noqa: PLC0415

    run(settings, opened)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOOPBACK_NAME
