"""Route of asks: a point to run next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from geodrome import schemas
from geodrome.errors import (
    ComputeUnavailable,
    DatabaseUnavailable,
    IdempotencyConflict,
    InvalidRequest,
    StudyClosed,
    StudyNotFound,
    StudyPaused,
    TooLarge,
)
from sqlalchemy.orm import Session

from geodrome_service.api import answers, spaces
from geodrome_service.api.bodies import JsonRoute
from geodrome_service.api.dependencies import Store, in_transaction
from geodrome_service.api.once import Once, OnceOnly
from geodrome_service.api.problems import responses
from geodrome_service.api.suggestions import Computing, is_low
from geodrome_service.store import leases, studies, suggesting

router = APIRouter(prefix="/v1/studies", tags=["trials"], route_class=JsonRoute)

RETRY_AFTER_S = 1

NOT_READY = {
    "description": "Not ready within `wait_s`: repeat with the same Idempotency-Key",
    "headers": {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}},
    "content": {"application/json": {"schema": {"type": "object", "properties": {"detail": {"type": "string"}}}}},
}


@dataclass(frozen=True)
class Handed:
    """Trials that were handed out.

    Attributes:
        answer: The answer that has them.
        low: Serial of the study if its queue should be filled before anybody waits.
    """

    answer: Response
    low: int | None


@router.post(
    "/{study}/ask",
    response_model=schemas.Trials,
    responses={
        status.HTTP_202_ACCEPTED: NOT_READY,
        **responses(
            InvalidRequest,
            StudyNotFound,
            StudyClosed,
            StudyPaused,
            IdempotencyConflict,
            TooLarge,
            ComputeUnavailable,
            DatabaseUnavailable,
        ),
    },
)
async def ask(
    *,
    study: str,
    request: Request,
    store: Store,
    computing: Computing,
    once: OnceOnly,
    form: Annotated[schemas.FormQuery, Query()],
    body: schemas.Ask | None = None,
) -> Response:
    """Hand out trials: the worker's own running ones, then queued ones, then new suggestions.

    With a budget that pays for fewer than `count`, fewer come back.
    """
    wish = body or schemas.Ask()
    clock = asyncio.get_running_loop()
    deadline = clock.time() + wish.wait_s
    while True:
        handed = await run_in_threadpool(in_transaction, store, lambda tx: _hand_out(tx, study, wish, once, form))
        if isinstance(handed, Handed):
            if handed.low is not None:
                computing.prepare(handed.low)
            return handed.answer
        job = computing.job(handed.study_serial)
        await asyncio.wait({job}, timeout=deadline - clock.time())
        if not job.done() or await request.is_disconnected():
            if not once.is_repeatable:
                await run_in_threadpool(in_transaction, store, partial(_give_up, missing=handed, once=once))
            # What the job finds stays in the queue: for the repeat of this ask, or for whoever asks next.
            detail = "the suggestion is being computed; ask again with the same Idempotency-Key"
            return JSONResponse({"detail": detail}, status.HTTP_202_ACCEPTED, {"Retry-After": str(RETRY_AFTER_S)})
        if job.cancelled():
            raise ComputeUnavailable("the service is stopping; ask again when it is back")
        job.result()


def _give_up(tx: Session, *, missing: leases.Missing, once: Once) -> None:
    study = studies.locked(tx, missing.study_serial)
    suggesting.give_up(tx, study, once.asker, missing.count, now=datetime.now(UTC))


def _hand_out(
    tx: Session, name_or_id: str, wish: schemas.Ask, once: Once, form: schemas.FormQuery
) -> Handed | leases.Missing:
    if (earlier := once.earlier(tx)) is not None:
        return Handed(earlier, low=None)
    now = datetime.now(UTC)
    study = studies.find(tx, name_or_id, lock=True)
    if form != answers.AS_IT_IS:
        spaces.of_study(study, form)  # one that cannot be is refused before anything is handed out
    order = leases.Order(wish.count, wish.worker, resume=wish.resume, lease_s=wish.lease_s or study.lease_s)
    handed = leases.hand_out(tx, study, order, now=now)
    if isinstance(handed, leases.Missing):
        suggesting.wait(tx, study, once.asker, handed.count, now=now)
        return handed
    suggesting.wait_no_more(tx, study, [once.asker, suggesting.SOMEBODY])
    answer = once.answer(tx, schemas.Trials(trials=[answers.trial(row, study, form) for row in handed]), now=now)
    return Handed(answer, low=study.serial if is_low(study) else None)
