"""Route of the model: its hyperparameters in natural units, and how far it can be trusted."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import ComputeUnavailable, DatabaseUnavailable, StudyNotFound

from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import question
from geodrome_service.compute.questions import Question
from geodrome_service.store import history, studies
from geodrome_service.store.database import Database

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
    known = await run_in_threadpool(_read, store, study)
    found = await request.app.state.pool.model(known)
    return schemas.StudyModel(model=None if found is None else schemas.FittedModel(**found))


def _read(store: Database, name_or_id: str) -> Question:
    with store.read.begin() as session:
        study = studies.find(session, name_or_id)
        return question(study, history.observations(session, study), history.latest_hyperparameters(session, study))
