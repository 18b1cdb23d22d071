"""The first page: which studies there are, and how far each is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.dashboard.rendering import page
from geodrome_service.store import studies

router = APIRouter(include_in_schema=False)

SHOWN = 50


@router.get("/")
def listed(request: Request, session: Reading) -> Response:
    """The studies, newest first."""
    found, _ = studies.page(session, state=None, name_prefix="", before=None, limit=SHOWN)
    best = studies.best_trials(session, found)
    records = [answers.study(study, best.get(study.serial)) for study in found]
    return page(request, "studies.html", studies=records)
