"""Bodies of several trials beside each other, in the order of trials, without axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.style import in_space, said
from geodrome.figures.subject import Subject

Array = NDArray[np.float64]

COLUMNS = 6
ACROSS, DOWN = 2.4, 2.9
"""From one body to the next, in half sizes of the largest one."""

WIDTH = 3.3
"""Of a row in space, where what fills the figure is about 1 wide."""

HIDDEN = {"visible": False, "showspikes": False}
CAMERA = {"projection": {"type": "orthographic"}, "eye": {"x": 0.3, "y": -2.0, "z": 0.5}}


def places(count: int, size: float) -> Array:
    """Where bodies of half that size have their centers: row by row, across and downwards."""
    index = np.arange(count)
    return np.stack([ACROSS * size * (index % COLUMNS), -DOWN * size * (index // COLUMNS)], axis=1)


def labels(subject: Subject, trials: Sequence[schemas.Trial]) -> list[str]:
    """Numbers of trials, with a word for the best."""
    return [f"{trial.number}, best" if trial == subject.best else f"{trial.number}" for trial in trials]


def scale_bar(size: float, unit: str | None) -> tuple[float, str]:
    """A length to compare with: the power of ten up to the size, in words, too."""
    length = 10.0 ** math.floor(math.log10(size)) if size > 0 else 1.0
    return length, said(f"{length:g} {unit or ''}".rstrip())


def extent(count: int, size: float) -> tuple[list[float], list[float]]:
    """Ranges across and down that hold the bodies with what is written below them."""
    rows, columns = max(math.ceil(count / COLUMNS), 1), max(min(count, COLUMNS), 1)
    size = size or 1.0
    return [-1.2 * size, (ACROSS * (columns - 1) + 1.2) * size], [-(DOWN * (rows - 1) + 1.8) * size, 1.2 * size]


def flat(figure: go.Figure, count: int, size: float) -> go.Figure:
    """The same figure of bodies in the plane, both axes alike."""
    across, down = extent(count, size)
    figure.update_xaxes(visible=False, range=across, constrain="domain")
    return figure.update_yaxes(visible=False, range=down, scaleanchor="x", constrain="domain")


def solid(figure: go.Figure, count: int, size: float) -> go.Figure:
    """The same figure of bodies in space, in the plane of x and z."""
    across, down = extent(count, size)
    ranges = {"x": across, "y": [-1.2 * (size or 1.0), 1.2 * (size or 1.0)], "z": down}
    lengths = {axis: ends[1] - ends[0] for axis, ends in ranges.items()}
    ratio = {axis: WIDTH * length / max(lengths.values()) for axis, length in lengths.items()}
    axes: dict[str, Any] = {f"{axis}axis": {**HIDDEN, "range": ends} for axis, ends in ranges.items()}
    return in_space(
        figure.update_layout(scene={"aspectmode": "manual", "aspectratio": ratio, "camera": CAMERA, **axes})
    )
