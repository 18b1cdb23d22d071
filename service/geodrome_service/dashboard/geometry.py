"""The page of a study's geometry: its trials on their manifold, and the model over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Annotated, Literal

import plotly.graph_objects as go
from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from geodrome import figures, schemas
from geodrome.errors import ComputeUnavailable, InvalidRequest
from geodrome.figures import Theme
from geodrome_core import Space

from geodrome_service.api import answers, spaces
from geodrome_service.api.dependencies import Reading, Store
from geodrome_service.api.views import seen
from geodrome_service.dashboard.captions import CAPTIONS, SLICES
from geodrome_service.dashboard.drawn import drawn
from geodrome_service.dashboard.framing import framed
from geodrome_service.dashboard.rendering import page
from geodrome_service.store import studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/studies/{study}", include_in_schema=False)

Draw = Callable[[schemas.Study, Sequence[schemas.Trial]], go.Figure]


@router.get("/geometry")
def show(study: str, request: Request, session: Reading) -> Response:
    """The figures that the study's space has, factor by factor; the browser fetches each."""
    found = studies.find(session, study)
    record = answers.study(found, None)
    parts = groupby(figures.views_of(record.space), key=lambda view: view.factor)
    return page(
        request, "geometry.html", study=record, last_event=found.last_event, captions=CAPTIONS, slices=SLICES,
        parts=[(factor, list(views)) for factor, views in parts],
    )  # fmt: skip


@router.get("/geometry/state")
async def state(study: str, request: Request, store: Store) -> Response:
    """In words: what the figures show of the model, or why they show none of it."""
    found, record, space = await run_in_threadpool(_read, store, study)
    views, problem = None, None
    try:
        views = await seen(request, store, found, space)
    except ComputeUnavailable as unavailable:
        problem = unavailable
    return page(request, "parts/geometry_state.html", study=record, views=views, problem=problem)


@router.get("/figures/views/{name:path}")
async def view(
    *,
    study: str,
    name: str,
    request: Request,
    store: Store,
    theme: Annotated[Theme, Query()] = "light",
    stage: Annotated[Literal["trials", "model"], Query()] = "model",
) -> Response:
    """One figure of the manifold; in the stage ``trials`` without the model, which takes computing."""
    found, record, space = await run_in_threadpool(_read, store, study)
    known = [view.name for view in figures.views_of(record.space)]
    if name not in known:
        raise InvalidRequest(f"study {record.name!r} has no figure {name!r}; it has {', '.join(known)}")
    views = await seen(request, store, found, space) if stage == "model" else None

    def draw(record: schemas.Study, trials: Sequence[schemas.Trial]) -> go.Figure:
        return figures.manifold_views(record, trials, views, only=[name], theme=theme)[name]

    return await run_in_threadpool(_drawn, store, study, draw)


@router.get("/figures/slices")
async def slices(study: str, request: Request, store: Store, theme: Annotated[Theme, Query()] = "light") -> Response:
    """The model along geodesics through the recommended point."""
    found, _, space = await run_in_threadpool(_read, store, study)
    views = await seen(request, store, found, space)

    def draw(record: schemas.Study, trials: Sequence[schemas.Trial]) -> go.Figure:
        return figures.slices(record, views, trials, theme=theme)

    return await run_in_threadpool(_drawn, store, study, draw)


def _read(store: Database, name_or_id: str) -> tuple[Study, schemas.Study, Space]:
    with store.read.begin() as session:
        found = studies.find(session, name_or_id)
        return found, answers.study(found, None), spaces.of_study(found, answers.AS_IT_IS)


def _drawn(store: Database, name_or_id: str, draw: Draw) -> Response:
    with store.read.begin() as session:
        found = studies.find(session, name_or_id)
        record, trials = answers.study(found, None), drawn(session, found)
    return framed(draw(record, trials))
