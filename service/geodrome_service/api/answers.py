"""Rows of the database as the bodies that travel."""

from __future__ import annotations

from geodrome import schemas

from geodrome_service.api import spaces
from geodrome_service.store import counting, tables

AS_IT_IS = schemas.FormQuery()
"""The form of the study's space."""

BASELINES = {
    "euclidean_matern": "kernel euclidean_matern is a baseline to compare with: it knows nothing of the geometry",
    "geodesic_se": "kernel geodesic_se is a baseline to compare with: on some spaces it is no covariance, and may fail",
    "cholesky_matern": "kernel cholesky_matern is a baseline to compare with: it measures Cholesky factors",
}
"""Types of kernel that nobody should tune a robot with, and why."""


def trial(row: tables.Trial, study: tables.Study, form: schemas.FormQuery = AS_IT_IS) -> schemas.Trial:
    """A trial as it travels, its point in the form that was asked for."""
    return schemas.Trial(
        number=row.number,
        study=study.name,
        state=schemas.TrialState(row.state),
        worker=row.worker,
        attempt=row.attempt,
        retry_of=row.retry_of,
        point=written(row.point, study, form),
        form=shown_form(form),
        origin=schemas.Origin(**row.origin),
        asked_at=row.asked_at,
        lease_expires_at=row.lease_expires_at,
        told_at=row.told_at,
        cost=row.cost,
        std=row.std,
        values=row.values,
        reason=row.reason,
        metrics=row.metrics,
        metadata=row.user_metadata,
        # Rows from before corrections told what was found have none of it.
        corrections=[schemas.Correction(**{"got": None} | correction) for correction in row.corrections],
        flags=row.flags,
    )


def written(point: schemas.Point, study: tables.Study, form: schemas.FormQuery) -> schemas.Point:
    """A canonical point in another form.

    Raises:
        InvalidRequest: The study's space has no such form.
    """
    return point if form == AS_IT_IS else spaces.of_study(study, form).written(point)


def shown_form(form: schemas.FormQuery) -> schemas.Form | None:
    """The form, if one was asked for."""
    return None if form == AS_IT_IS else schemas.Form.model_validate(form.model_dump())


def event(row: tables.Event) -> schemas.Event:
    """An event as it travels."""
    return schemas.Event(position=row.position, at=row.at, kind=row.kind, number=row.number, details=row.details)


def study(row: tables.Study, best: tables.Trial | None) -> schemas.Study:
    """A study as it travels: its definition, how far it is, and its best trial."""
    return schemas.Study.model_validate(
        {
            "id": row.id,
            "name": row.name,
            "space": row.space,
            "objective": row.objective,
            "kernel": row.kernel,
            "acquisition": row.acquisition,
            "initial_design": row.initial_design,
            "noise": row.noise,
            "constraints": row.constraints,
            "seed": row.seed,
            "budget": row.budget,
            "lease_s": row.lease_s,
            "max_attempts": row.max_attempts,
            "metadata": row.user_metadata,
            "state": row.state,
            "created_at": row.created_at,
            "counts": {state.value: count for state, count in counting.counts(row).items()},
            "budget_left": counting.budget_left(row),
            "notes": [BASELINES[row.kernel["type"]]] if row.kernel["type"] in BASELINES else [],
            "best": None if best is None else trial(best, row),
        }
    )
