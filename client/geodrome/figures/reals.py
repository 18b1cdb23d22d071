"""Numbers: one over a line, two over a map, three in space, and more side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from geodrome import schemas
from geodrome.figures.coordinates import HALF_TURN
from geodrome.figures.curves import add_curve, readable
from geodrome.figures.style import OKABE_ITO, above, finite, in_space, numbers, said_by_model, with_unit
from geodrome.figures.subject import Subject, add_points
from geodrome.spaces import Joints, Torus

Array = NDArray[np.float64]

COLUMNS = 4
ROW_PX = 220


def line(subject: Subject) -> go.Figure:
    """Costs and model over one number."""
    figure = subject.blank("costs")
    if subject.field is not None:
        add_curve(figure, subject.field.axes[0], subject.field.mean, subject.field.std, subject.theme)
        figure.update_yaxes(range=readable(subject.field.mean, subject.field.std, shown=subject.costs))
    add_costs(figure, subject, lambda points: points[:, 0])
    figure.update_xaxes(**_axis(subject, "value"))
    return figure.update_yaxes(title_text=subject.cost_title)


def plane(subject: Subject) -> go.Figure:
    """The model's mean over two numbers, with the trials."""
    figure = subject.blank("both numbers")
    add_field(figure, subject.field)
    add_points(figure, subject, lambda points: points)
    figure.update_xaxes(**_axis(subject, "first"))
    return figure.update_yaxes(**_axis(subject, "second"))


def space(subject: Subject) -> go.Figure:
    """Vectors of three numbers as points of space; angles of joints have no x, y and z."""
    figure = subject.blank("points")
    add_points(figure, subject, lambda points: points)
    names = ("[0]", "[1]", "[2]") if isinstance(subject.spec, Joints) else "xyz"
    axes = {f"{axis}axis": _scene_axis(subject, name) for axis, name in zip("xyz", names, strict=True)}
    return in_space(figure.update_layout(scene={"aspectmode": "cube", **axes}))


def side_by_side(subject: Subject) -> go.Figure:
    """Costs over each number of a vector, or each angle."""
    figure = subject.blank("costs over each number")
    points = subject.points(subject.completed)
    size = points.shape[1] if len(points) else 1
    if isinstance(subject.spec, Torus):
        points = points * (HALF_TURN[subject.spec.unit] / math.pi)
    columns = min(COLUMNS, size)
    rows = math.ceil(size / columns)
    figure = make_subplots(
        rows, columns, figure=figure, shared_yaxes="all", horizontal_spacing=0.03, vertical_spacing=0.3 / rows
    )
    values = finite(trial.cost for trial in subject.completed)
    for place in range(size):
        cell = {"row": place // columns + 1, "col": place % columns + 1}
        figure.add_scatter(
            x=finite(points[:, place]) if len(points) else [], y=values, mode="markers", showlegend=False,
            marker={"color": values, "coloraxis": "coloraxis", "size": 7,
                    "line": {"width": 1, "color": subject.shades.faint}}, name=f"{place + 1}",
            text=subject.hovers(subject.completed), hoverinfo="text", **cell,
        )  # fmt: skip
        figure.update_xaxes(**_axis(subject, f"[{place}]"), **cell)
    figure.update_yaxes(title_text=subject.cost_title, col=1)
    return above(figure, ROW_PX * rows)


def add_costs(figure: go.Figure, subject: Subject, along: Callable[[Array], Array]) -> None:
    """The trials' costs over the numbers that ``along`` gives for coordinates; the recommended point as a line."""
    some = subject.completed
    if some:
        figure.add_scatter(
            x=finite(along(subject.points(some))), y=finite(trial.cost for trial in some), mode="markers",
            name="trials", marker={"color": OKABE_ITO["green"], "size": 8, "opacity": 0.8},
            text=subject.hovers(some), hoverinfo="text",
        )  # fmt: skip
    if subject.recommended is not None:
        place = float(along(subject.recommended[np.newaxis])[0])
        figure.add_vline(place, line={"dash": "dot", "color": subject.shades.ink, "width": 1})
        is_log = getattr(subject.spec, "scale", "linear") == "log"
        # Annotations want the exponent, where lines want the value.
        figure.add_annotation(
            x=math.log10(place) if is_log else place, y=1, yref="paper", xanchor="left", yanchor="top",
            text="recommended", showarrow=False,
        )  # fmt: skip


def add_field(figure: go.Figure, field: schemas.Field | None) -> None:
    """The model over two coordinates as they are, if there is one."""
    if field is not None:
        x, y = (numbers(axis) for axis in field.axes)
        add_map(figure, x, y, numbers(field.mean).T, numbers(field.std).T)


def add_map(figure: go.Figure, x: Array, y: Array, mean: Array, std: Array) -> None:
    """The model's mean as colours; rows of ``mean`` and ``std`` are those of y."""
    figure.add_heatmap(
        x=finite(x), y=finite(y), z=finite(mean), coloraxis="coloraxis", name="model's mean",
        text=said_by_model(mean, std), hoverinfo="text", showlegend=False,
    )  # fmt: skip


def _axis(subject: Subject, name: str) -> dict[str, Any]:
    return {"title_text": with_unit(name, subject.spec.unit), "type": getattr(subject.spec, "scale", "linear")}


def _scene_axis(subject: Subject, name: str) -> dict[str, Any]:
    axis = _axis(subject, name)
    return {"title": {"text": axis["title_text"]}, "type": axis["type"]}
