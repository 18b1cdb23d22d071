"""How many trials of a study are in each state, kept with the study: no question counts them anew.

Whoever changes states holds the study's lock, see ``studies.find``.
"""

from __future__ import annotations

from geodrome.schemas import TrialState
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Study, Trial

SPENT = (TrialState.COMPLETED, TrialState.FAILED, TrialState.ABANDONED)
"""States that spend budget."""

RESERVED = (TrialState.QUEUED, TrialState.RUNNING)
"""States that may still come to spend it."""


def counts(study: Study) -> dict[TrialState, int]:
    """Trials in each state."""
    return {state: getattr(study, state.value) for state in TrialState}


def count(study: Study, *states: TrialState) -> int:
    """How many of the study's trials are in one of these states."""
    return sum(getattr(study, state.value) for state in states)


def totals(session: Session) -> tuple[int, int]:
    """Trials of all studies that are queued, and that are running."""
    found = session.execute(select(func.sum(Study.queued), func.sum(Study.running))).one()
    return int(found[0] or 0), int(found[1] or 0)


def added(study: Study, state: TrialState, number: int = 1) -> None:
    """Notes that there are so many more trials in a state, or fewer."""
    setattr(study, state.value, getattr(study, state.value) + number)


def move(study: Study, trial: Trial, state: TrialState) -> None:
    """Brings a trial of the study into another state."""
    added(study, TrialState(trial.state), -1)
    added(study, state)
    trial.state = state.value


def learned(study: Study) -> tuple[int, ...]:
    """Changes whenever what a model learns from does, and never comes back to what it was.

    The number of trials that are known, or that of the abandoned ones, grows with each such change.
    """
    return study.completed, study.failed, study.abandoned


def design_left(study: Study) -> int:
    """Points of the initial design that are not yet known, running or queued."""
    size: int = study.initial_design["size"]
    return max(0, size - count(study, *SPENT, *RESERVED))


def budget_left(study: Study) -> int | None:
    """Trials that the budget still pays for, not below 0; None without a budget."""
    return _left(study, SPENT)


def room(study: Study) -> int | None:
    """New trials that the budget pays for, those kept free that are queued or running; None without a budget."""
    return _left(study, SPENT + RESERVED)


def _left(study: Study, states: tuple[TrialState, ...]) -> int | None:
    limit: int | None = study.budget["trials"]
    return None if limit is None else max(0, limit - count(study, *states))
