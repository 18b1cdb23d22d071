"""Which of a study's trials the figure of its convergence draws: it is told by their numbers, states and costs alone.

So nobody needs to read very many trials in full to draw some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.trials import DRAWN, MARKS, Goal, improvements, spaced, thinned
from geodrome.schemas import TrialState

STEPS = 700
MARKED = 100
COSTS = DRAWN - STEPS - MARKED * len(MARKS) - 100
"""How the points of a figure are shared out: steps, trials without a cost by state, costs, and a rest for the model."""


@dataclass(frozen=True)
class Outline:
    """All trials of a study, by number.

    Attributes:
        numbers: (n,) rising.
        states: (n,) names of states.
        costs: (n,) with NaN where there is none.
    """

    numbers: NDArray[np.intp]
    states: NDArray[np.str_]
    costs: NDArray[np.float64]


@dataclass(frozen=True)
class Chosen:
    """Numbers of the trials that are drawn.

    Attributes:
        costs: As points: of each stretch those with the least and the largest cost.
        steps: As the corners of the best so far.
        marked: As marks in the strip below, by state; only states that there are.
        last: The largest number of all trials, 1 without any.
    """

    costs: list[int]
    steps: list[int]
    marked: dict[TrialState, list[int]]
    last: int

    @property
    def numbers(self) -> list[int]:
        """All of them, each once."""
        return sorted({*self.costs, *self.steps, *(number for some in self.marked.values() for number in some)})


def outline(rows: Iterable[tuple[int, str, float | None]]) -> Outline:
    """The outline of trials of which number, state and cost are known, in any order."""
    every = list(rows)
    numbers = np.array([number for number, _, _ in every], dtype=np.intp)
    states = np.array([state for _, state, _ in every], dtype=np.str_)
    costs = np.array([cost for _, _, cost in every], dtype=np.float64)
    order = np.argsort(numbers)
    return Outline(numbers[order], states[order], costs[order])


def outline_of(trials: Sequence[schemas.Trial]) -> Outline:
    """The outline of trials."""
    return outline([(trial.number, trial.state.value, trial.cost) for trial in trials])


def choose(found: Outline, goal: Goal) -> Chosen:
    """The trials that are drawn, at most 2,000 of however many."""
    is_completed = (found.states == TrialState.COMPLETED.value) & ~np.isnan(found.costs)
    numbers, costs = found.numbers[is_completed], found.costs[is_completed]
    steps = improvements(costs, goal) if len(costs) else np.arange(0)
    marked = {}
    for state in MARKS:
        some = found.numbers[found.states == state.value]
        if len(some):
            marked[state] = some[spaced(len(some), MARKED)].tolist()
    return Chosen(
        costs=numbers[thinned(costs, COSTS)].tolist(),
        # Of more steps than can be told apart, some.
        steps=numbers[steps[spaced(len(steps), STEPS - 1)]].tolist(),
        marked=marked,
        last=int(found.numbers[-1]) if len(found.numbers) else 1,
    )
