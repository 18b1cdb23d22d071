"""The page of a study's model: what it has learned, and how far it can be trusted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from geodrome import figures, schemas
from geodrome.errors import ComputeUnavailable
from geodrome.figures import Theme

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading, Store
from geodrome_service.api.models import fitted
from geodrome_service.dashboard.captions import CALIBRATION
from geodrome_service.dashboard.framing import framed
from geodrome_service.dashboard.lengths import rows
from geodrome_service.dashboard.rendering import page
from geodrome_service.dashboard.trust import trust
from geodrome_service.store import origins, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/studies/{study}", include_in_schema=False)

LATELY = 50
"""Trials among which fallbacks are counted."""


@router.get("/model")
def show(study: str, request: Request, session: Reading) -> Response:
    """The page; what the model says comes when it is computed."""
    found = studies.find(session, study)
    record = answers.study(found, None)
    return page(request, "model.html", study=record, last_event=found.last_event, caption=CALIBRATION)


@router.get("/model/numbers")
async def numbers(study: str, request: Request, store: Store) -> Response:
    """The model in numbers and words, or why there is none."""
    found, record, fallbacks = await run_in_threadpool(_read, store, study)
    model, problem = None, None
    try:
        model = await fitted(request, store, found)
    except ComputeUnavailable as unavailable:
        problem = unavailable
    return page(
        request, "parts/model_numbers.html", study=record, model=model, problem=problem, fallbacks=fallbacks,
        lately=LATELY, trust=model and trust(model), lengths=model and rows(record, model),
    )  # fmt: skip


@router.get("/figures/model")
async def figure(study: str, request: Request, store: Store, theme: Annotated[Theme, Query()] = "light") -> Response:
    """Lengthscales and calibration."""
    found, record, _ = await run_in_threadpool(_read, store, study)
    return framed(figures.model(record, await fitted(request, store, found), theme=theme))


def _read(store: Database, name_or_id: str) -> tuple[Study, schemas.Study, list[tuple[int, str]]]:
    """The study, and number and reason of the latest trials that no model chose, though one should have."""
    with store.read.begin() as session:
        found = studies.find(session, name_or_id)
        latest = origins.latest(session, found, LATELY)
        fallbacks = [(number, str(origin["note"])) for number, origin in latest if origin["kind"] == "fallback"]
        return found, answers.study(found, None), fallbacks
