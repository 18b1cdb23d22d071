"""Route of the best point: what was observed, and what the model recommends."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import DatabaseUnavailable, InvalidRequest, StudyNotFound
from geodrome_core import Space

from geodrome_service.api import answers, spaces
from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses
from geodrome_service.api.questions import reader
from geodrome_service.api.recommendations import Recommending
from geodrome_service.store import counting, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/v1/studies", tags=["studies"])


@router.get(
    "/{study}/best",
    response_model=schemas.Best,
    responses=responses(InvalidRequest, StudyNotFound, DatabaseUnavailable),
)
async def best(
    study: str, store: Store, recommending: Recommending, form: Annotated[schemas.FormQuery, Query()]
) -> schemas.Best:
    """Show the best trial, and the point with the best posterior mean over the space.

    `recommended` is null without an observation, and when the model cannot be computed now.
    """
    found, observed, space = await run_in_threadpool(_read, store, study, form)

    recommended = None
    if observed is not None:
        recommended = await recommending.recommend(found.id, counting.learned(found), reader(store, found.serial))
    if recommended is None:
        return schemas.Best(observed=observed, recommended=None)
    shown = {**recommended, "point": space.written(recommended["point"]), "form": answers.shown_form(form)}
    return schemas.Best(observed=observed, recommended=schemas.Recommendation(**shown))


def _read(store: Database, name_or_id: str, form: schemas.FormQuery) -> tuple[Study, schemas.Trial | None, Space]:
    with store.read.begin() as session:
        study = studies.find(session, name_or_id)
        observed = studies.best_trials(session, [study]).get(study.serial)
        shown = None if observed is None else answers.trial(observed, study, form)
        return study, shown, spaces.of_study(study, form)
