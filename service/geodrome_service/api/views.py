"""Route of what there is to see of a model: along geodesics and over grids about the recommended point."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import ComputeUnavailable, DatabaseUnavailable, InvalidRequest, StudyNotFound
from geodrome_core import Space

from geodrome_service.api import spaces
from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import question
from geodrome_service.compute.questions import Question
from geodrome_service.store import history, studies
from geodrome_service.store.database import Database

router = APIRouter(prefix="/v1/studies", tags=["studies"])


@router.get(
    "/{study}/views",
    response_model=schemas.Views,
    responses=responses(InvalidRequest, StudyNotFound, ComputeUnavailable, DatabaseUnavailable),
)
async def views(
    study: str, form: Annotated[schemas.FormQuery, Query()], store: Store, request: Request
) -> schemas.Views:
    """Show mean and deviation along principal geodesics through the recommended point, and over what can be drawn.

    `at` is null, and there is nothing to see, while fewer than two costs are known, or when no model fits them.
    """
    known, space = await run_in_threadpool(_read, store, study, form)
    found = await request.app.state.pool.views(known)
    if found is None:
        return schemas.Views(at=None, slices=[], fields=[])
    return await run_in_threadpool(_written, found, space)


def _read(store: Database, name_or_id: str, form: schemas.FormQuery) -> tuple[Question, Space]:
    with store.read.begin() as session:
        study = studies.find(session, name_or_id)
        known = question(study, history.observations(session, study), history.latest_hyperparameters(session, study))
        return known, spaces.of_study(study, form)


def _written(found: dict[str, Any], space: Space) -> schemas.Views:
    """The points in the form of the space."""
    slices = [one | {"points": [space.written(point) for point in one["points"]]} for one in found["slices"]]
    return schemas.Views.model_validate({**found, "at": space.written(found["at"]), "slices": slices})
