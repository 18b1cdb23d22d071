"""Route of the events: what happened to a study, in order."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from geodrome import schemas
from geodrome.errors import DatabaseUnavailable, InvalidRequest, StudyNotFound
from pydantic import Field

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.api.problems import responses
from geodrome_service.store import events, studies
from geodrome_service.store.history import LARGEST_NUMBER

router = APIRouter(prefix="/v1/studies/{study}/events", tags=["events"])


class EventQuery(schemas.Input):
    """Which events to list."""

    after: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


@router.get(
    "", response_model=schemas.EventPage, responses=responses(InvalidRequest, StudyNotFound, DatabaseUnavailable)
)
def page(study: str, query: Annotated[EventQuery, Query()], session: Reading) -> schemas.EventPage:
    """List every change of state, in order; `next_cursor` is the `after` of the next page."""
    found = studies.find(session, study)
    rows = events.page(session, found, after=query.after, limit=query.limit)
    is_last = not rows or rows[-1].position == found.last_event
    return schemas.EventPage(
        events=[answers.event(row) for row in rows], next_cursor=None if is_last else rows[-1].position
    )
