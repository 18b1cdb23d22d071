"""What is known of a study's trials: one of them, a page of them, or all that a model learns from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geodrome.errors import TrialNotFound
from geodrome.schemas import TrialState
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Event, Json, Study, Trial

LATEST = 1000
"""Trials from which the points of a larger initial design keep away."""

LARGEST_NUMBER = 2**31 - 1  # what the number's column holds on every database


@dataclass(frozen=True)
class Observations:
    """The points of a study by what they teach, each in the order of the trials' numbers.

    Attributes:
        observed: Points that have a cost, each as often as it was measured.
        costs: The measurements, as they were told.
        stds: Standard deviations of their noise, None where it is not known.
        pending: Points that are queued or running.
        failed: Points that ran and went wrong.
        abandoned: Points that nobody wants again.
    """

    observed: list[Json]
    costs: list[float]
    stds: list[float | None]
    pending: list[Json]
    failed: list[Json]
    abandoned: list[Json]


def find(session: Session, study: Study, number: int) -> Trial:
    """The trial of this number.

    Raises:
        TrialNotFound: There is none.
    """
    trial = None
    if 1 <= number <= LARGEST_NUMBER:
        trial = session.get(Trial, (study.serial, number))
    if trial is None:
        count = next_number(session, study) - 1
        raise TrialNotFound(f"study {study.name!r} has no trial {number}; its trials are numbered 1 to {count}")
    return trial


def page(
    session: Session, study: Study, *, state: TrialState | None, worker: str | None, after: int, limit: int
) -> tuple[Sequence[Trial], int | None]:
    """Trials by number.

    Args:
        session: The transaction.
        study: Whose trials.
        state: Only those in this state.
        worker: Only those that this worker has or had.
        after: Only those with a larger number: the cursor.
        limit: How many at most.

    Returns:
        The trials, and the cursor of the next page, None on the last.
    """
    query = select(Trial).where(Trial.study_serial == study.serial, Trial.number > after)
    if state is not None:
        query = query.where(Trial.state == state.value)
    if worker is not None:
        query = query.where(Trial.worker == worker)
    found = session.scalars(query.order_by(Trial.number).limit(limit + 1)).all()
    return found[:limit], found[limit - 1].number if len(found) > limit else None


def points(session: Session, study: Study, *, since: int) -> dict[int, Json | None]:
    """The points of all trials to which something happened after event ``since``, by number; None for lost ones."""
    rows = select(Trial.number, Trial.state, Trial.point).where(Trial.study_serial == study.serial)
    if since:
        later = select(Event.number).where(Event.study_serial == study.serial, Event.position > since)
        rows = rows.where(Trial.number.in_(later))
    found = session.execute(rows.order_by(Trial.number))
    return {number: None if state == TrialState.LOST.value else point for number, state, point in found}


def next_number(session: Session, study: Study) -> int:
    """The number of the study's next trial."""
    largest = session.scalar(select(func.max(Trial.number)).where(Trial.study_serial == study.serial))
    return (largest or 0) + 1


def observations(session: Session, study: Study, *, latest: int | None = None) -> Observations:
    """What a model of the study learns from, or only its ``latest`` trials; lost trials teach nothing."""
    rows = select(Trial.state, Trial.point, Trial.cost, Trial.values, Trial.std).where(
        Trial.study_serial == study.serial, Trial.state != TrialState.LOST.value
    )
    found = session.execute(rows.order_by(Trial.number.desc()).limit(latest)).all()
    return gathered(reversed(found))


def gathered(
    rows: Iterable[tuple[str, Json, float | None, list[float] | None, float | None]],
) -> Observations:
    """What trials that are not lost teach.

    Args:
        rows: State, point, cost, values and std of each, in the order of the numbers.
    """
    known = Observations([], [], [], [], [], [])
    for state, point, cost, values, std in rows:
        match TrialState(state):
            case TrialState.COMPLETED:
                assert cost is not None
                measured = values or [cost]
                known.observed.extend([point] * len(measured))
                known.costs.extend(measured)
                known.stds.extend([std] * len(measured))
            case TrialState.QUEUED | TrialState.RUNNING:
                known.pending.append(point)
            case TrialState.FAILED:
                known.failed.append(point)
            case TrialState.ABANDONED:
                known.abandoned.append(point)
            case TrialState.LOST:
                raise AssertionError("lost trials are not selected")
    return known


def latest_hyperparameters(session: Session, study: Study) -> Json | None:
    """Those of the study's last suggestion that came from a model: where the next fit begins."""
    recipes = (
        select(Trial.recipe)
        .where(Trial.study_serial == study.serial, Trial.recipe.is_not(None))
        .order_by(Trial.number.desc())
        .limit(1)
    )
    recipe = session.scalars(recipes).first()
    return (recipe or {}).get("hyperparameters") or None
