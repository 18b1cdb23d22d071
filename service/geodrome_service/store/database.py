"""The database: how it is opened, how its transactions begin, and how its tables come to be.

SQLite admits one writer at a time. All writing therefore goes through one connection, so that writers queue in the pool
in the order of their coming instead of polling the file's lock; and each writing transaction begins with
``BEGIN IMMEDIATE``, so that what it reads cannot change before it writes. Readers have connections of their own: in WAL
mode they neither wait for the writer nor stop it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import sessionmaker

BUSY_TIMEOUT_MS = 10_000
READERS = 8
WAIT_FOR_CONNECTION_S = 30.0
MIGRATIONS = "geodrome_service:migrations"


class CannotOpen(Exception):
    """The database cannot be used; the message says why."""


class Database:
    """An SQLite file, opened. It is made when there is none; its tables are brought up to date.

    Args:
        path: The file.

    Raises:
        CannotOpen: The file cannot be opened, is no database, or was written by a newer version of Geodrome.
    """

    def __init__(self, path: Path) -> None:
        self._writer = _engine(path, begin="BEGIN IMMEDIATE", connections=1)
        self._readers = _engine(path, begin="BEGIN", connections=READERS)
        self.write = sessionmaker(self._writer, expire_on_commit=False)
        """Sessions for transactions that may write: one at a time. Nothing is locked before the first statement."""
        self.read = sessionmaker(self._readers, expire_on_commit=False)
        """Sessions for transactions that only read; each sees one state of the database."""
        try:
            with self._writer.begin() as connection:
                migrate(connection)
        except DBAPIError as error:
            raise CannotOpen(f"the database {path} cannot be opened: {error.orig}") from error
        except CommandError as error:
            raise CannotOpen(f"the database {path} was written by a newer Geodrome: {error}") from error

    def close(self) -> None:
        """Ends all connections."""
        self._readers.dispose()
        # The last connection to close folds the write-ahead log into the file.
        self._writer.dispose()


def sqlite_file(name: str) -> Path:
    """The file that an operator names, as a path or as ``sqlite:///path``.

    Raises:
        CannotOpen: It names a database of another kind.
    """
    if "://" not in name:
        return Path(name)
    url = make_url(name)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise CannotOpen(f"the database is an SQLite file, such as geodrome.db; got {url.render_as_string()}")
    return Path(url.database)


def migrate(connection: Connection) -> None:
    """Brings the tables up to date, within the connection's transaction."""
    command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection) -> Config:
    """Alembic's settings for a connection; there is no ini file."""
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.attributes["connection"] = connection
    return config


def _engine(path: Path, *, begin: str, connections: int) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path.resolve())),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=WAIT_FOR_CONNECTION_S,
        json_serializer=canonical_json,
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def canonical_json(value: Any) -> str:
    """JSON as it is stored: no blanks, members in their own order, shortest digits that read back exactly."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _configure(connection: Any, _record: object) -> None:
    # The driver must not begin transactions of its own: it would begin them deferred, and late.
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",  # an acknowledged tell survives a power cut
        "foreign_keys = ON",
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
    ):
        connection.execute(f"PRAGMA {pragma}")
