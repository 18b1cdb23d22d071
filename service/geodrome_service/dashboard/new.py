"""The page that makes a study: a form that writes YAML, and the YAML, which is what is sent."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from geodrome import schemas
from geodrome.errors import InvalidRequest, Problem, StudyExists
from sqlalchemy.orm import Session

from geodrome_service.api import studies, written
from geodrome_service.api.bodies import FormRoute
from geodrome_service.api.dependencies import Now, Store, in_transaction
from geodrome_service.api.request_ids import request_id_of
from geodrome_service.dashboard import fields, starts
from geodrome_service.dashboard.rendering import page

router = APIRouter(prefix="/new", include_in_schema=False, route_class=FormRoute)

SEE_OTHER = 303

Text = Annotated[str, Form()]


@router.get("")
def show(request: Request, start: str = "") -> Response:
    """A typical study, to be changed and made."""
    return _page(request, starts.text(start), start=start)


@router.post("")
def make(request: Request, store: Store, now: Now, text: Text = "") -> Response:
    """Makes the study that the text describes and goes to it; shows the text again with what is wrong in it."""
    try:
        body = written.study_of(written.value_of(text))
        name = in_transaction(store, partial(_made, body=body, now=now))
    except (InvalidRequest, StudyExists) as problem:
        return _page(request, text, problem=problem)
    return RedirectResponse(f"/studies/{quote(name)}", SEE_OTHER)


@router.post("/check")
def check(request: Request, text: Text = "") -> Response:
    """What the text says as JSON, null if it cannot be read, and what is wrong in it; makes nothing."""
    value, problem = _looked_through(text)
    told = problem and problem.body(instance=request.url.path, request_id=request_id_of(request.scope))
    return JSONResponse({"value": value, "problem": told})


def _made(session: Session, *, body: schemas.StudyCreate, now: Now) -> str:
    study, _ = studies.made(session, body, now=now)
    return study.name


def _looked_through(text: str) -> tuple[Any, Problem | None]:
    """What a text says, as far as it can be read, and the first rules that it breaks."""
    value = None
    try:
        value = written.value_of(text)
        studies.resolved(written.study_of(value))
    except InvalidRequest as problem:
        return value, problem
    return value, None


def _page(request: Request, text: str, *, start: str = "", problem: Problem | None = None) -> Response:
    value, found = _looked_through(text)
    errors = (problem or found or InvalidRequest("")).errors
    data = {
        "spaces": fields.of_spaces(),
        "study": fields.of_studies(),
        "value": value,
        "errors": [{"pointer": error.pointer, "detail": error.detail} for error in errors],
    }
    return page(
        request, "new.html", status=problem.status if problem else 200, text=text, problem=problem, data=data,
        starts=starts.STARTS, start=start,
    )  # fmt: skip
