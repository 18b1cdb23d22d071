"""SQLite: how a file is opened, and how its transactions begin.

SQLite admits one writer at a time. All writing of a process therefore goes through one connection, so that writers
queue in the pool in the order of their coming instead of polling the file's lock; and each writing transaction begins
with ``BEGIN IMMEDIATE``, so that what it reads cannot change before it writes. Readers have connections of their own:
in WAL mode they neither wait for the writer nor stop it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

from geodrome_service.store.canonical import canonical_json

BUSY_TIMEOUT_MS = 10_000


def engines(url: URL, *, connections: int, wait_s: float) -> tuple[Engine, Engine]:
    """Engines of transactions that may write, and of those that only read."""
    assert url.database is not None
    resolved = url.set(drivername="sqlite", database=str(Path(url.database).resolve()))
    return (
        _engine(resolved, begin="BEGIN IMMEDIATE", connections=1, wait_s=wait_s),
        _engine(resolved, begin="BEGIN", connections=connections, wait_s=wait_s),
    )


def _engine(url: URL, *, begin: str, connections: int, wait_s: float) -> Engine:
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, pool_timeout=wait_s, json_serializer=canonical_json
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


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
