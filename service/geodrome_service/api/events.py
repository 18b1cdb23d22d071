"""Route of the events: what happened to a study, in order, as a page or as a stream that goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from geodrome import schemas
from geodrome.errors import DatabaseUnavailable, InvalidRequest, StudyNotFound
from pydantic import Field

from geodrome_service.api import answers
from geodrome_service.api.access import Access
from geodrome_service.api.dependencies import Now, Store, looking
from geodrome_service.api.problems import responses
from geodrome_service.store import events, studies
from geodrome_service.store.database import Database
from geodrome_service.store.history import LARGEST_NUMBER

router = APIRouter(prefix="/v1/studies/{study}/events", tags=["events"])

STREAM = "text/event-stream"

POLL_S = 0.25
"""How often a stream looks for what is new."""

KEEPALIVE_S = 15.0
"""After so long without an event something is sent, for proxies cut connections that are silent."""

Position = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class EventQuery(schemas.Input):
    """Which events to list, or after which a stream begins."""

    after: Position = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


@router.get(
    "",
    response_model=schemas.EventPage,
    responses={
        200: {
            "description": f"A page; or with `Accept: {STREAM}` a stream of server-sent events",
            "content": {STREAM: {"schema": {"type": "string"}}},
        },
        **responses(InvalidRequest, StudyNotFound, DatabaseUnavailable),
    },
)
async def page(
    *,
    study: str,
    query: Annotated[EventQuery, Query()],
    request: Request,
    store: Store,
    now: Now,
    last_event_id: Annotated[
        Position | None, Header(description="Where a stream that broke goes on: browsers send it by themselves.")
    ] = None,
) -> Response | schemas.EventPage:
    """List every change of state, in order; `next_cursor` is the `after` of the next page.

    With `Accept: text/event-stream` the same events are sent as they happen, without an end: `id` is the position,
    `event` the kind, `data` the event.
    """
    if STREAM not in request.headers.get("Accept", ""):
        return await run_in_threadpool(_page, store, study, query, now)
    after = query.after if last_event_id is None else last_event_id
    study_id = await run_in_threadpool(_id, store, study)
    return StreamingResponse(
        _follow(request, store, study_id, after), media_type=STREAM, headers={"Cache-Control": "no-cache"}
    )


async def _follow(request: Request, store: Database, study_id: str, after: int) -> AsyncIterator[bytes]:
    """The events after a position, as they happen; until the study is deleted, the key ends or the service stops."""
    access: Access = request.state.access
    stopping: asyncio.Event = request.app.state.stopping
    sent_at = time.monotonic()
    yield KEEPALIVE_COMMENT
    with suppress(StudyNotFound):
        while not stopping.is_set() and await access.still_allows(request):
            found = await run_in_threadpool(_page, store, study_id, EventQuery(after=after), datetime.now(UTC))
            for event in found.events:
                after = event.position
                yield format_sse_event(id=str(event.position), event=event.kind, data_str=event.model_dump_json())
            if found.events or time.monotonic() > sent_at + KEEPALIVE_S:
                sent_at = time.monotonic()
                if not found.events:
                    yield KEEPALIVE_COMMENT
            if found.next_cursor is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), POLL_S)


def _page(store: Database, name_or_id: str, query: EventQuery, now: datetime) -> schemas.EventPage:
    with looking(store, now) as session:
        study = studies.find(session, name_or_id)
        rows = events.page(session, study, after=query.after, limit=query.limit)
        is_last = not rows or rows[-1].position == study.last_event
        return schemas.EventPage(
            events=[answers.event(row) for row in rows], next_cursor=None if is_last else rows[-1].position
        )


def _id(store: Database, name_or_id: str) -> str:
    with store.read.begin() as session:
        return studies.find(session, name_or_id).id
