"""Figures for the pages, as JSON that Plotly draws in the browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from geodrome.figures import Theme
from geodrome.figures.choosing import choose, outline
from geodrome.figures.convergence import drawn

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.dashboard.recommended import recommended_point
from geodrome_service.store import listing, studies

router = APIRouter(prefix="/studies/{study}/figures", include_in_schema=False)

MEDIA_TYPE = "application/json"


@router.get("/convergence")
def convergence(study: str, session: Reading, request: Request, theme: Annotated[Theme, Query()] = "light") -> Response:
    """Costs over trials, and the best so far; the model's recommendation, if it is at hand.

    Of all trials only numbers, states and costs are read, and in full those that are drawn.
    """
    found = studies.find(session, study)
    chosen = choose(outline(listing.outline(session, found)), found.objective["goal"])
    trials = {row.number: answers.trial(row, found) for row in listing.numbered(session, found, chosen.numbers)}
    record = answers.study(found, studies.best_trials(session, [found]).get(found.serial))
    figure = drawn(record, chosen, trials, recommended=recommended_point(request, found), theme=theme)
    return Response(figure.to_json(), media_type=MEDIA_TYPE)
