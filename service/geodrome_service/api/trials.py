"""Routes of trials: telling what became of one, showing and listing them."""

from __future__ import annotations

from typing import Annotated, assert_never

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import (
    DatabaseUnavailable,
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
from sqlalchemy.orm import Session

from geodrome_service.api import answers, spaces
from geodrome_service.api.bodies import WITHOUT_NUL, JsonRoute
from geodrome_service.api.dependencies import Now, Reading, Store, in_transaction
from geodrome_service.api.once import OnceOnly
from geodrome_service.api.outcomes import told
from geodrome_service.api.problems import responses
from geodrome_service.store import history, leases, outcomes, studies

router = APIRouter(prefix="/v1/studies/{study}/trials", tags=["trials"], route_class=JsonRoute)


class TrialQuery(schemas.FormQuery):
    """Which trials to list, and how."""

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
async def tell(
    *,
    study: str,
    number: int,
    form: Annotated[schemas.FormQuery, Query()],
    body: schemas.Tell,
    store: Store,
    once: OnceOnly,
    now: Now,
) -> Response:
    """Store what became of a trial: `{"cost": 0.44}` is enough. Telling the same again is harmless."""

    def write(tx: Session) -> Response:
        if (earlier := once.earlier(tx)) is not None:
            return earlier
        found = studies.find(tx, study, lock=True)
        outcome = told(spaces.of_study(found, form), body)
        trial, verdict = outcomes.record(tx, found, number, outcome, now=now)
        shown = answers.trial(trial, found, form)
        match verdict:
            case outcomes.Verdict.CONTRADICTED:
                raise OutcomeConflict(
                    f"trial {number} of study {found.name!r} is {trial.state}, and stays so; only a person may still "
                    "abandon it (outcome: abandoned)",
                    extra={"stored": shown.model_dump(mode="json")},
                )
            case outcomes.Verdict.STORED | outcomes.Verdict.REPEATED:
                return once.answer(tx, shown, now=now, replayed=verdict is outcomes.Verdict.REPEATED)
            case _:
                assert_never(verdict)

    return await run_in_threadpool(in_transaction, store, write)


@router.post(
    "/{number}/heartbeat",
    response_model=schemas.Trial,
    responses=responses(InvalidRequest, StudyNotFound, TrialNotFound, OutcomeConflict, TooLarge, DatabaseUnavailable),
)
async def heartbeat(
    *, study: str, number: int, store: Store, now: Now, body: schemas.Heartbeat | None = None
) -> schemas.Trial:
    """Extend the lease of a running trial; one whose lease has ended meanwhile goes on."""

    def write(tx: Session) -> schemas.Trial:
        found = studies.find(tx, study, lock=True)
        trial, runs = leases.extend(tx, found, number, None if body is None else body.lease_s, now=now)
        shown = answers.trial(trial, found)
        if not runs:
            raise OutcomeConflict(
                f"trial {number} of study {found.name!r} is {trial.state}: only a running one has a lease",
                extra={"stored": shown.model_dump(mode="json")},
            )
        return shown

    return await run_in_threadpool(in_transaction, store, write)


@router.get(
    "", response_model=schemas.TrialPage, responses=responses(InvalidRequest, StudyNotFound, DatabaseUnavailable)
)
def page(study: str, query: Annotated[TrialQuery, Query()], session: Reading) -> schemas.TrialPage:
    """List trials by number; `next_cursor` is the `after` of the next page."""
    found = studies.find(session, study)
    rows, cursor = history.page(
        session, found, state=query.state, worker=query.worker, after=query.after, limit=query.limit
    )
    form = schemas.FormQuery.model_validate(query.model_dump(include=set(schemas.FormQuery.model_fields)))
    return schemas.TrialPage(trials=[answers.trial(row, found, form) for row in rows], next_cursor=cursor)


@router.get(
    "/{number}",
    response_model=schemas.Trial,
    responses=responses(InvalidRequest, StudyNotFound, TrialNotFound, DatabaseUnavailable),
)
def show(study: str, number: int, form: Annotated[schemas.FormQuery, Query()], session: Reading) -> schemas.Trial:
    """Show one trial."""
    found = studies.find(session, study)
    return answers.trial(history.find(session, found, number), found, form)
