"""The definition of a study: written by clients, echoed by the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from geodrome.schemas.values import Input, Name, Point, PositiveNumber
from geodrome.spaces import Number, Space, Whole


class Objective(Input):
    """What is optimized. Costs are always answered as they were told, whatever the goal."""

    name: Annotated[str, Field(max_length=256)] = "cost"
    goal: Literal["minimize", "maximize"] = "minimize"
    unit: str | None = None


def _usual_nu(given: dict[str, Any]) -> Literal["inf", "learn"]:
    return "inf" if given.get("type") == "geodesic_se" else "learn"


class Kernel(Input):
    """Covariance of the model: Matérn of smoothness ``nu``.

    ``matern`` is that of the space's own geometry. ``auto``, the default, is the same, but with hyperbolic factors and
    affine-invariant matrices it is ``flat_matern``, until the costs speak for the other. ``flat_matern`` takes
    hyperbolic points in Poincaré's ball and affine-invariant matrices as their logarithms; other factors keep their own
    kernels.

    ``"learn"``, the default, finds the smoothness from the costs; ``"inf"`` is the heat (squared exponential) kernel.

    The other types are baselines to compare with: ``euclidean_matern`` takes a point's numbers as they are, hyperbolic
    ones in Poincaré's ball, ``cholesky_matern`` those of Cholesky factors, and ``geodesic_se``, whose ``nu`` is
    ``"inf"``, is the squared exponential of the geodesic distance.
    """

    type: Literal["auto", "matern", "flat_matern", "euclidean_matern", "geodesic_se", "cholesky_matern"] = "auto"
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
