"""Outcomes: what became of a trial, told once."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from geodrome.schemas import Outcome, TrialState
from sqlalchemy.orm import Session

from geodrome_service.store import counting, events, history, leases, repeats
from geodrome_service.store.tables import Json, Study, Trial


@dataclass(frozen=True)
class Told:
    """An outcome as it was told.

    Attributes:
        outcome: What happened.
        body: Everything that was told, in canonical form: equal bodies say the same.
        cost: Mean of the values.
        std: Its standard deviation, None if unknown.
        values: The measurements, if there were several.
        point: What was executed, canonical; None: what was suggested.
        corrections: What was mended in that point.
        outside: Whether that point lies outside the domain.
        reason: Why.
        metrics: Further numbers.
        metadata: Anything else.
    """

    outcome: Outcome
    body: Json
    cost: float | None
    std: float | None
    values: list[float] | None
    point: Json | None
    corrections: list[Json]
    outside: bool
    reason: str | None
    metrics: dict[str, float]
    metadata: dict[str, Any]


class Verdict(enum.Enum):
    """What became of an outcome that was told."""

    STORED = "it is stored now"
    REPEATED = "the same was stored before"
    CONTRADICTED = "another outcome is stored, and stays"


def record(session: Session, study: Study, number: int, told: Told, *, now: datetime) -> tuple[Trial, Verdict]:
    """Stores what happened to a trial, unless another outcome is stored already.

    A trial that nobody asked for may be told too: whoever ran its point has a result.

    Raises:
        TrialNotFound: The study has no trial of this number.
    """
    trial = history.find(session, study, number)
    if trial.told == told.body:
        return trial, Verdict.REPEATED
    before = TrialState(trial.state)
    if not _takes(trial, told.outcome):
        return trial, Verdict.CONTRADICTED
    late = told.outcome is not Outcome.ABANDONED and leases.is_overdue(trial, now)
    counting.move(study, trial, TrialState(told.outcome.value))
    write(trial, told, late=late, now=now)
    events.record(session, study, told.outcome.value, trial=trial, now=now, told=told.body, late=late)
    if told.outcome is Outcome.LOST:
        if before is not TrialState.LOST:
            repeats.offer(session, study, trial, now=now)
    elif study.lost or before is TrialState.LOST:  # else there are no repeats: they wait only for trials that are lost
        repeats.withdraw(session, study, trial, f"withdrawn: the outcome of trial {number} is known", now=now)
    return trial, Verdict.STORED


def _takes(trial: Trial, outcome: Outcome) -> bool:
    """Whether a trial may come to this outcome from where it is."""
    match TrialState(trial.state):
        case TrialState.QUEUED | TrialState.RUNNING:
            return True
        case TrialState.LOST:
            # Lost because time ran out, not because somebody said so: then the result is only late.
            return trial.told is None or outcome is Outcome.ABANDONED
        case TrialState.COMPLETED | TrialState.FAILED:
            return outcome is Outcome.ABANDONED
        case TrialState.ABANDONED:
            return False
        case state:
            assert_never(state)


def write(trial: Trial, told: Told, *, late: bool, now: datetime) -> None:
    """Writes what was told into the trial's row."""
    trial.told = told.body
    trial.told_at = now
    trial.lease_expires_at = None
    trial.reason = told.reason
    trial.metrics = {**trial.metrics, **told.metrics}
    trial.user_metadata = {**trial.user_metadata, **told.metadata}
    if told.outcome is Outcome.COMPLETED:
        trial.cost, trial.std, trial.values = told.cost, told.std, told.values
    if told.point is not None:
        trial.point, trial.corrections = told.point, told.corrections
    flags = {"late": late, "outside_domain": told.outside}
    trial.flags = [*trial.flags, *(flag for flag, holds in flags.items() if holds and flag not in trial.flags)]
