"""A study that is carried: what ``GET …/export`` writes and ``POST /v1/studies/import`` reads, whole."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt

from geodrome.schemas import (
    Input,
    NonNegativeNumber,
    Origin,
    Point,
    PositiveNumber,
    StudyDefinition,
    StudyState,
    Tell,
    TrialState,
)
from geodrome.spaces import Number

LARGEST_COUNT = 2**31 - 1

Count = Annotated[StrictInt, Field(ge=0, le=LARGEST_COUNT)]
Ordinal = Annotated[StrictInt, Field(ge=1, le=LARGEST_COUNT)]


def _exists(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"), AfterValidator(_exists)]
"""RFC 3339 in UTC with microseconds, always in the same form, so that equal studies are equal bytes."""


class PortableCounts(Input):
    """Trials by state."""

    queued: Count
    running: Count
    completed: Count
    failed: Count
    lost: Count
    abandoned: Count


class PortableDefinition(StudyDefinition):
    """The study itself, with what follows from its trials and events: an importer counts again."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    state: StudyState
    created_at: Moment
    counts: PortableCounts
    last_event: Count


class Hyperparameters(BaseModel):
    """Those of a model, as its suggestions keep them; engines may add others."""

    model_config = ConfigDict(extra="allow")

    lengthscales: dict[str, PositiveNumber | list[PositiveNumber]]
    outputscale: PositiveNumber
    noise: PositiveNumber
    nu: PositiveNumber | Literal["inf"]


class NoHyperparameters(Input):
    """Of a point that no model has suggested."""


class Recipe(BaseModel):
    """What computes a suggestion again from the events up to ``after_event``; engines may add to it."""

    model_config = ConfigDict(extra="allow")

    seed: Annotated[StrictInt, Field(ge=0, lt=2**32)]
    count: Annotated[StrictInt, Field(ge=1, le=1000)]
    index: Count
    after_event: Count
    start: Hyperparameters | None
    hyperparameters: NoHyperparameters | Hyperparameters


class PortableCorrection(Input):
    """What was mended in a point."""

    pointer: str
    detail: str
    deviation: Number


class PortableTrial(Input):
    """A trial, with everything that a study needs to go on from it."""

    number: Ordinal
    state: TrialState
    attempt: Ordinal
    retry_of: Ordinal | None
    first_attempt: Ordinal
    point: Point
    suggested_point: Point
    origin: Origin
    recipe: Recipe | None
    created_at: Moment
    worker: Annotated[str, Field(min_length=1, max_length=128)] | None
    asked_at: Moment | None
    lease_s: PositiveNumber | None
    lease_expires_at: Moment | None
    told_at: Moment | None
    told: Tell | None
    cost: Number | None
    std: NonNegativeNumber | None
    values: Annotated[list[Number], Field(min_length=1, max_length=10_000)] | None
    reason: Annotated[str, Field(max_length=10_000)] | None
    metrics: dict[str, Number]
    metadata: dict[str, Any]
    corrections: list[PortableCorrection]
    flags: list[Literal["late", "outside_domain", "outlier"]]


class PortableEvent(Input):
    """A change of the study, or of one of its trials."""

    position: Ordinal
    number: Ordinal | None
    at: Moment
    kind: Annotated[str, Field(pattern=r"^[a-z_]+$", max_length=16)]
    details: dict[str, Any]


class PortableStudy(Input):
    """A whole study."""

    format: Literal["geodrome-study"]
    version: Literal[1]
    study: PortableDefinition
    trials: list[PortableTrial]
    events: list[PortableEvent]
