"""PostgreSQL: how a database is reached, and how its transactions behave.

Transactions that write run in READ COMMITTED: each statement after that which locks the study sees all that was
committed before. Those that only read see one state of the database (REPEATABLE READ).
"""

from __future__ import annotations

from sqlalchemy import URL, Connection, Engine, create_engine, text

from geodrome_service.store.canonical import canonical_json

DRIVER = "postgresql+psycopg"

CONNECT_TIMEOUT_S = 5

TIMEOUTS_S = {"lock_timeout": 10, "statement_timeout": 60, "idle_in_transaction_session_timeout": 60}
"""Nobody waits for ever: neither for a lock, nor for a process that died while it held one."""

MIGRATION_LOCK = 0x6E0D  # any number that is always the same: of processes that start together, one migrates


def engines(url: URL, *, connections: int, wait_s: float) -> tuple[Engine, Engine]:
    """Engines of transactions that may write, and of those that only read; both share one pool."""
    settings = {**{name: f"{seconds}s" for name, seconds in TIMEOUTS_S.items()}, "TimeZone": "UTC"}
    engine = create_engine(
        url.set(drivername=DRIVER),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=wait_s,
        pool_pre_ping=True,  # a connection that the database's restart has cut is replaced before it is used
        json_serializer=canonical_json,
        isolation_level="READ COMMITTED",
        connect_args={
            "application_name": "geodrome",
            "connect_timeout": CONNECT_TIMEOUT_S,
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        },
    )
    reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine, reading


def lock_for_migration(connection: Connection) -> None:
    """Waits until nobody else migrates; ends with the transaction."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
