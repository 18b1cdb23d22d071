"""What a run gave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from geodrome.schemas import Outcome

from geodrome_robots.robot import Measurement


@dataclass(frozen=True)
class Finished:
    """What became of one trial. ``measurement`` belongs to a completed one, ``reason`` to the others."""

    number: int
    point: Any
    outcome: Outcome
    measurement: Measurement | None = None
    reason: str = ""


@dataclass(frozen=True)
class Noise:
    """What a robot measured at one point, twice, with another point in between.

    Attributes:
        point: Where.
        first: The cost at first.
        again: The cost after the other point.
    """

    point: Any
    first: float
    again: float

    @property
    def std(self) -> float:
        """What the two say about the standard deviation of a single measurement; two say little."""
        return abs(self.first - self.again) / math.sqrt(2)


@dataclass(frozen=True)
class Report:
    """What a run gave.

    Attributes:
        trials: In the order they ended.
        interrupted: Whether the operator broke it off.
        noise: What a second measurement of a point gave; None where none was made.
    """

    trials: tuple[Finished, ...] = ()
    interrupted: bool = False
    noise: Noise | None = None

    @property
    def best(self) -> Finished | None:
        """The trial with the lowest cost, the first of equals; None if none has a cost."""
        costs = [(trial.measurement.cost, trial) for trial in self.trials if trial.measurement is not None]
        return min(costs, key=lambda pair: pair[0])[1] if costs else None

    def count(self, outcome: Outcome) -> int:
        """How many trials ended like this."""
        return sum(trial.outcome is outcome for trial in self.trials)
