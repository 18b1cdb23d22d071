"""Routes of studies: making, listing, showing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response, status
from geodrome import schemas
from geodrome.errors import (
    DatabaseUnavailable,
    EmptyDomain,
    Forbidden,
    IdempotencyConflict,
    InvalidPoint,
    InvalidRequest,
    InvalidSpace,
    StudyClosed,
    StudyExists,
    StudyNotFound,
    TooLarge,
)
from pydantic import Field
from sqlalchemy.orm import Session

from geodrome_service.api import answers, kernels, spaces
from geodrome_service.api.bodies import WITHOUT_NUL, JsonRoute
from geodrome_service.api.dependencies import CallerRole, Now, Reading, Tx
from geodrome_service.api.once import OnceOnly
from geodrome_service.api.problems import responses
from geodrome_service.roles import Role
from geodrome_service.store import studies, tables

router = APIRouter(prefix="/v1/studies", tags=["studies"], route_class=JsonRoute)

LARGEST_SERIAL = 2**31 - 1


class StudyQuery(schemas.Input):
    """Which studies to list."""

    state: schemas.StudyState | None = None
    name_prefix: Annotated[str, Field(max_length=128, pattern=WITHOUT_NUL)] = ""
    cursor: Annotated[int | None, Field(ge=1, le=LARGEST_SERIAL)] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Study,
    responses={
        status.HTTP_200_OK: {"model": schemas.Study, "description": "The study exists, and is defined equally"},
        **responses(
            InvalidRequest,
            InvalidSpace,
            EmptyDomain,
            InvalidPoint,
            StudyExists,
            IdempotencyConflict,
            TooLarge,
            DatabaseUnavailable,
        ),
    },
)
def create(body: schemas.StudyCreate, tx: Tx, once: OnceOnly, now: Now, role: CallerRole) -> Response:
    """Make a study, as an admin; with `if_exists: load`, go on with the one of this name if it is defined equally."""
    if (earlier := once.earlier(tx)) is not None:
        return earlier
    study, is_new = made(tx, body, now=now)
    if is_new and not role.allows(Role.ADMIN):
        raise Forbidden(
            f"there is no study {study.name!r}, and to make one needs the role admin; this key has the role {role}"
        )
    shown = answers.study(study, studies.best_trials(tx, [study]).get(study.serial))
    return once.answer(tx, shown, now=now, code=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


@router.get("", response_model=schemas.StudyPage, responses=responses(InvalidRequest, DatabaseUnavailable))
def page(query: Annotated[StudyQuery, Query()], session: Reading) -> schemas.StudyPage:
    """List studies, newest first; `next_cursor` is the `cursor` of the next page."""
    found, cursor = studies.page(
        session, state=query.state, name_prefix=query.name_prefix, before=query.cursor, limit=query.limit
    )
    best = studies.best_trials(session, found)
    return schemas.StudyPage(
        studies=[answers.study(study, best.get(study.serial)) for study in found],
        next_cursor=None if cursor is None else str(cursor),
    )


@router.get("/{study}", response_model=schemas.Study, responses=responses(StudyNotFound, DatabaseUnavailable))
def show(study: str, session: Reading) -> schemas.Study:
    """Show a study, addressed by its name or id: definition, counts by state, budget left, best trial."""
    found = studies.find(session, study)
    return answers.study(found, studies.best_trials(session, [found]).get(found.serial))


@router.patch(
    "/{study}",
    response_model=schemas.Study,
    responses=responses(InvalidRequest, StudyNotFound, StudyClosed, TooLarge, DatabaseUnavailable),
)
def change(study: str, body: schemas.StudyChange, tx: Tx, now: Now) -> schemas.Study:
    """Pause, resume or close a study, or change its budget, lease or metadata."""
    found = studies.find(tx, study, lock=True)
    # Only what is null as a whole is not given: a budget may have no limit, metadata may hold a null.
    changes = {name: value for name, value in body.model_dump(mode="json").items() if value is not None}
    studies.change(tx, found, changes, now=now)
    return answers.study(found, studies.best_trials(tx, [found]).get(found.serial))


@router.delete(
    "/{study}", status_code=status.HTTP_204_NO_CONTENT, responses=responses(StudyNotFound, DatabaseUnavailable)
)
def remove(study: str, tx: Tx) -> None:
    """Delete a study with its trials and events, for good."""
    studies.remove(tx, studies.find(tx, study, lock=True))


def made(session: Session, body: schemas.StudyCreate, *, now: datetime) -> tuple[tables.Study, bool]:
    """The study that a body describes, and whether it is new.

    Raises:
        InvalidSpace: The space cannot be searched.
        EmptyDomain: The constraints leave no point.
        InvalidPoint: The point around which to begin is none of the space.
        InvalidRequest: A constraint or the kernel does not fit.
        StudyExists: The name is taken.
    """
    return studies.create(session, resolved(body), load=body.if_exists == "load", now=now)


def resolved(body: schemas.StudyCreate) -> dict[str, Any]:
    """The definition with all defaults, its space checked, its points canonical.

    Raises:
        InvalidSpace: The space cannot be searched.
        EmptyDomain: The constraints leave no point.
        InvalidPoint: The point around which to begin is none of the space.
        InvalidRequest: A constraint or the kernel does not fit.
    """
    definition = body.model_dump(mode="json", exclude={"if_exists"})
    # A constraint says nothing of a real without bounds: these come first.
    spaces.check_bounded(spaces.space_of(definition["space"], []))
    space = spaces.space_of(definition["space"], definition["constraints"])
    kernels.check_kernel(space, kernel=body.kernel.type, acquisition=body.acquisition.type)
    if body.initial_design.around is not None:
        pointer = "/initial_design/around"
        around = spaces.check_point(space, body.initial_design.around, pointer)
        spaces.check_inside(around, pointer)
        definition["initial_design"]["around"] = around.point
    return definition
