"""Requests that had their effect, by their idempotency key, with the answers that they were given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import IdempotencyKey, Json, table_of

KEPT = timedelta(days=7)  # longer than a client that lost its answer goes on trying, a weekend included


SWEEPING = "00"
"""How the digests of those requests begin that look for old keys: one in 256."""


_KEYS = table_of(IdempotencyKey)
_FIND = select(_KEYS.c.request, _KEYS.c.status, _KEYS.c.answer).where(_KEYS.c.key == bindparam("key"))
_KEEP = insert(_KEYS)
_HOLD = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("key"), 0)))


@dataclass(frozen=True)
class Kept:
    """An answer that was given.

    Attributes:
        request: Digest of the request.
        status: HTTP status of the answer.
        answer: Its body.
    """

    request: str
    status: int
    answer: Json


def find(session: Session, key: str) -> Kept | None:
    """What was answered under this key; until the transaction ends, no other transaction comes past this with it."""
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time
        session.execute(_HOLD, {"key": key})
    row = session.execute(_FIND, {"key": key}).first()
    return None if row is None else Kept(row.request, row.status, row.answer)


def keep(session: Session, key: str, *, request: str, status: int, answer: Any, now: datetime) -> None:
    """Keeps an answer for as long as the request may be repeated, and now and then forgets those whose time is over.

    Args:
        session: The transaction in which the request has its effect.
        key: The client's key.
        request: Digest of the request, to know another one under the same key.
        status: HTTP status of the answer.
        answer: Its body.
        now: The moment of the answer.
    """
    if request.startswith(SWEEPING):
        session.execute(delete(_KEYS).where(_KEYS.c.created_at < now - KEPT))
    row = {"key": key, "request": request, "status": status, "answer": answer, "created_at": now}
    session.execute(_KEEP, row)
