"""The bodies that clients write. All of them have defaults, and unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from geodrome.schemas.definition import Budget
from geodrome.schemas.values import (
    COST_OF_OUTCOME,
    Input,
    NonNegativeNumber,
    Outcome,
    Point,
    PositiveNumber,
    StudyState,
)
from geodrome.spaces import Number, Whole


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
