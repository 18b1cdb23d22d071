"""Routes about the service itself: whether it lives, and what its problems mean."""

from __future__ import annotations

import inspect
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from geodrome import schemas
from geodrome.errors import PROBLEMS, StudyNotFound
from geodrome.spaces import SPACE_TYPES
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from geodrome_service.api.dependencies import Store
from geodrome_service.api.problems import responses

router = APIRouter(tags=["service"])


class ProblemPage(BaseModel):
    """What a problem's code means."""

    code: str
    status: int
    title: str
    explanation: str
    retryable: bool


@router.get("/healthz", response_model=schemas.Health)
async def health() -> schemas.Health:
    """Say that the process lives; it looks at nothing else."""
    return schemas.Health(status="ok", version=version("geodrome"))


@router.get(
    "/readyz",
    response_model=schemas.Readiness,
    responses={503: {"model": schemas.Readiness, "description": "Not ready: what is false does not answer"}},
)
async def ready(request: Request, response: Response, store: Store) -> schemas.Readiness:
    """Say whether the database answers and a worker is there: whether asks and tells would be served."""
    found = schemas.Readiness(
        database=await run_in_threadpool(store.answers), compute=await request.app.state.pool.is_ready()
    )
    if not (found.database and found.compute):
        response.status_code = 503
    return found


@router.get("/v1/spaces", response_model=schemas.SpaceTypes)
async def space_types() -> schemas.SpaceTypes:
    """List the types of spaces with their fields and limits, as JSON schemas."""
    return schemas.SpaceTypes(types={name: kind.model_json_schema() for name, kind in SPACE_TYPES.items()})


UNKNOWN_CODE = responses(StudyNotFound)[404] | {"description": "There is no problem of this code"}


@router.get("/problems/{code}", response_model=ProblemPage, responses={**responses(), 404: UNKNOWN_CODE})
async def explain(code: str) -> ProblemPage:
    """Explain a problem's code."""
    kind = PROBLEMS.get(code)
    if kind is None:
        raise HTTPException(404)
    return ProblemPage(
        code=kind.code,
        status=kind.status,
        title=kind.title,
        explanation=inspect.getdoc(kind) or kind.title,
        retryable=kind.retryable,
    )
