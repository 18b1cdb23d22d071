"""The commands that make, list and revoke access keys, on the database itself: a server need not run."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from geodrome_service.cli import open_database, settings_of
from geodrome_service.roles import Role

if TYPE_CHECKING:
    from geodrome_service.store.tables import AccessKey

LONGEST_NAME = 128

PIPE_WIDTH = 1_000

app = typer.Typer(help="Make, list and revoke the keys that give access to a service.", no_args_is_help=True)

DatabaseName = Annotated[
    str | None,
    typer.Option("--database", help="The service's database; GEODROME_DATABASE_URL, or geodrome.db, if not given."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command()
def create(
    *,
    role: Annotated[
        Role, typer.Option(help="viewer reads; robot also asks and tells; admin also makes and deletes studies.")
    ],
    name: Annotated[str, typer.Option(help="Whose it is, in words.")] = "",
    expires_days: Annotated[
        float | None, typer.Option("--expires-days", min=0.001, max=36_500, help="Ends after so many days.")
    ] = None,
    database: DatabaseName = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. It is printed this once and kept nowhere."""
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise typer.BadParameter(f"at most {LONGEST_NAME} printable characters", param_hint="--name")
    opened = open_database(settings_of(database_url=database), "keys")
    from geodrome_service.store import keys  # noqa: PLC0415

    now = datetime.now(UTC)
    expires_at = None if expires_days is None else now + timedelta(days=expires_days)
    with opened.write.begin() as session:
        row, text = keys.make(session, role, name=name, now=now, expires_at=expires_at)
        shown = _shown(row, now)
    opened.close()
    where = opened.url.set(query={}).render_as_string()  # without the password
    if as_json:
        typer.echo(json.dumps({**shown, "key": text}))
        return
    # The key alone is the output, for key=$(geodrome keys create ...).
    typer.echo(text)
    typer.echo(f"This is key {shown['id']} of {where}, for the role {shown['role']}. It is shown this once.", err=True)


@app.command("list")
def list_keys(*, database: DatabaseName = None, as_json: AsJson = False) -> None:
    """List the keys that were ever made; their texts are kept nowhere."""
    opened = open_database(settings_of(database_url=database), "keys")
    from geodrome_service.store import keys  # noqa: PLC0415

    now = datetime.now(UTC)
    with opened.read.begin() as session:
        records = [_shown(row, now) for row in keys.every(session)]
    opened.close()
    if as_json:
        typer.echo(json.dumps({"keys": records}))
        return
    table = Table("id", "name", "role", "state", "created", "expires", box=None)
    for record in records:
        expires = record["expires_at"]
        table.add_row(
            str(record["id"]),
            Text(record["name"]),
            record["role"],
            record["state"],
            record["created_at"][:10],
            "never" if expires is None else expires[:16].replace("T", " "),
        )
    console = Console()
    console.print(table, width=console.width if console.is_terminal else PIPE_WIDTH)


@app.command()
def revoke(
    key_id: Annotated[int, typer.Argument(metavar="ID", help="Id of the key, as `geodrome keys list` shows it.")],
    *,
    database: DatabaseName = None,
) -> None:
    """End a key, for good. Servers refuse it within five seconds."""
    opened = open_database(settings_of(database_url=database), "keys")
    from geodrome_service.store import keys  # noqa: PLC0415

    with opened.write.begin() as session:
        found = keys.revoke(session, key_id, now=datetime.now(UTC))
    opened.close()
    if found is None:
        typer.echo(f"geodrome keys: there is no key {key_id}; geodrome keys list shows those that there are", err=True)
        raise typer.Exit(1)
    typer.echo(f"Key {key_id} is revoked.")


def _shown(row: AccessKey, now: datetime) -> dict[str, Any]:
    from geodrome_service.store import keys  # noqa: PLC0415

    return {
        "id": row.id,
        "name": row.name,
        "role": row.role,
        "state": keys.state(row, now),
        "created_at": row.created_at.isoformat(),
        "expires_at": None if row.expires_at is None else row.expires_at.isoformat(),
    }
