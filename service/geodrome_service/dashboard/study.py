"""The page of a study: how far it is, and whether tuning works."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from geodrome import schemas
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.dashboard.rendering import page
from geodrome_service.store import studies

router = APIRouter(prefix="/studies/{study}", include_in_schema=False)


@router.get("")
def show(study: str, request: Request, session: Reading) -> Response:
    """The study, live."""
    record, last_event = _read(session, study)
    return page(request, "study.html", study=record, last_event=last_event)


@router.get("/summary")
def summary(study: str, request: Request, session: Reading) -> Response:
    """The part that says how far it is."""
    record, _ = _read(session, study)
    return page(request, "parts/summary.html", study=record)


def _read(session: Session, name_or_id: str) -> tuple[schemas.Study, int]:
    """The study, and the position of its latest event."""
    found = studies.find(session, name_or_id)
    return answers.study(found, studies.best_trials(session, [found]).get(found.serial)), found.last_event
