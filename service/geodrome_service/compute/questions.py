"""What a worker is asked about a study, and the suggestions that it answers, as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Question:
    """What is known about a study when the engine is asked, as JSON.

    Attributes:
        space: Its space spec.
        constraints: Between the reals of the space.
        kernel: Its type.
        nu: Its smoothness.
        acquisition: How points are valued.
        initial_size: Size of the initial design.
        around: First point of the initial design.
        spread: How far from it the others may be; None for anywhere.
        maximize: Whether larger costs are better.
        observed: Points that have a cost, each as often as it was measured.
        costs: Their costs, as they were told.
        stds: Standard deviations of the costs' noise, None where it is not known.
        pending: Points handed out or about to be.
        failed: Points that ran and went wrong.
        abandoned: Points that nobody wants again.
        start: Hyperparameters at which a fit begins, None for no earlier fit.
    """

    space: dict[str, Any]
    constraints: list[dict[str, Any]]
    kernel: Literal["auto", "matern", "flat_matern", "euclidean_matern", "geodesic_se", "cholesky_matern"]
    nu: float | Literal["inf", "learn"]
    acquisition: str
    initial_size: int
    around: Any
    spread: float | None
    maximize: bool
    observed: list[Any]
    costs: list[float]
    stds: list[float | None]
    pending: list[Any]
    failed: list[Any]
    abandoned: list[Any]
    start: dict[str, Any] | None


@dataclass(frozen=True)
class Suggestion:
    """A point that the engine suggests, as JSON.

    Attributes:
        point: The point, canonical.
        kind: ``initial``, ``model`` or ``fallback``.
        acquisition: How it was valued, None where it was not.
        value: The acquisition's value.
        mean: The model's prediction, in units of the cost.
        std: Its standard deviation.
        note: What there is to say about it.
        hyperparameters: The model's, empty without one.
    """

    point: Any
    kind: str
    acquisition: str | None
    value: float | None
    mean: float | None
    std: float | None
    note: str | None
    hyperparameters: dict[str, Any]
