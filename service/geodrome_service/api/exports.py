"""Route of exports: a whole study as JSON that any server imports, or its trials as a table."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from geodrome import schemas
from geodrome.errors import DatabaseUnavailable, InvalidRequest, StudyNotFound
from sqlalchemy.orm import Session

from geodrome_service.api import sheets
from geodrome_service.api.dependencies import Now, Store, looking
from geodrome_service.api.problems import responses
from geodrome_service.store import portable, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/v1/studies", tags=["studies"])

MEDIA_TYPES = {"json": "application/json", "csv": "text/csv; charset=utf-8; header=present"}


class ExportQuery(schemas.Input):
    """In which form."""

    format: Literal["json", "csv"] = "json"


@router.get(
    "/{study}/export",
    responses={
        200: {
            "description": "The study, sent as it is read",
            "content": {"application/json": {"schema": {"type": "object"}}, "text/csv": {"schema": {"type": "string"}}},
        },
        **responses(InvalidRequest, StudyNotFound, DatabaseUnavailable),
    },
)
async def export(study: str, query: Annotated[ExportQuery, Query()], store: Store, now: Now) -> Response:
    """Export a whole study: definition, trials and events, as they were at one moment.

    `json` is what `POST /v1/studies/import` reads; equal studies are equal bytes. `csv` has one row for each trial, for
    spreadsheets: text that a spreadsheet would run as a formula stands behind an apostrophe.
    """
    pieces = _pieces(store, study, now, FORMS[query.format])
    name = await run_in_threadpool(next, pieces)
    return StreamingResponse(
        _sent(pieces),
        media_type=MEDIA_TYPES[query.format],
        headers={"Content-Disposition": f'attachment; filename="{name}.{query.format}"'},
    )


async def _sent(pieces: Iterator[str]) -> AsyncIterator[bytes]:
    """The pieces; if whoever reads them goes away, the transaction ends at once."""
    with closing(pieces):  # type: ignore[type-var] # a generator
        while (piece := await run_in_threadpool(next, pieces, None)) is not None:
            yield piece.encode()


def _pieces(
    store: Database, name_or_id: str, now: datetime, form: Callable[[Session, Study], Iterator[str]]
) -> Iterator[str]:
    """The study's name, which shows that it is there before an answer begins; then its pieces."""
    with looking(store, now) as session:
        study = studies.find(session, name_or_id)
        yield study.name
        yield from form(session, study)


def _sheet(session: Session, study: Study) -> Iterator[str]:
    return sheets.lines(portable.trials(session, study), portable.metric_names(session, study))


FORMS = {"json": portable.written, "csv": _sheet}
