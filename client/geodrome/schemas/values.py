"""What several bodies are made of: numbers and names, the states of studies and trials, both kinds of bodies."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from geodrome.spaces import Number

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
