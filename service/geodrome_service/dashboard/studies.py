"""The first page: which studies there are, how far each is, and what happens in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from geodrome import schemas
from pydantic import BeforeValidator, Field
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.api.studies import StudyQuery
from geodrome_service.dashboard.kinds import described
from geodrome_service.dashboard.rendering import page
from geodrome_service.store import overview, studies
from geodrome_service.store.overview import Activity

router = APIRouter(include_in_schema=False)


def _chosen(value: object) -> object:
    return None if value == "" else value


class ListQuery(StudyQuery):
    """Which studies to show, as a form sends it: an empty state means all."""

    state: Annotated[schemas.StudyState | None, BeforeValidator(_chosen)] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 25

    def address(self, path: str, **other: Any) -> str:
        """The address of what this query, or another that differs in some parts, shows."""
        asked = {name: value for name, value in (self.model_dump(mode="json") | other).items() if value}
        if asked["limit"] == type(self).model_fields["limit"].default:
            del asked["limit"]
        return f"{path}?{urlencode(asked)}" if asked else path


Asked = Annotated[ListQuery, Query()]


@dataclass(frozen=True)
class Line:
    """What the list says of a study.

    Attributes:
        study: The study.
        space: Its space in words.
        spent: Trials that count for the budget.
        activity: What happens in it.
    """

    study: schemas.Study
    space: str
    spent: int
    activity: Activity


@router.get("/")
def show(request: Request, query: Asked, session: Reading) -> Response:
    """The studies, newest first."""
    return page(request, "studies.html", **_listed(session, query))


@router.get("/list")
def listed(request: Request, query: Asked, session: Reading) -> Response:
    """The part that lists them."""
    return page(request, "parts/studies.html", **_listed(session, query))


def _listed(session: Session, query: ListQuery) -> dict[str, Any]:
    """What the list shows."""
    found, cursor = studies.page(
        session, state=query.state, name_prefix=query.name_prefix, before=query.cursor, limit=query.limit
    )
    best = studies.best_trials(session, found)
    activities = overview.of_studies(session, found)
    lines = [
        _line(answers.study(study, best.get(study.serial)), activities[study.serial]) for study in found
    ]  # fmt: skip
    return {"lines": lines, "query": query, "cursor": cursor, "states": list(schemas.StudyState)}


def _line(study: schemas.Study, happens: Activity) -> Line:
    spent = study.counts.completed + study.counts.failed + study.counts.abandoned
    return Line(study, described(study.space), spent, happens)
