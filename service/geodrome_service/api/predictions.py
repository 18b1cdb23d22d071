"""Route of predictions: what runs at points would cost."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import (
    ComputeUnavailable,
    DatabaseUnavailable,
    InvalidPoint,
    InvalidRequest,
    StudyNotFound,
    TooLarge,
)

from geodrome_service.api import spaces
from geodrome_service.api.bodies import JsonRoute
from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import question
from geodrome_service.compute.questions import Question
from geodrome_service.store import history, studies
from geodrome_service.store.database import Database

router = APIRouter(prefix="/v1/studies", tags=["studies"], route_class=JsonRoute)


@router.post(
    "/{study}/predict",
    response_model=schemas.Predictions,
    responses=responses(InvalidRequest, InvalidPoint, StudyNotFound, TooLarge, ComputeUnavailable, DatabaseUnavailable),
)
async def predict(
    study: str, form: Annotated[schemas.FormQuery, Query()], body: schemas.Points, store: Store, request: Request
) -> schemas.Predictions:
    """Predict the noise-free cost of runs at points, and whether they succeed; nothing is stored.

    `predictions` is null while fewer than two costs are known, or when no model fits them.
    """
    known, points = await run_in_threadpool(_read, store, study, body, form)
    found = await request.app.state.pool.predict(known, points)
    if found is None:
        return schemas.Predictions(predictions=None)
    return schemas.Predictions(predictions=[schemas.Prediction(**one) for one in found])


def _read(
    store: Database, name_or_id: str, body: schemas.Points, form: schemas.FormQuery
) -> tuple[Question, list[schemas.Point]]:
    with store.read.begin() as session:
        study = studies.find(session, name_or_id)
        known = question(study, history.observations(session, study), history.latest_hyperparameters(session, study))
    space = spaces.of_study(study, form)
    return known, [one.point for one in spaces.check_points(space, body.points, "/points")]
