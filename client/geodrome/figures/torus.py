"""One or two joints that turn without end, unrolled: the right edge is the left one."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome.figures.coordinates import HALF_TURN, wrapped
from geodrome.figures.curves import add_curve, readable
from geodrome.figures.reals import add_costs, add_map
from geodrome.figures.style import finite, numbers
from geodrome.figures.subject import Subject, add_points

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
        figure.update_yaxes(range=readable(finite(mean), finite(std), shown=subject.costs))
    add_costs(figure, subject, lambda points: scale * points[:, 0])
    figure.update_xaxes(**_turn(subject, "angle"))
    return figure.update_yaxes(title_text=subject.cost_title)


def square(subject: Subject) -> go.Figure:
    """The model's mean over two angles, with the trials."""
    figure = subject.blank("one turn of each joint")
    scale = _scale(subject)
    if subject.field is not None:
        first, second = (numbers(axis) for axis in subject.field.axes)
        x, mean, std = closed(first, numbers(subject.field.mean), numbers(subject.field.std))
        y, mean, std = closed(second, mean.T, std.T)
        add_map(figure, scale * x, scale * y, mean, std)
    add_points(figure, subject, lambda points: scale * points)
    figure.update_xaxes(**_turn(subject, "first angle"), constrain="domain")
    return figure.update_yaxes(**_turn(subject, "second angle"), scaleanchor="x", constrain="domain")


def closed(angles: Array, *values: Array) -> tuple[Array, ...]:
    """Angles from -pi to pi in order, and values over them, first axis outermost; the last is the first, once more."""
    # From the other side: -pi comes first, and what is both ends becomes one.
    starts, places = np.unique(np.round(-wrapped(-angles), 9), return_index=True)
    ends = np.append(starts, starts[0] + 2 * math.pi)
    return ends, *(np.concatenate([array[places], array[places[:1]]]) for array in values)


def _scale(subject: Subject) -> float:
    """The study's unit in a radian."""
    return HALF_TURN[subject.spec.unit] / math.pi


def _turn(subject: Subject, name: str) -> dict[str, object]:
    """An axis of one whole turn."""
    half, unit = HALF_TURN[subject.spec.unit], subject.spec.unit
    ticks = [-half, -half / 2, 0, half / 2, half]
    texts = ["−π", "−π/2", "0", "π/2", "π"] if unit == "rad" else [f"{tick:g}".replace("-", "−") for tick in ticks]
    return {"title_text": f"{name}, {unit}", "range": [-half, half], "tickvals": ticks, "ticktext": texts}
