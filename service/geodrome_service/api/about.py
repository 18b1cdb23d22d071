"""Routes about the service itself: whether it lives, and what its problems mean."""

from __future__ import annotations

import inspect
from importlib.metadata import version

from fastapi import APIRouter
from geodrome import schemas
from geodrome.errors import PROBLEMS
from pydantic import BaseModel
from starlette.exceptions import HTTPException

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


@router.get("/problems/{code}", response_model=ProblemPage)
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
