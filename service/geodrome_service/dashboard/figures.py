"""Figures for the pages, as JSON that Plotly draws in the browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from geodrome import figures
from geodrome.figures import Theme

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.store import history, studies

router = APIRouter(prefix="/studies/{study}/figures", include_in_schema=False)

MEDIA_TYPE = "application/json"


@router.get("/convergence")
def convergence(study: str, session: Reading, theme: Annotated[Theme, Query()] = "light") -> Response:
    """Costs over trials, and the best so far."""
    found = studies.find(session, study)
    rows, _ = history.page(session, found, state=None, worker=None, after=0, limit=history.LARGEST_NUMBER)
    record = answers.study(found, studies.best_trials(session, [found]).get(found.serial))
    figure = figures.convergence(record, [answers.trial(row, found) for row in rows], theme=theme)
    return Response(figure.to_json(), media_type=MEDIA_TYPE)
