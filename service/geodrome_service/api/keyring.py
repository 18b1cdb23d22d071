"""The keys of the database as a process knows them.

A process reads them every few seconds, not for every request: a revoked key is refused everywhere within ``REFRESH_S``.
A key that is not among them is looked for at once, so that a new one works from its first request.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from fastapi.concurrency import run_in_threadpool
from geodrome.errors import DatabaseUnavailable
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from geodrome_service.store import keys
from geodrome_service.store.database import Database
from geodrome_service.store.tables import AccessKey

REFRESH_S = 5.0


@dataclass(frozen=True)
class Ring:
    """The keys as they were read.

    Attributes:
        by_hash: Every key that was ever made, by the hash of its text.
        read_at: When the reading began, on the monotonic clock.
    """

    by_hash: dict[str, AccessKey]
    read_at: float


class Keys:
    """The keys of the database, read again when they are old."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = asyncio.Lock()
        self._ring = Ring({}, -REFRESH_S)

    async def find(self, text: str | None) -> tuple[AccessKey | None, bool]:
        """The key of this text, valid or not, if there is one; and whether there are keys at all.

        Raises:
            DatabaseUnavailable: They cannot be read: nobody is let in on what was so a while ago.
        """
        now = time.monotonic()
        ring = await self._read_after(now - REFRESH_S)
        if text is None:
            return None, bool(ring.by_hash)
        hashed = keys.hash_of(text)
        if hashed not in ring.by_hash:
            ring = await self._read_after(now)
        return ring.by_hash.get(hashed), bool(ring.by_hash)

    async def _read_after(self, moment: float) -> Ring:
        if self._ring.read_at > moment:
            return self._ring
        async with self._reading:  # of all who find them old, one reads
            if self._ring.read_at <= moment:
                read_at = time.monotonic()
                try:
                    rows = await run_in_threadpool(self._read)
                except (DBAPIError, PoolTimeoutError) as error:
                    raise DatabaseUnavailable("the keys cannot be read now; nothing was changed") from error
                self._ring = Ring({row.hash: row for row in rows}, read_at)
        return self._ring

    def _read(self) -> list[AccessKey]:
        with self._database.read.begin() as session:
            return list(keys.every(session))
