"""The page of a study: how far it is, whether tuning works, its trials, and what a person may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from geodrome import schemas
from geodrome.pace import left_s, pace_s
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.api.dependencies import Reading
from geodrome_service.dashboard.examples import example
from geodrome_service.dashboard.recommended import recommended_point
from geodrome_service.dashboard.rendering import page
from geodrome_service.dashboard.trials import TableQuery, table
from geodrome_service.store import activity, counting, studies, tables

router = APIRouter(prefix="/studies/{study}", include_in_schema=False)


@dataclass(frozen=True)
class Summary:
    """How far a study is.

    Attributes:
        spent: Trials that count for the budget.
        workers: Robots of late.
        last_at: When something last happened.
        pace_s: Seconds from one result to the next, of late.
        left_s: Seconds until the budget is spent at that pace.
        design_best: Best cost of the initial design, to compare with.
        recommended: The model's recommendation, if it is at hand.
    """

    spent: int
    workers: list[activity.Worker]
    last_at: datetime | None
    pace_s: float | None
    left_s: float | None
    design_best: float | None
    recommended: schemas.Recommendation | None

    @property
    def worker_names(self) -> list[str]:
        """Names of the robots."""
        return activity.names(self.workers)


@router.get("")
def show(study: str, request: Request, session: Reading, query: Annotated[TableQuery, Query()]) -> Response:
    """The study, live."""
    found, record = _read(session, study)
    summary = _summary(session, request, found, record)
    return page(
        request, "study.html", study=record, last_event=found.last_event, summary=summary,
        table=table(session, found, query), example=example(session, found, record, summary.recommended),
    )  # fmt: skip


@router.get("/summary")
def show_summary(study: str, request: Request, session: Reading) -> Response:
    """The part that says how far it is."""
    found, record = _read(session, study)
    return page(request, "parts/summary.html", study=record, summary=_summary(session, request, found, record))


@router.get("/trials")
def show_trials(study: str, request: Request, session: Reading, query: Annotated[TableQuery, Query()]) -> Response:
    """The part that lists its trials."""
    found, record = _read(session, study)
    return page(
        request, "parts/trials.html", study=record, table=table(session, found, query),
        worker_names=activity.names(activity.workers(session, found)),
    )  # fmt: skip


def _read(session: Session, name_or_id: str) -> tuple[tables.Study, schemas.Study]:
    """The study, as it is stored and as it travels."""
    found = studies.find(session, name_or_id)
    return found, answers.study(found, studies.best_trials(session, [found]).get(found.serial))


def _summary(session: Session, request: Request, found: tables.Study, record: schemas.Study) -> Summary:
    pace = pace_s(activity.result_times(session, found))
    return Summary(
        spent=counting.count(found, *counting.SPENT),
        workers=activity.workers(session, found),
        last_at=activity.last_at(session, found),
        pace_s=pace,
        left_s=left_s(record.budget_left, pace),
        design_best=activity.best_of_design(session, found),
        recommended=recommended_point(request, found),
    )
