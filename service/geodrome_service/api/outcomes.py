"""Outcomes as they are told, as the store keeps them."""

from __future__ import annotations

import math
import statistics

from geodrome import schemas
from geodrome.errors import FieldError, InvalidCost
from geodrome_core import CheckedPoint, Space

from geodrome_service.api import spaces
from geodrome_service.store import outcomes


def told(space: Space, body: schemas.Tell, executed: CheckedPoint | None = None, *, prefix: str = "") -> outcomes.Told:
    """The outcome with its costs summed up and its point read.

    Args:
        space: The study's space.
        body: What was told.
        executed: The point, if it is not the body's.
        prefix: Pointer to the place where the body stands.
    """
    said = body.model_dump(mode="json")
    if body.point is not None:
        executed = spaces.check_point(space, body.point, "/point")
        said["point"] = executed.point
    cost, std = _mean_and_std(body, f"{prefix}/costs")
    return outcomes.Told(
        outcome=body.outcome,
        body=said,
        cost=cost,
        std=std,
        values=body.costs,
        point=None if executed is None else executed.point,
        corrections=[] if executed is None else spaces.shown_corrections(executed),
        outside=executed is not None and bool(executed.outside),
        reason=body.reason,
        metrics=body.metrics,
        metadata=body.metadata,
    )


def _mean_and_std(body: schemas.Tell, pointer: str) -> tuple[float | None, float | None]:
    """The cost, or the mean of several; its standard deviation as told, else the standard error of that mean."""
    if body.costs is None:
        return body.cost, body.std
    mean = statistics.mean(body.costs)
    if body.std is not None or len(body.costs) == 1:
        return mean, body.std
    count = len(body.costs)
    std = math.hypot(*(cost - mean for cost in body.costs)) / math.sqrt((count - 1) * count)
    if not math.isfinite(std):
        fault = FieldError(pointer, "the costs differ by more than a number can say", None, "a finite spread")
        raise InvalidCost(fault.detail, errors=[fault])
    return mean, std
