"""What a figure of one factor is drawn from, and the points that all such figures have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.coordinates import coordinates, read
from geodrome.figures.factors import Factor
from geodrome.figures.style import OKABE_ITO, SHADES, Shades, Theme, blank, colour_bar, finite, numbers, said, with_unit
from geodrome.figures.trials import MARKS, Goal, best, colour_range, costs, drawn, hover, in_state, spaced
from geodrome.schemas import TrialState

Array = NDArray[np.float64]

Placing = Callable[[Array], Array]
"""From coordinates of n points, first axis outermost, to n rows of two or three numbers in the figure."""

WITHOUT_COST = (TrialState.FAILED, TrialState.ABANDONED)
"""Drawn where they are, too: they say something about their points. Lost trials do not."""

MARKED = 200


@dataclass(frozen=True)
class Subject:
    """One factor of a study.

    Attributes:
        record: The study.
        factor: Which factor.
        trials: All trials.
        at: The point that the model recommends, in the space's own form; None while there is no model.
        field: The model over the factor, if it has one.
        theme: Of the figure.
    """

    record: schemas.Study
    factor: Factor
    trials: Sequence[schemas.Trial]
    at: schemas.Point | None
    field: schemas.Field | None
    theme: Theme

    @property
    def spec(self) -> Any:
        """The factor's manifold."""
        return self.factor.spec

    @property
    def goal(self) -> Goal:
        """What is good."""
        return self.record.objective.goal

    @property
    def shades(self) -> Shades:
        """Greys of the theme."""
        return SHADES[self.theme]

    @property
    def cost_title(self) -> str:
        """Of an axis of costs."""
        return with_unit(self.record.objective.name, self.record.objective.unit)

    @cached_property
    def completed(self) -> list[schemas.Trial]:
        """Trials with costs, of very many some."""
        return drawn(self.trials)

    @cached_property
    def costs(self) -> list[float]:
        """Their costs."""
        return [float(cost) for cost in costs(self.completed)]

    @cached_property
    def best(self) -> schemas.Trial | None:
        """The trial with the best cost."""
        return best(self.trials, self.goal)

    @cached_property
    def recommended(self) -> Array | None:
        """Coordinates of ``at``."""
        return None if self.at is None else read(self.spec, self.factor.of(self.at))

    def points(self, trials: Sequence[schemas.Trial]) -> Array:
        """Coordinates of trials, first axis outermost."""
        return np.array([coordinates(self.factor, trial.point, trial.form) for trial in trials])

    def hovers(self, trials: Sequence[schemas.Trial], *lines: str) -> list[str]:
        """What is said of each trial."""
        return [hover(trial, self.record.objective.unit, *lines) for trial in trials]

    def blank(self, what: str) -> go.Figure:
        """A figure with a title and the colours of costs, but no data."""
        name = "" if self.factor.name is None else f"{self.factor.name}, "
        figure = blank(said(f"{self.record.name}: {name}{what}"), self.theme)
        values = costs(self.completed)
        if self.field is not None:
            mean = numbers(self.field.mean)
            values = np.concatenate([values, mean[np.isfinite(mean)]])
        low, high = colour_range(values)
        title = f"{self.cost_title}: trials and model" if self.field is not None else self.cost_title
        return figure.update_layout(
            coloraxis={"colorscale": "Viridis", "cmin": low, "cmax": high, "colorbar": colour_bar(title)}
        )


def add_points(figure: go.Figure, subject: Subject, placing: Placing) -> None:
    """All trials that say something about their points, the best of them, and the recommended point."""
    outline = {"width": 1, "color": "#ffffff"}
    if subject.completed:
        _add(
            figure, placing(subject.points(subject.completed)), "trials", subject.hovers(subject.completed),
            {"color": finite(costs(subject.completed)), "coloraxis": "coloraxis", "size": 8, "line": outline},
        )  # fmt: skip
    for state in WITHOUT_COST:
        every = in_state(subject.trials, state)
        some = [every[place] for place in spaced(len(every), MARKED)]
        if some:
            _add(figure, placing(subject.points(some)), state.value, subject.hovers(some), MARKS[state])
    if subject.best is not None:
        ring = {"symbol": "circle-open", "size": 17, "color": OKABE_ITO["vermillion"], "line": {"width": 3}}
        _add(figure, placing(subject.points([subject.best])), "best trial", subject.hovers([subject.best]), ring)
    if subject.recommended is not None:
        mark = {"symbol": "diamond", "size": 11, "color": OKABE_ITO["purple"], "line": outline}
        _add(figure, placing(subject.recommended[np.newaxis]), "recommended", ["recommended"], mark)


def _add(figure: go.Figure, places: Array, name: str, texts: list[str], marker: dict[str, Any]) -> None:
    shared = {"mode": "markers", "name": name, "text": texts, "hoverinfo": "text"}
    x, y, *z = (finite(column) for column in places.T)
    if z:
        # In space an x is a glyph that many fonts lack, and sizes are felt to be larger.
        symbol = "cross" if marker.get("symbol") == "x" else marker.get("symbol", "circle")
        marker = {**marker, "symbol": symbol, "size": 0.75 * marker["size"]}
        figure.add_scatter3d(x=x, y=y, z=z[0], marker=marker, **shared)
    else:
        figure.add_scatter(x=x, y=y, marker=marker, **shared)
