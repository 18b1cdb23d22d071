"""Copies of a whole database as one file, consistent while servers go on writing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

PG_DUMP = "pg_dump"


class CannotBackUp(Exception):
    """There is no backup now; the message says why."""


def back_up(url: URL, target: Path) -> None:
    """Writes a backup, whole or not at all.

    Of SQLite it is a database file, of PostgreSQL an archive for ``pg_restore``.

    Raises:
        CannotBackUp: The file exists, or the backup fails.
    """
    if target.exists():
        raise CannotBackUp(f"{target} exists, and no backup is overwritten")
    part = target.with_name(f"{target.name}.part")
    try:
        (_of_sqlite if url.get_backend_name() == "sqlite" else _of_postgresql)(url, part)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(target)
    except OSError as error:
        raise CannotBackUp(f"{target} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _of_sqlite(url: URL, part: Path) -> None:
    assert url.database is not None
    here = Path(url.database).resolve()
    part.unlink(missing_ok=True)
    try:
        with (
            closing(sqlite3.connect(f"{here.as_uri()}?mode=rw", uri=True)) as source,
            closing(sqlite3.connect(part, isolation_level=None)) as copy,
        ):
            source.backup(copy)  # in one step: what is written meanwhile is not in it
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            [[said]] = copy.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.Error as error:
        raise CannotBackUp(f"{here} cannot be copied: {error}") from error
    if said != "ok":
        raise CannotBackUp(f"{here} is damaged: {said}")


def _of_postgresql(url: URL, part: Path) -> None:
    program = shutil.which(PG_DUMP)
    # Everybody on the machine sees the arguments of a program, and nobody else its environment.
    password = url.password or url.query.get("password")
    query = url.difference_update_query(["password"]).query
    named = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    name = named.render_as_string(hide_password=False)
    if program is None:
        raise CannotBackUp(
            f"{PG_DUMP} is not here; it comes with PostgreSQL's client programs: "
            f"{PG_DUMP} --format=custom --file=FILE {name}"
        )
    done = subprocess.run(  # noqa: S603 (the program that PATH names, and no shell)
        [program, "--format=custom", "--no-password", f"--file={part}", f"--dbname={name}"],
        env=os.environ | ({"PGPASSWORD": str(password)} if password else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CannotBackUp(f"{PG_DUMP} failed: {done.stderr.strip()}")
