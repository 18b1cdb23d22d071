"""Requests that had their effect, by their idempotency key, with the answers that they were given."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import IdempotencyKey

KEPT = timedelta(days=7)  # longer than a client that lost its answer goes on trying, a weekend included


SWEEPING = "00"
"""How the digests of those requests begin that look for old keys: one in 256."""


def find(session: Session, key: str) -> IdempotencyKey | None:
    """What was answered under this key; until the transaction ends, no other transaction comes past this with it."""
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))
    return session.get(IdempotencyKey, key)


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
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - KEPT))
    session.add(IdempotencyKey(key=key, request=request, status=status, answer=answer, created_at=now))
