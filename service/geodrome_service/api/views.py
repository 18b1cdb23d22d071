"""Route of what there is to see of a model: along geodesics and over grids about the recommended point."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import ComputeUnavailable, DatabaseUnavailable, InvalidRequest, StudyNotFound
from geodrome_core import Space

from geodrome_service.api import spaces
from geodrome_service.api.computed import Computed
from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import reader
from geodrome_service.store import counting, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

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
    found, space = await run_in_threadpool(_read, store, study, form)
    return await seen(request, store, found, space)


async def seen(request: Request, store: Database, study: Study, space: Space) -> schemas.Views:
    """The views of a study, computed once for what is known of it.

    Args:
        request: Who asks.
        store: The database.
        study: Which study.
        space: Its own, in the form in which points are wanted.

    Raises:
        ComputeUnavailable: They cannot be computed now.
    """
    views: Computed = request.app.state.views
    found = await views.answer(study.id, counting.learned(study), reader(store, study.serial))
    if found is None:
        return schemas.Views(at=None, slices=[], fields=[])
    return await run_in_threadpool(_written, found, space)


def _read(store: Database, name_or_id: str, form: schemas.FormQuery) -> tuple[Study, Space]:
    with store.read.begin() as session:
        study = studies.find(session, name_or_id)
        return study, spaces.of_study(study, form)


def _written(found: dict[str, Any], space: Space) -> schemas.Views:
    """The points in the form of the space."""
    slices = [one | {"points": [space.written(point) for point in one["points"]]} for one in found["slices"]]
    return schemas.Views.model_validate({**found, "at": space.written(found["at"]), "slices": slices})
