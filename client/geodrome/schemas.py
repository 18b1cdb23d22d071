"""Every body that travels, in both directions. Inputs have defaults, outputs never do."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    model_validator,
)
from pydantic_core import PydanticCustomError

from geodrome.spaces import Number, Space, Whole

PositiveNumber = Annotated[Number, Field(gt=0)]
NonNegativeNumber = Annotated[Number, Field(ge=0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.\-]*$", max_length=128)]
"""A study's name: it stands in addresses, so it begins with a letter and has no blank or slash."""

COST_OF_OUTCOME: Final = "cost_of_outcome"
"""Kind of the error about a cost that an outcome lacks, or should not have."""

Point = Any
"""A point in one of the accepted forms; the study's space says which, and checks it."""


class Input(BaseModel):
    """A body that clients write: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Output(BaseModel):
    """A body that the service writes: unknown fields are tolerated, so that older clients go on working."""

    model_config = ConfigDict(extra="ignore")


class StudyState(StrEnum):
    """What a study accepts: ``paused`` refuses asks, ``closed`` refuses asks for good; tells are always accepted."""

    ACTIVE = "active"
    PAUSED = "paused"
    CLOSED = "closed"


class TrialState(StrEnum):
    """``queued → running → completed | failed | lost | abandoned``."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    LOST = "lost"
    ABANDONED = "abandoned"


class Outcome(StrEnum):
    """What happened to a trial.

    ``completed``: it has a cost. ``failed``: it ran and went wrong, which says something about the point. ``lost``: the
    lab broke, which says nothing about the point. ``abandoned``: a person says never again.
    """

    COMPLETED = "completed"
    FAILED = "failed"
    LOST = "lost"
    ABANDONED = "abandoned"


# ---- the definition of a study: written by clients, echoed by the service


class Objective(Input):
    """What is optimized. Costs are always answered as they were told, whatever the goal."""

    name: Annotated[str, Field(max_length=256)] = "cost"
    goal: Literal["minimize", "maximize"] = "minimize"
    unit: str | None = None


def _usual_nu(given: dict[str, Any]) -> float | Literal["inf"]:
    return "inf" if given.get("type") == "geodesic_se" else 2.5


class Kernel(Input):
    """Covariance of the model: Matérn of smoothness ``nu``, of the space's own geometry.

    ``"inf"`` is the heat (squared exponential) kernel; ``"learn"`` finds the smoothness from the costs.

    The other types are baselines to compare with: ``euclidean_matern`` takes a point's numbers as they are,
    ``cholesky_matern`` those of Cholesky factors, and ``geodesic_se``, whose ``nu`` is ``"inf"``, is the squared
    exponential of the geodesic distance.
    """

    type: Literal["matern", "euclidean_matern", "geodesic_se", "cholesky_matern"] = "matern"
    nu: Annotated[Number, Field(ge=0.1, le=50)] | Literal["inf", "learn"] = Field(default_factory=_usual_nu)

    @model_validator(mode="after")
    def _squared_exponentials_are_smooth(self) -> Self:
        if self.type == "geodesic_se" and self.nu != "inf":
            raise ValueError('geodesic_se is a squared exponential, whose nu is "inf"')
        return self


class Acquisition(Input):
    """How the next point is valued."""

    type: Literal["log_ei", "ei", "ucb", "thompson"] = "log_ei"


class InitialDesign(Input):
    """The first points: ``size`` of them spread over the space, beginning with ``around`` if one is given.

    With ``spread``, the others lie about that point: within so much of the diameter of each factor.
    """

    size: Annotated[Whole, Field(ge=1, le=100_000)] = 5
    around: Point | None = None
    spread: Annotated[PositiveNumber, Field(le=1)] | None = None

    @model_validator(mode="after")
    def _spread_about_a_point(self) -> Self:
        if self.spread is not None and self.around is None:
            raise ValueError("spread needs the point around which to spread")
        return self


class LinearConstraint(Input):
    """``lower <= sum of coefficients times reals <= upper``; it holds for every suggestion, the first ones included.

    Reals are named as in points: ``gain``, ``arm.gain`` in a nested product, ``offset[0]`` in a vector; their numbers
    are those that travel, in their own units.
    """

    type: Literal["linear"] = "linear"
    coefficients: Annotated[dict[str, Number], Field(min_length=1, max_length=256)]
    lower: Number | None = None
    upper: Number | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.lower is None and self.upper is None:
            raise ValueError("a constraint needs an upper or a lower bound")
        return self


class Budget(Input):
    """How many trials may be spent; lost ones are free."""

    trials: Annotated[Whole, Field(ge=1)] | None = None


class StudyDefinition(Input):
    """What a study is made of. Space, objective, kernel and seed never change after creation."""

    name: Name
    space: Space
    objective: Objective = Objective()
    kernel: Kernel = Kernel()
    acquisition: Acquisition = Acquisition()
    initial_design: InitialDesign = InitialDesign()
    noise: Literal["inferred"] = "inferred"
    constraints: Annotated[list[LinearConstraint], Field(max_length=64)] = []
    seed: Annotated[Whole, Field(ge=0, lt=2**32)] = 0
    budget: Budget = Budget()
    lease_s: Annotated[PositiveNumber, Field(le=30 * 86400)] = 600
    max_attempts: Annotated[Whole, Field(ge=1, le=100)] = 3
    metadata: dict[str, Any] = {}


class StudyCreate(StudyDefinition):
    """Body of ``POST /v1/studies``."""

    if_exists: Literal["error", "load"] = "error"


# ---- ask and tell


class Ask(Input):
    """Body of ``POST …/ask``; an empty body asks for one point."""

    count: Annotated[Whole, Field(ge=1, le=32)] = 1
    worker: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    lease_s: Annotated[PositiveNumber, Field(le=30 * 86400)] | None = None
    wait_s: Annotated[NonNegativeNumber, Field(le=60)] = 30
    resume: StrictBool = True


def check_cost(outcome: Outcome, cost: float | None, costs: list[float] | None, std: float | None) -> None:
    """A completed trial has a cost or costs, another outcome none.

    Raises:
        PydanticCustomError: It is otherwise.
    """
    if outcome is Outcome.COMPLETED:
        if cost is None and costs is None:
            raise PydanticCustomError(
                COST_OF_OUTCOME,
                "a completed trial needs a finite cost (NaN often arrives as null): "
                "for a run without one, say outcome: failed",
            )
        if cost is not None and costs is not None:
            raise PydanticCustomError(COST_OF_OUTCOME, "give cost or costs, not both")
    elif cost is not None or costs is not None or std is not None:
        raise PydanticCustomError(COST_OF_OUTCOME, "an outcome of {outcome} has no cost", {"outcome": outcome.value})


def _listed(value: Any) -> Any:
    """A list of one as MATLAB writes it: without the list."""
    return [value] if isinstance(value, dict | int | float) and not isinstance(value, bool) else value


class Tell(Input):
    """Body of ``POST …/trials/{number}/tell``; ``{"cost": 0.44}`` is a whole one."""

    outcome: Outcome = Outcome.COMPLETED
    cost: Number | None = None
    costs: Annotated[list[Number], Field(min_length=1, max_length=10_000), BeforeValidator(_listed)] | None = None
    std: NonNegativeNumber | None = None
    point: Point | None = None
    reason: Annotated[str, Field(max_length=4096)] | None = None
    metrics: dict[str, Number] = {}
    metadata: dict[str, Any] = {}

    @model_validator(mode="after")
    def _cost_belongs_to_completed(self) -> Self:
        check_cost(self.outcome, self.cost, self.costs, self.std)
        return self


class OwnTrial(Input):
    """Body of ``POST …/trials``: a point of one's own. With a cost it is an observation, else it is queued to be run.

    An ``outcome`` of ``failed`` or ``abandoned`` is an observation without a cost. With ``skip_if_exists`` nothing is
    added if the study has a trial at the same point of the manifold; that one is the answer.
    """

    point: Point
    outcome: Literal["completed", "failed", "abandoned"] | None = None
    cost: Number | None = None
    costs: Annotated[list[Number], Field(min_length=1, max_length=10_000), BeforeValidator(_listed)] | None = None
    std: NonNegativeNumber | None = None
    reason: Annotated[str, Field(max_length=4096)] | None = None
    metrics: dict[str, Number] = {}
    metadata: dict[str, Any] = {}
    skip_if_exists: StrictBool = False

    @property
    def is_to_be_run(self) -> bool:
        """Whether nothing is known of the point yet."""
        return self.outcome is None and self.cost is None and self.costs is None and self.std is None

    @property
    def told(self) -> Tell:
        """What is known of the point."""
        outcome = Outcome(self.outcome or Outcome.COMPLETED)
        return Tell(outcome=outcome, **{name: getattr(self, name) for name in Tell.model_fields.keys() & TOLD_OF_OWN})

    @model_validator(mode="after")
    def _cost_belongs_to_completed(self) -> Self:
        if not self.is_to_be_run:
            check_cost(Outcome(self.outcome or Outcome.COMPLETED), self.cost, self.costs, self.std)
        return self


TOLD_OF_OWN = {"cost", "costs", "std", "reason", "metrics", "metadata"}
"""Fields of an ``OwnTrial`` that are told like those of any other trial."""


class OwnTrials(Input):
    """Body of ``POST …/trials/batch``: all are added, or none."""

    trials: Annotated[list[OwnTrial], Field(min_length=1, max_length=1000), BeforeValidator(_listed)]


class Points(Input):
    """Body of ``POST …/predict``."""

    points: Annotated[list[Point], Field(min_length=1, max_length=1000), BeforeValidator(_listed)]


class Heartbeat(Input):
    """Body of ``POST …/heartbeat``; an empty body extends the lease by as long as it was given for."""

    lease_s: Annotated[PositiveNumber, Field(le=30 * 86400)] | None = None


class FormQuery(Input):
    """In which form points are read and answered, where it is not that of the study's space."""

    representation: Literal["matrix", "quaternion"] | None = None
    order: Literal["wxyz", "xyzw"] | None = None
    unit: Literal["rad", "deg"] | None = None
    encoding: Literal["mandel", "voigt", "cholesky_lower"] | None = None
    model: Literal["lorentz", "poincare"] | None = None


class StudyChange(Input):
    """Body of ``PATCH /v1/studies/{study}``: what is there is changed. What defines a study never changes."""

    state: StudyState | None = None
    budget: Budget | None = None
    lease_s: Annotated[PositiveNumber, Field(le=30 * 86400)] | None = None
    metadata: dict[str, Any] | None = None


# ---- what the service answers


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
    are one, and of more than 1,500 the most informative are taken.
    """

    status: Literal["converged", "max_iterations", "subset"]
    note: str
    observations: int
    points: int
    nu: FiniteFloat | Literal["inf"]
    lengthscales: list[Lengthscale]
    noise_std: FiniteFloat
    prior_std: FiniteFloat
    mean: FiniteFloat
    calibration: Calibration


class StudyModel(Output):
    """Answer of ``GET …/model``; null while there is none."""

    model: FittedModel | None
