"""Trials as figures need them: which there are, which of very many are drawn, and what is said of each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.style import OKABE_ITO, said
from geodrome.schemas import TrialState

Goal = Literal["minimize", "maximize"]

DRAWN = 2000
"""Points in a figure, at most: a browser turns so many smoothly."""

MARKS: Final[dict[TrialState, dict[str, Any]]] = {
    TrialState.FAILED: {"symbol": "x", "color": OKABE_ITO["vermillion"], "size": 8},
    TrialState.ABANDONED: {"symbol": "square-open", "color": OKABE_ITO["purple"], "size": 8},
    TrialState.LOST: {"symbol": "circle-open", "color": OKABE_ITO["orange"], "size": 7},
}
"""Of trials without a cost."""


def in_state(trials: Sequence[schemas.Trial], state: TrialState) -> list[schemas.Trial]:
    """Those that are in the state, by number."""
    return sorted((trial for trial in trials if trial.state is state), key=lambda trial: trial.number)


def completed(trials: Sequence[schemas.Trial]) -> list[schemas.Trial]:
    """Those with a cost, by number."""
    return [trial for trial in in_state(trials, TrialState.COMPLETED) if trial.cost is not None]


def costs(trials: Sequence[schemas.Trial]) -> NDArray[np.float64]:
    """Costs of completed trials."""
    return np.array([trial.cost for trial in trials], dtype=np.float64)


def best(trials: Sequence[schemas.Trial], goal: Goal) -> schemas.Trial | None:
    """The first of the completed trials with the best cost."""
    found = completed(trials)
    if not found:
        return None
    values = costs(found)
    return found[int(values.argmin() if goal == "minimize" else values.argmax())]


def improvements(values: NDArray[np.float64], goal: Goal) -> NDArray[np.intp]:
    """Where a value is better than all before it; the first one is."""
    signed = values if goal == "minimize" else -values
    before = np.concatenate([[np.inf], np.minimum.accumulate(signed)[:-1]])
    return np.flatnonzero(signed < before)


def thinned(values: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Places of at most ``count`` of the values, in order: the least and the largest of each of equal stretches."""
    if len(values) <= count:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), count // 2 + 1).astype(int).tolist()
    kept = {
        start + int(place)
        for start, end in pairwise(edges)
        for place in (values[start:end].argmin(), values[start:end].argmax())
    }
    return np.array(sorted(kept))


def spaced(count: int, kept: int) -> NDArray[np.intp]:
    """Places of at most ``kept`` of ``count`` things, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, kept)).round().astype(int)) if count else np.arange(0)


def chosen(trials: Sequence[schemas.Trial], goal: Goal, count: int) -> list[schemas.Trial]:
    """At most ``count`` completed trials, evenly spaced, with the best among them."""
    found, top = completed(trials), best(trials, goal)
    some = [found[place] for place in spaced(len(found), count)]
    if top is not None and top not in some:
        nearest = min(range(len(some)), key=lambda place: abs(some[place].number - top.number))
        some[nearest] = top
    return some


def drawn(trials: Sequence[schemas.Trial]) -> list[schemas.Trial]:
    """The completed trials to draw: all, or of very many those with the extreme costs of each stretch."""
    found = completed(trials)
    return [found[place] for place in thinned(costs(found), DRAWN)]


def hover(trial: schemas.Trial, unit: str | None, *lines: str) -> str:
    """What is said of a trial under the pointer: number and cost, or what became of it."""
    head = f"trial {trial.number}"
    if trial.cost is not None:
        text = f"cost {trial.cost:.6g} {unit or ''}".rstrip()
    else:
        text = f"{trial.state.value}: {trial.reason}" if trial.reason else trial.state.value
    flags = [flag.replace("_", " ") for flag in trial.flags]
    return "<br>".join([head, said(text), *flags, *lines])


def colour_range(values: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of a colour scale, which the tails of many costs do not stretch."""
    if not len(values):
        return 0.0, 1.0
    ends = np.quantile(values, [0.02, 0.98]) if len(values) >= 25 else np.array([values.min(), values.max()])
    return float(ends[0]), float(ends[1])
