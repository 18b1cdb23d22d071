"""Routes of trials: telling what became of one, showing and listing them."""

from __future__ import annotations

import math
import statistics
from typing import Annotated, assert_never

from fastapi import APIRouter, Query, Response
from geodrome import schemas
from geodrome.errors import (
    DatabaseUnavailable,
    FieldError,
    IdempotencyConflict,
    InvalidCost,
    InvalidPoint,
    InvalidRequest,
    OutcomeConflict,
    StudyNotFound,
    TooLarge,
    TrialNotFound,
)
from pydantic import Field

from geodrome_service.api import answers, spaces
from geodrome_service.api.bodies import WITHOUT_NUL, JsonRoute
from geodrome_service.api.dependencies import Now, Reading, Tx
from geodrome_service.api.once import OnceOnly
from geodrome_service.api.problems import responses
from geodrome_service.store import history, studies, trials
from geodrome_service.store.tables import Study

router = APIRouter(prefix="/v1/studies/{study}/trials", tags=["trials"], route_class=JsonRoute)


class TrialQuery(schemas.Input):
    """Which trials to list."""

    state: schemas.TrialState | None = None
    worker: Annotated[str | None, Field(max_length=128, pattern=WITHOUT_NUL)] = None
    after: Annotated[int, Field(ge=0, le=history.LARGEST_NUMBER)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


@router.post(
    "/{number}/tell",
    response_model=schemas.Trial,
    responses=responses(
        InvalidRequest,
        InvalidCost,
        InvalidPoint,
        StudyNotFound,
        TrialNotFound,
        OutcomeConflict,
        IdempotencyConflict,
        TooLarge,
        DatabaseUnavailable,
    ),
)
def tell(*, study: str, number: int, body: schemas.Tell, tx: Tx, once: OnceOnly, now: Now) -> Response:
    """Store what became of a trial: `{"cost": 0.44}` is enough. Telling the same again is harmless."""
    if (earlier := once.earlier(tx)) is not None:
        return earlier
    found = studies.find(tx, study, lock=True)
    trial, verdict = trials.record_outcome(tx, found, number, _told(found, body), now=now)
    shown = answers.trial(trial, found)
    match verdict:
        case trials.Verdict.CONTRADICTED:
            raise OutcomeConflict(
                f"trial {number} of study {found.name!r} is {trial.state}, and stays so; only a person may still "
                "abandon it (outcome: abandoned)",
                extra={"stored": shown.model_dump(mode="json")},
            )
        case trials.Verdict.STORED | trials.Verdict.REPEATED:
            return once.answer(tx, shown, now=now, replayed=verdict is trials.Verdict.REPEATED)
        case _:
            assert_never(verdict)


@router.get(
    "", response_model=schemas.TrialPage, responses=responses(InvalidRequest, StudyNotFound, DatabaseUnavailable)
)
def page(study: str, query: Annotated[TrialQuery, Query()], session: Reading) -> schemas.TrialPage:
    """List trials by number; `next_cursor` is the `after` of the next page."""
    found = studies.find(session, study)
    rows, cursor = history.page(
        session, found, state=query.state, worker=query.worker, after=query.after, limit=query.limit
    )
    return schemas.TrialPage(trials=[answers.trial(row, found) for row in rows], next_cursor=cursor)


@router.get(
    "/{number}",
    response_model=schemas.Trial,
    responses=responses(InvalidRequest, StudyNotFound, TrialNotFound, DatabaseUnavailable),
)
def show(study: str, number: int, session: Reading) -> schemas.Trial:
    """Show one trial."""
    found = studies.find(session, study)
    return answers.trial(history.find(session, found, number), found)


def _told(study: Study, body: schemas.Tell) -> trials.Told:
    """The outcome with its costs summed up and its point read."""
    said = body.model_dump(mode="json")
    executed = None
    if body.point is not None:
        executed = spaces.check_point(spaces.space_of(study.space), body.point, "/point")
        said["point"] = executed.point
    cost, std = _mean_and_std(body)
    return trials.Told(
        outcome=body.outcome,
        body=said,
        cost=cost,
        std=std,
        values=body.costs,
        point=None if executed is None else executed.point,
        corrections=[] if executed is None else [spaces.shown_correction(one) for one in executed.corrections],
        outside=executed is not None and bool(executed.outside),
        reason=body.reason,
        metrics=body.metrics,
        metadata=body.metadata,
    )


def _mean_and_std(body: schemas.Tell) -> tuple[float | None, float | None]:
    """The cost, or the mean of several; its standard deviation as told, else the standard error of that mean."""
    if body.costs is None:
        return body.cost, body.std
    mean = statistics.mean(body.costs)
    if body.std is not None or len(body.costs) == 1:
        return mean, body.std
    count = len(body.costs)
    std = math.hypot(*(cost - mean for cost in body.costs)) / math.sqrt((count - 1) * count)
    if not math.isfinite(std):
        fault = FieldError("/costs", "the costs differ by more than a number can say", None, "a finite spread")
        raise InvalidCost(fault.detail, errors=[fault])
    return mean, std
