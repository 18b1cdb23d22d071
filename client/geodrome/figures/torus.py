"""One or two joints that turn without end, unrolled: the right edge is the left one."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome.figures.coordinates import HALF_TURN, wrapped
from geodrome.figures.curves import add_curve
from geodrome.figures.style import finite, numbers, with_unit
from geodrome.figures.subject import Subject, add_points
from geodrome.figures.reals import add_costs

Array = NDArray[np.float64]


def circle(subject: Subject) -> go.Figure:
    """Costs and model over one angle."""
    figure = subject.blank("one turn")
    scale = _scale(subject)
    if subject.field is not None:
        angles, mean, std = closed(
            numbers(subject.field.axes[0]), numbers(subject.field.mean), numbers(subject.field.std)
        )
        add_curve(figure, finite(scale * angles), finite(mean), finite(std), subject.theme)
    add_costs(figure, subject, lambda points: scale * points[:, 0])
    _axis(figure.update_xaxes, subject, "angle")
    return figure.update_yaxes(title_text=subject.cost_title)


def square(subject: Subject) -> go.Figure:
    """The model's mean over two angles, with the trials."""
    figure = subject.blank("one turn of each joint")
    scale = _scale(subject)
    if subject.field is not None:
        first, second = (numbers(axis) for axis in subject.field.axes)
        rows, mean, std = closed(first, numbers(subject.field.mean), numbers(subject.field.std))
        columns, mean, std = closed(second, mean.T, std.T)
        add_map(figure, scale * rows, scale * columns, mean, std)
    add_points(figure, subject, lambda points: scale * points)
    _axis(figure.update_xaxes, subject, "first angle")
    _axis(figure.update_yaxes, subject, "second angle")
    return figure.update_yaxes(scaleanchor="x", constrain="domain")


def closed(angles: Array, *values: Array) -> tuple[Array, ...]:
    """Angles from -pi to pi in order, and values over them, first axis outermost; the last is the first, once more."""
    starts, places = np.unique(np.round(_from_minus_half_turn(angles), 9), return_index=True)
    ends = np.append(starts, starts[0] + 2 * math.pi)
    return ends, *(np.concatenate([array[places], array[places[:1]]]) for array in values)


def add_map(figure: go.Figure, x: Array, y: Array, mean: Array, std: Array) -> None:
    """The model's mean as colours; rows of ``mean`` and ``std`` are those of y."""
    texts = [[f"model {m:.6g} ± {s:.2g}" for m, s in zip(*rows, strict=True)] for rows in zip(mean, std, strict=True)]
    figure.add_heatmap(
        x=finite(x), y=finite(y), z=finite(mean), coloraxis="coloraxis", name="model's mean", text=texts,
        hoverinfo="text", zsmooth="best", showlegend=False,
    )  # fmt: skip
