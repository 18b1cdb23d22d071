"""Access keys: made and shown once, kept as hashes, revoked but never forgotten.

A key is 256 random bits: its SHA-256 cannot be turned back, and needs neither salt nor a slow hash, which are for
passwords that people think up. Rows stay when a key is revoked: a server whose keys are all revoked is closed, not
open.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from geodrome_service.roles import Role
from geodrome_service.store.tables import AccessKey

PREFIX = "geodrome_"
"""Of every key: people and scanners of repositories know by it what they see."""

RANDOM_BYTES = 32

LARGEST_ID = 2**31 - 1


def make(
    session: Session, role: Role, *, name: str, now: datetime, expires_at: datetime | None = None
) -> tuple[AccessKey, str]:
    """A new key: its row, and its text, which nobody can find out again."""
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    row = AccessKey(name=name, role=role.value, hash=hash_of(text), created_at=now, expires_at=expires_at)
    session.add(row)
    session.flush()
    return row, text


def hash_of(text: str) -> str:
    """What is kept of a key's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def every(session: Session) -> Sequence[AccessKey]:
    """All keys that were ever made, in that order."""
    return session.scalars(select(AccessKey).order_by(AccessKey.id)).all()


def exist(session: Session) -> bool:
    """Whether a key was ever made."""
    return session.scalar(select(AccessKey.id).limit(1)) is not None


def revoke(session: Session, key_id: int, *, now: datetime) -> AccessKey | None:
    """Ends a key, for good; None if there is none of this id. One that is revoked already stays as it is."""
    row = session.get(AccessKey, key_id) if 0 < key_id <= LARGEST_ID else None
    if row is not None and row.revoked_at is None:
        row.revoked_at = now
    return row


def state(key: AccessKey, now: datetime) -> str:
    """``valid``, ``revoked`` or ``expired``."""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "valid"
