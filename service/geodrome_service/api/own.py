"""Routes of points of one's own: observations that were made elsewhere, and points to be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response, status
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import (
    DatabaseUnavailable,
    IdempotencyConflict,
    InvalidCost,
    InvalidPoint,
    InvalidRequest,
    StudyClosed,
    StudyNotFound,
    TooLarge,
)
from geodrome_core import Space
from sqlalchemy.orm import Session

from geodrome_service.api import answers, spaces
from geodrome_service.api.bodies import JsonRoute
from geodrome_service.api.dependencies import Now, Store, in_transaction
from geodrome_service.api.once import Once, OnceOnly
from geodrome_service.api.outcomes import told
from geodrome_service.api.places import Places
from geodrome_service.api.problems import responses
from geodrome_service.store import history, own_points, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Study, Trial

router = APIRouter(prefix="/v1/studies/{study}/trials", tags=["trials"], route_class=JsonRoute)

PROBLEMS = responses(
    InvalidRequest,
    InvalidCost,
    InvalidPoint,
    StudyNotFound,
    StudyClosed,
    IdempotencyConflict,
    TooLarge,
    DatabaseUnavailable,
)


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Trial,
    responses={
        status.HTTP_200_OK: {"model": schemas.Trial, "description": "`skip_if_exists`: the trial that is there"},
        **PROBLEMS,
    },
)
async def add(
    *,
    study: str,
    form: Annotated[schemas.FormQuery, Query()],
    body: schemas.OwnTrial,
    store: Store,
    once: OnceOnly,
    now: Now,
) -> Response:
    """Add a point of one's own: with a cost as an observation, else to the queue.

    An observation may lie outside the domain, and is flagged then; a point to be run may not.
    """
    addition = Addition([body], [""], form, schemas.Trial)
    return await run_in_threadpool(_add, store, study, addition, once=once, now=now)


@router.post(
    "/batch",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Trials,
    responses={
        status.HTTP_200_OK: {"model": schemas.Trials, "description": "`skip_if_exists`: all were there"},
        **PROBLEMS,
    },
)
async def add_all(
    *,
    study: str,
    form: Annotated[schemas.FormQuery, Query()],
    body: schemas.OwnTrials,
    store: Store,
    once: OnceOnly,
    now: Now,
) -> Response:
    """Add up to 1,000 points of one's own, all or none."""
    prefixes = [f"/trials/{index}" for index in range(len(body.trials))]
    addition = Addition(body.trials, prefixes, form, schemas.Trials)
    return await run_in_threadpool(_add, store, study, addition, once=once, now=now)


@dataclass(frozen=True)
class Addition:
    """What is to be added.

    Attributes:
        bodies: The points, and what is told of them.
        prefixes: Where each stands in the request.
        form: In which the points are, and are to be answered.
        kind: Of the answer.
    """

    bodies: Sequence[schemas.OwnTrial]
    prefixes: Sequence[str]
    form: schemas.FormQuery
    kind: type[schemas.Trial | schemas.Trials]


def _add(store: Database, name_or_id: str, addition: Addition, *, once: Once, now: datetime) -> Response:
    # Points are read before anything is locked: a thousand take a while, and so do those of a large study.
    with store.read.begin() as session:
        found = studies.find(session, name_or_id)
        study_id, space = found.id, spaces.of_study(found, addition.form)
        places = Places(session, found) if any(body.skip_if_exists for body in addition.bodies) else None
    own = _read(space, addition.bodies, addition.prefixes)

    def write(tx: Session) -> Response:
        if (earlier := once.earlier(tx)) is not None:
            return earlier
        # By its id: the name may belong to another study by now, of another space.
        study = studies.find(tx, study_id, lock=True)
        before = history.next_number(tx, study)
        rows = _added(tx, study, addition.bodies, own, places, now=now)
        shown = [answers.trial(row, study, addition.form) for row in rows]
        is_new = any(row.number >= before for row in rows)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        body = shown[0] if addition.kind is schemas.Trial else schemas.Trials(trials=shown)
        return once.answer(tx, body, now=now, code=code)

    return in_transaction(store, write)


def _added(
    tx: Session,
    study: Study,
    bodies: Sequence[schemas.OwnTrial],
    own: Sequence[own_points.Own],
    places: Places | None,
    *,
    now: datetime,
) -> list[Trial]:
    """The trials that were added, or that are there already and are to be skipped."""
    if places is None:
        return own_points.add(tx, study, own, now=now)
    places.update(tx, study)
    rows: list[Trial] = []
    for body, one in zip(bodies, own, strict=True):
        same = places.find(one.point) if body.skip_if_exists else None
        if same is not None:
            rows.append(history.find(tx, study, same))
            continue
        rows += own_points.add(tx, study, [one], now=now)
        tx.flush()
        places.update(tx, study)
    return rows


def _read(space: Space, bodies: Sequence[schemas.OwnTrial], prefixes: Sequence[str]) -> list[own_points.Own]:
    """The points and what is told of them.

    Raises:
        InvalidPoint: Some points are in no accepted form, or are to be run and lie outside.
        InvalidCost: Some costs cannot be summed up.
    """
    own: list[own_points.Own] = []
    refused: list[InvalidPoint] = []
    for body, prefix in zip(bodies, prefixes, strict=True):
        try:
            own.append(_own(space, body, prefix))
        except InvalidPoint as problem:
            refused.append(problem)
    if refused:
        errors = [error for problem in refused for error in problem.errors]
        raise InvalidPoint("; ".join(problem.detail for problem in refused), errors=errors)
    return own


def _own(space: Space, body: schemas.OwnTrial, prefix: str) -> own_points.Own:
    checked = spaces.check_point(space, body.point, f"{prefix}/point")
    outcome = None
    if body.is_to_be_run:
        spaces.check_inside(checked, f"{prefix}/point")
    else:
        outcome = told(space, body.told, executed=checked, prefix=prefix)
    return own_points.Own(checked.point, spaces.shown_corrections(checked), outcome, body.metrics, body.metadata)
