"""The database, SQLite or PostgreSQL: how it is named and opened, and how its tables come to be."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import sessionmaker

from geodrome_service.store import postgresql, sqlite
from geodrome_service.store.tables import Study

CONNECTIONS = 8
WAIT_FOR_CONNECTION_S = 30.0
MIGRATIONS = "geodrome_service:migrations"

VERSION_TABLE = "geodrome_alembic_version"
"""Our own, so that other programs may keep theirs in the same database."""

BACKENDS = {"sqlite": sqlite.engines, "postgresql": postgresql.engines}


ABSENT = (OperationalError, InterfaceError, PoolTimeoutError)
"""What a database that is away is known by."""


def cause(error: Exception) -> str:
    """What the driver said, without the statement and its parameters, in one line."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


class CannotOpen(Exception):
    """The database cannot be used; the message says why."""


class Database:
    """A database, opened. An SQLite file is made when there is none; tables are brought up to date.

    Args:
        url: Which one, see ``database_url``.
        connections: At most so many, for readers at least.
        wait_s: How long a transaction waits for a free connection.
        migrated: Whether to do so; else it must be there, and its tables stay as they are.

    Raises:
        CannotOpen: It cannot be reached, is no database, or was written by a newer version of Geodrome.
    """

    def __init__(
        self,
        url: URL,
        *,
        connections: int = CONNECTIONS,
        wait_s: float = WAIT_FOR_CONNECTION_S,
        migrated: bool = True,
    ) -> None:
        self.url = url
        if not migrated and url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise CannotOpen(f"there is no file {url.database}")
        self._writer, self._readers = BACKENDS[url.get_backend_name()](url, connections=connections, wait_s=wait_s)
        self.write = sessionmaker(self._writer, expire_on_commit=False)
        """Sessions for transactions that may write. Nothing is locked before the first statement."""
        self.read = sessionmaker(self._readers, expire_on_commit=False)
        """Sessions for transactions that only read; each sees one state of the database."""
        shown = _shown(url)
        try:
            with self._writer.begin() as connection:
                if migrated:
                    migrate(connection)
        except DBAPIError as error:
            self.close()
            raise CannotOpen(f"the database {shown} cannot be opened: {error.orig}") from error
        except CommandError as error:
            self.close()
            raise CannotOpen(f"the database {shown} was written by a newer Geodrome: {error}") from error

    def answers(self) -> bool:
        """Whether it can be read now."""
        try:
            with self._readers.connect() as connection:
                connection.execute(select(Study.serial).limit(1))
        except (DBAPIError, PoolTimeoutError):
            return False
        return True

    def revision(self) -> str | None:
        """Revision of its tables; None where there are none."""
        with self._readers.begin() as connection:
            return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()

    def close(self) -> None:
        """Ends all connections."""
        self._readers.dispose()
        # The last connection to close folds SQLite's write-ahead log into the file.
        self._writer.dispose()


def database_url(name: str) -> URL:
    """The database that an operator names: a file of SQLite, as a path or ``sqlite:///path``, or ``postgresql://…``.

    Raises:
        CannotOpen: It names a database of another kind.
    """
    if "://" not in name:
        return URL.create("sqlite", database=name)
    rule = "a database is a file such as geodrome.db, sqlite:///geodrome.db or postgresql://user@host/name"
    try:
        url = make_url(name)
    except (ArgumentError, ValueError) as error:
        raise CannotOpen(f"{rule}; this is none") from error
    if url.drivername == "postgres":
        url = url.set(drivername="postgresql")
    if url.get_backend_name() not in BACKENDS or not url.database:
        raise CannotOpen(f"{rule}; got {_shown(url)}")
    return url


def _shown(url: URL) -> str:
    """Without the password, which may also stand in the query."""
    return url.set(query={}).render_as_string()


def file_url(path: Path) -> URL:
    """The URL of an SQLite file."""
    return URL.create("sqlite", database=str(path))


def migrate(connection: Connection) -> None:
    """Brings the tables up to date, within the connection's transaction."""
    if connection.dialect.name == "postgresql":
        postgresql.lock_for_migration(connection)
    command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection) -> Config:
    """Alembic's settings for a connection; there is no ini file."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def newest_revision() -> str | None:
    """Revision of the tables that this version works on."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    return config
