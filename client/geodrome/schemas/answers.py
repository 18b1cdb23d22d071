"""The bodies that the service writes. They have no defaults, and older clients tolerate unknown fields."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, FiniteFloat

from geodrome.schemas.definition import Acquisition, Budget, InitialDesign, Kernel, LinearConstraint, Objective
from geodrome.schemas.values import Output, Point, StudyState, TrialState
from geodrome.spaces import Space


class Origin(Output):
    """Where a point comes from.

    ``kind`` is ``initial``, ``model``, ``enqueued``, ``told`` or ``fallback`` (the model could not be fitted: a
    space-filling point, and ``note`` says why). ``value`` is the acquisition's value, ``mean`` and ``std`` the model's
    prediction, both in the units of the cost.
    """

    kind: Literal["initial", "model", "enqueued", "told", "fallback"]
    acquisition: str | None
    value: FiniteFloat | None
    mean: FiniteFloat | None
    std: FiniteFloat | None
    seed: int | None
    note: str | None


class Correction(Output):
    """What was mended in a point that was accepted; ``got`` is what was sent there."""

    pointer: str
    detail: str
    deviation: FiniteFloat
    got: Any


class Form(Output):
    """In which form points are, where a request asked for another than the space's; null where it did not."""

    representation: Literal["matrix", "quaternion"] | None
    order: Literal["wxyz", "xyzw"] | None
    unit: Literal["rad", "deg"] | None
    encoding: Literal["mandel", "voigt", "cholesky_lower"] | None
    model: Literal["lorentz", "poincare"] | None


class Trial(Output):
    """One point and what became of it. ``number`` counts within the study from 1; ``form`` is that of the point."""

    number: int
    study: str
    state: TrialState
    worker: str | None
    attempt: int
    retry_of: int | None
    point: Point
    form: Form | None
    origin: Origin
    asked_at: AwareDatetime | None
    lease_expires_at: AwareDatetime | None
    told_at: AwareDatetime | None
    cost: FiniteFloat | None
    std: FiniteFloat | None
    values: list[FiniteFloat] | None
    reason: str | None
    metrics: dict[str, FiniteFloat]
    metadata: dict[str, Any]
    corrections: list[Correction]
    flags: list[Literal["late", "outside_domain", "outlier"]]


class Trials(Output):
    """Answer of ``POST …/ask``."""

    trials: list[Trial]


class TrialPage(Output):
    """Answer of ``GET …/trials``: ``next_cursor`` is the ``after`` of the next page, null on the last."""

    trials: list[Trial]
    next_cursor: int | None


class Event(Output):
    """A change of a study (``number`` is null) or of one of its trials; ``position`` counts events from 1."""

    position: int
    at: AwareDatetime
    kind: str
    number: int | None
    details: dict[str, Any]


class EventPage(Output):
    """Answer of ``GET …/events``: ``next_cursor`` is the ``after`` of the next page, null on the last."""

    events: list[Event]
    next_cursor: int | None


class Counts(Output):
    """Trials by state."""

    queued: int
    running: int
    completed: int
    failed: int
    lost: int
    abandoned: int


class Study(Output):
    """A study: its definition as it is in force, how far it is, and what a person should know of it."""

    id: str
    name: str
    space: Space
    objective: Objective
    kernel: Kernel
    acquisition: Acquisition
    initial_design: InitialDesign
    noise: str
    constraints: list[LinearConstraint]
    seed: int
    budget: Budget
    lease_s: float
    max_attempts: int
    metadata: dict[str, Any]
    state: StudyState
    created_at: datetime
    counts: Counts
    budget_left: int | None
    best: Trial | None
    notes: list[str]


class StudyPage(Output):
    """Answer of ``GET /v1/studies``, newest first."""

    studies: list[Study]
    next_cursor: str | None


class Recommendation(Output):
    """The point with the best posterior mean over the space, in the units of the cost."""

    point: Point
    form: Form | None
    mean: FiniteFloat
    std: FiniteFloat


class Best(Output):
    """Answer of ``GET …/best``: the best observed trial, and what the model recommends."""

    observed: Trial | None
    recommended: Recommendation | None


class Prediction(Output):
    """What a run at a point would cost, without its noise, in units of the cost.

    ``feasible`` is the probability that the run does not fail, null while nothing has failed.
    """

    mean: FiniteFloat
    std: FiniteFloat
    feasible: FiniteFloat | None


class Predictions(Output):
    """Answer of ``POST …/predict``, in the order of the points; null while there is no model."""

    predictions: list[Prediction] | None


class SpaceTypes(Output):
    """Answer of ``GET /v1/spaces``: the JSON schema of every type of space, by its name."""

    types: dict[str, Any]


class Readiness(Output):
    """Answer of ``GET /readyz``: whether the database answers and a worker is there."""

    database: bool
    compute: bool


class Health(Output):
    """Answer of ``GET /healthz``."""

    status: Literal["ok"]
    version: str


class Lengthscale(Output):
    """How far costs are alike along one factor of the space ("" for a space that is no product), a geodesic distance.

    Rotations are in degrees, joints in the unit of their spec, numbers in that of their bounds (``decades`` on a log
    scale), with a list for vectors; ``unit`` is null where the space names none.
    """

    factor: str
    value: FiniteFloat | list[FiniteFloat]
    unit: str | None


class Calibration(Output):
    """How well each observation is predicted by all others.

    Attributes:
        within_one, within_two: Shares that lie within one and two predicted deviations; of a right model 0.68 and 0.95.
        error: Root of the mean squared error; that of predicting the mean cost is about 1.
    """

    within_one: FiniteFloat
    within_two: FiniteFloat
    error: FiniteFloat


class FittedModel(Output):
    """The model of the costs, in natural units: deviations and mean are in the unit of the cost.

    ``status`` is how the fit ended, ``note`` the same in words. ``points`` is how many the model is made of: repeats
    are one, and of more than 1,500 the most informative are taken. ``kernel`` is the type that was taken: where that of
    the study is ``auto``, the costs have decided.
    """

    status: Literal["converged", "max_iterations", "subset"]
    note: str
    observations: int
    points: int
    kernel: Literal["matern", "flat_matern", "euclidean_matern", "geodesic_se", "cholesky_matern"]
    nu: FiniteFloat | Literal["inf"]
    lengthscales: list[Lengthscale]
    noise_std: FiniteFloat
    prior_std: FiniteFloat
    mean: FiniteFloat
    calibration: Calibration


class StudyModel(Output):
    """Answer of ``GET …/model``; null while there is none."""

    model: FittedModel | None
