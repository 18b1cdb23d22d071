"""Route of the model: its hyperparameters in natural units, and how far it can be trusted."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import ComputeUnavailable, DatabaseUnavailable, StudyNotFound

from geodrome_service.api.computed import Computed
from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import reader
from geodrome_service.store import counting, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/v1/studies", tags=["studies"])


@router.get(
    "/{study}/model",
    response_model=schemas.StudyModel,
    responses=responses(StudyNotFound, ComputeUnavailable, DatabaseUnavailable),
)
async def model(study: str, store: Store, request: Request) -> schemas.StudyModel:
    """Show the model of the costs: lengthscales, noise, and how well each observation is predicted by the others.

    `model` is null while fewer than two costs are known, or when no model fits them.
    """
    return schemas.StudyModel(model=await fitted(request, store, await run_in_threadpool(_find, store, study)))


async def fitted(request: Request, store: Database, study: Study) -> schemas.FittedModel | None:
    """The model of a study, computed once for what is known of it; None while there is none.

    Args:
        request: Who asks.
        store: The database.
        study: Which study.

    Raises:
        ComputeUnavailable: It cannot be computed now.
    """
    models: Computed = request.app.state.models
    found = await models.answer(study.id, counting.learned(study), reader(store, study.serial))
    return None if found is None else schemas.FittedModel(**found)


def _find(store: Database, name_or_id: str) -> Study:
    with store.read.begin() as session:
        return studies.find(session, name_or_id)
