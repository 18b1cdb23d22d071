"""What the simulated tasks have in common: a cost that is a weighted sum of terms, and all that they say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, ClassVar

from geodrome_robots.points import parse_space, point_faults
from geodrome_robots.robot import Measurement, Robot
from geodrome_robots.stop import Stop


@dataclass(frozen=True)
class Outcome:
    """What came out of one simulated run.

    Attributes:
        terms: The terms of the cost, each under its name.
        metrics: Further numbers worth keeping, with the unit in the name.
    """

    terms: Mapping[str, float]
    metrics: Mapping[str, float] = field(default_factory=dict)


class Task(Robot):
    """A simulated robot. Its cost is the sum of its terms, each times its weight; it is deterministic to the bit.

    Args:
        weights: Name of a weighting of ``weightings``; the first of them if it is None.

    Attributes:
        name: What the task is called.
        version: Changes whenever a point comes to cost something else.
        model: Which robot is simulated.
        simulator: The distribution that simulates it, whose version is told.
        parameters: Meaning, unit and frame of each parameter.
        terms: Meaning and unit of each term.
        weightings: Weights of the terms, under the name of the weighting.
        settings: Whatever else defines the task, with the unit in the name.
    """

    version: ClassVar[str] = "1"
    model: ClassVar[str]
    simulator: ClassVar[str] = "roboticstoolbox-python"
    parameters: ClassVar[Mapping[str, Any]]
    terms: ClassVar[Mapping[str, str]]
    weightings: ClassVar[Mapping[str, Mapping[str, float]]]
    settings: ClassVar[Mapping[str, Any]]

    def __init__(self, weights: str | None = None) -> None:
        self.weighting = next(iter(self.weightings)) if weights is None else weights
        if self.weighting not in self.weightings:
            raise ValueError(f"{self.name} has the weightings {', '.join(self.weightings)}, not {weights!r}")
        self.weights = self.weightings[self.weighting]

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """One run at a point of the space.

        Raises:
            Infeasible: The robot cannot do what the point wants.
            RobotFault: The simulation broke.
        """
        raise NotImplementedError

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """One run and what it costs; see ``Robot.evaluate``.

        Raises:
            ValueError: ``point`` is none of the space.
        """
        del seed
        if faults := point_faults(parse_space(self.space), point):
            raise ValueError("; ".join(f"the point of {self.name} {fault}" for fault in faults))
        outcome = self.simulate(point, stop)
        cost = sum(weight * outcome.terms[name] for name, weight in self.weights.items())
        return Measurement(cost, metrics={**outcome.terms, **outcome.metrics})

    def describe(self) -> dict[str, Any]:
        """What defines the task."""
        return {
            "name": self.name,
            "version": self.version,
            "model": self.model,
            "simulator": f"{self.simulator} {version(self.simulator)}",
            "parameters": dict(self.parameters),
            "cost": {
                "meaning": "the sum of the terms, each times its weight",
                "unit": None,
                "weighting": self.weighting,
                "weights": dict(self.weights),
                "terms": dict(self.terms),
            },
            **self.settings,
            "deterministic": True,
        }
