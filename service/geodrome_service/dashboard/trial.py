"""The page of a trial: what became of it, why its point was suggested, and what to tell of it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.dashboard import explaining
from geodrome_service.dashboard.nearest import OBSERVED, nearest
from geodrome_service.dashboard.rendering import page
from geodrome_service.store import history, listing, studies

router = APIRouter(prefix="/studies/{study}/trials/{number}", include_in_schema=False)


@router.get("")
def show(study: str, number: int, request: Request, session: Reading) -> Response:
    """The trial, live."""
    return _page(study, number, request, session, "trial.html")


@router.get("/record")
def show_record(study: str, number: int, request: Request, session: Reading) -> Response:
    """The part that says what is known of it."""
    return _page(study, number, request, session, "parts/trial.html")


@router.get("/actions")
def show_actions(study: str, number: int, request: Request, session: Reading) -> Response:
    """The part with what a person may still tell of it."""
    found = studies.find(session, study)
    trial = answers.trial(history.find(session, found, number), found)
    return page(request, "parts/trial_actions.html", study=answers.study(found, None), trial=trial)


def _page(study: str, number: int, request: Request, session: Reading, template: str) -> Response:
    found = studies.find(session, study)
    row = history.find(session, found, number)
    record, trial = answers.study(found, None), answers.trial(row, found)
    known = [answers.trial(other, found) for other in listing.observed(session, found, latest=OBSERVED)]
    return page(
        request, template, study=record, last_event=found.last_event, trial=trial, created_at=row.created_at,
        suggested=None if row.suggested_point == row.point else row.suggested_point,
        events=[explaining.happened(answers.event(event)) for event in listing.happened(session, found, number)],
        values=trial.values, origin=explaining.ORIGINS[trial.origin.kind],
        reasons=explaining.reasons(trial, record.objective),
        outcome=explaining.compared(trial, record.objective),
        near=nearest(record, trial, known), observed=OBSERVED,
    )  # fmt: skip
