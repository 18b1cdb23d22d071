"""The model along geodesics through the recommended point, in small multiples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from geodrome import schemas
from geodrome.figures.coordinates import coordinates
from geodrome.figures.distances import diameter, distances
from geodrome.figures.factors import Factor, factors
from geodrome.figures.style import OKABE_ITO, SHADES, Theme, blank, said, transparent, with_unit
from geodrome.figures.trials import drawn, hover

COLUMNS = 3
ROW_PX = 240
NEAR = 0.1


def slices(
    record: schemas.Study,
    views: schemas.Views,
    trials: Sequence[schemas.Trial] = (),
    *,
    near: float = NEAR,
    theme: Theme = "light",
) -> go.Figure:
    """Mean and two standard deviations of the model along geodesics; the recommended point is at 0.

    Args:
        record: The study.
        views: What ``GET …/views`` answered.
        trials: Observations, drawn at the place of the geodesic that is nearest to them.
        near: How far off an observation may be in each factor, as a share of the factor's diameter.
        theme: Light or dark.
    """
    parts = factors(record.space)
    count = max(len(views.slices), 1)
    columns = min(COLUMNS, count)
    rows = math.ceil(count / columns)
    figure = make_subplots(
        rows, columns, figure=blank(f"Model of {record.name} about the recommended point", theme),
        shared_yaxes="all", subplot_titles=[_title(item) for item in views.slices] or [""],
        horizontal_spacing=0.05, vertical_spacing=0.32 / rows,
    )  # fmt: skip
    units = {factor.name: _unit(factor) for factor in parts}
    for place, item in enumerate(views.slices):
        cell = {"row": place // columns + 1, "col": place % columns + 1}
        _add_model(figure, item, theme, cell, is_first=place == 0)
        _add_near(figure, item, parts, drawn(trials), record.objective.unit, near, cell)
        figure.add_vline(0, line={"dash": "dot", "width": 1, "color": SHADES[theme].ink}, **cell)
        figure.update_xaxes(title_text=with_unit("distance", units.get(item.factor)), **cell)
    figure.update_yaxes(title_text=with_unit(record.objective.name, record.objective.unit), col=1)
    figure.update_layout(height=120 + ROW_PX * rows, legend_y=1 + 50 / (ROW_PX * rows), hovermode="closest")
    if not views.slices:
        say_empty(figure, "no model yet")
    return figure


def say_empty(figure: go.Figure, text: str) -> None:
    """Says why there is nothing to see."""
    figure.add_annotation(text=text, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)


def _title(item: schemas.Slice) -> str:
    return said(f"{item.factor}, geodesic {item.axis}" if item.factor else f"geodesic {item.axis}")


def _add_model(figure: go.Figure, item: schemas.Slice, theme: Theme, cell: dict[str, int], *, is_first: bool) -> None:
    mean, std, line = np.array(item.mean), np.array(item.std), SHADES[theme].line
    figure.add_scatter(
        x=[*item.distances, *reversed(item.distances)],
        y=[*(mean + 2 * std), *(mean - 2 * std)[::-1]],
        mode="lines", line_width=0, fill="toself", fillcolor=transparent(line, 0.2),
        name="± 2 standard deviations", legendgroup="band", showlegend=is_first, hoverinfo="skip", **cell,
    )  # fmt: skip
    figure.add_scatter(
        x=item.distances, y=item.mean, mode="lines", line={"color": line, "width": 2},
        name="mean", legendgroup="mean", showlegend=is_first, hoverinfo="text", **cell,
        text=[f"{m:.6g} ± {s:.2g}<br>at {d:.3g}" for d, m, s in zip(item.distances, item.mean, item.std, strict=True)],
    )  # fmt: skip


def _add_near(
    figure: go.Figure,
    item: schemas.Slice,
    parts: list[Factor],
    trials: Sequence[schemas.Trial],
    unit: str | None,
    near: float,
    cell: dict[str, int],
) -> None:
    found = _near(item, parts, trials, near) if trials else []
    if found:
        figure.add_scatter(
            x=[item.distances[place] for _, place in found],
            y=[trial.cost for trial, _ in found],
            mode="markers",
            marker={"color": OKABE_ITO["green"], "size": 7, "opacity": 0.8},
            name="observations near",
            legendgroup="near",
            showlegend=not any(trace.legendgroup == "near" for trace in figure.data),
            text=[hover(trial, unit) for trial, _ in found],
            hoverinfo="text",
            **cell,
        )


def _near(
    item: schemas.Slice, parts: list[Factor], trials: Sequence[schemas.Trial], near: float
) -> list[tuple[schemas.Trial, int]]:
    """Trials that are near the geodesic in every factor, each with the place on it that is nearest."""
    moving, off = np.zeros((len(item.points), len(trials))), np.zeros(len(trials))
    for factor in parts:
        path = np.array([coordinates(factor, point) for point in item.points])
        points = np.array([coordinates(factor, trial.point, trial.form) for trial in trials])
        if np.ptp(path, axis=0).any():
            moving += [distances(factor.spec, place, points) / diameter(factor.spec) for place in path]
        else:
            off = np.maximum(off, distances(factor.spec, path[0], points) / diameter(factor.spec))
    off = np.maximum(off, moving.min(0))
    return [(trials[index], int(moving[:, index].argmin())) for index in np.flatnonzero(off <= near)]
