"""Route of imports: a study that another server, or this one, has exported."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import (
    DatabaseUnavailable,
    EmptyDomain,
    IdempotencyConflict,
    InvalidPoint,
    InvalidRequest,
    InvalidSpace,
    StudyExists,
    TooLarge,
)
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.api.bodies import JsonRequest
from geodrome_service.api.carried import checked
from geodrome_service.api.dependencies import Now, Store, in_transaction
from geodrome_service.api.once import Key, Once
from geodrome_service.api.problems import responses
from geodrome_service.store import studies
from geodrome_service.store.database import Database

router = APIRouter(prefix="/v1/studies", tags=["studies"])


class LargeJsonRequest(JsonRequest):
    """A request whose body is a whole study."""

    @property
    def limit_mib(self) -> int:
        """How large the body may be: read, a study takes about ten times as much memory."""
        limit: int = self.app.state.settings.import_limit_mib
        return limit


class ImportQuery(schemas.Input):
    """Under which name; that of the export if not given."""

    name: schemas.Name | None = None


@router.post(
    "/import",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Study,
    responses=responses(
        InvalidRequest,
        InvalidSpace,
        EmptyDomain,
        InvalidPoint,
        StudyExists,
        IdempotencyConflict,
        TooLarge,
        DatabaseUnavailable,
    ),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"type": "object", "description": "What an export gives"}}},
        }
    },
)
async def import_study(
    *, request: Request, query: Annotated[ImportQuery, Query()], store: Store, now: Now, key: Key = None
) -> Response:
    """Import an exported study, whole: it goes on with the same suggestions.

    All of it is checked first, and stored together. It keeps its id where no study has that, so that it is the same
    study on another server; beside the original it gets a new one, and needs another `name`.
    """
    sent = LargeJsonRequest(request.scope, request.receive)
    raw = await sent.body()
    return await run_in_threadpool(_import, store, sent, raw, name=query.name, key=key, now=now)


def _import(
    store: Database, sent: LargeJsonRequest, raw: bytes, *, name: str | None, key: str | None, now: datetime
) -> Response:
    described = f"{sent.method} {sent.url.path}?{sent.url.query} ".encode() + raw
    once = Once(key, hashlib.sha256(described).hexdigest())
    carried = checked(sent.read(raw))

    def write(tx: Session) -> Response:
        if (earlier := once.earlier(tx)) is not None:
            return earlier
        study = carried.study | {"name": name or carried.study["name"]}
        added = studies.add(tx, study, carried.trials, carried.events)
        shown = answers.study(added, studies.best_trials(tx, [added]).get(added.serial))
        return once.answer(tx, shown, now=now, code=status.HTTP_201_CREATED)

    return in_transaction(store, write)
