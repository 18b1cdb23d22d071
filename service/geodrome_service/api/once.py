"""Idempotency: a request that is sent again under its key has its effect once, and gets the same answer."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Header, Request, status
from fastapi.responses import JSONResponse
from geodrome.errors import IdempotencyConflict
from pydantic import BaseModel
from sqlalchemy.orm import Session

from geodrome_service.store import idempotency

REPLAYED = {"Idempotent-Replayed": "true"}


class Once:
    """The request's idempotency key, if it has one, and what the request is.

    Args:
        key: The client's ``Idempotency-Key``.
        request: Digest of method, address and body.
    """

    def __init__(self, key: str | None, request: str) -> None:
        self._key = key
        self._request = request
        self.is_repeatable = key is not None
        """Whether a repeat of the request is known to be one."""
        self.asker = uuid.uuid4().hex if key is None else hashlib.sha256(key.encode()).hexdigest()
        """The same for repeats of one request, different for different requests."""

    def earlier(self, session: Session) -> JSONResponse | None:
        """The answer that this request was given before.

        Raises:
            IdempotencyConflict: The key belongs to another request.
        """
        if self._key is None or (kept := idempotency.find(session, self._key)) is None:
            return None
        if kept.request != self._request:
            raise IdempotencyConflict(
                f"Idempotency-Key {self._key!r} was used for another request (method, address or body differ); "
                "each request has a key of its own, its repeats have the same"
            )
        return JSONResponse(kept.answer, kept.status, headers=REPLAYED)

    def answer(
        self,
        session: Session,
        body: BaseModel,
        *,
        now: datetime,
        code: int = status.HTTP_200_OK,
        replayed: bool = False,
    ) -> JSONResponse:
        """The answer, kept for repeats of the request in the transaction that has its effect."""
        content = body.model_dump(mode="json")
        if self._key is not None:
            idempotency.keep(session, self._key, request=self._request, status=code, answer=content, now=now)
        return JSONResponse(content, code, headers=REPLAYED if replayed else {})


Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Chosen by the client for each request; a repeat of the request carries the same key.",
    ),
]
"""A request's idempotency key."""


async def once(request: Request, key: Key = None) -> Once:
    """How often this request may have its effect."""
    body = json.dumps(await request.json(), sort_keys=True)
    described = f"{request.method} {request.url.path}?{request.url.query} {body}"
    return Once(key, hashlib.sha256(described.encode()).hexdigest())


OnceOnly = Annotated[Once, Depends(once)]
