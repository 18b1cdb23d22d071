"""The model along geodesics through the recommended point, in small multiples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from geodrome import schemas
from geodrome.figures.coordinates import coordinates
from geodrome.figures.curves import add_curve, readable
from geodrome.figures.distances import diameter, distances, natural, unit
from geodrome.figures.factors import Factor, factors
from geodrome.figures.style import OKABE_ITO, SHADES, Theme, above, blank, finite, said, with_unit
from geodrome.figures.trials import drawn, hover

COLUMNS = 3
ROW_PX = 250
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
        views: What ``GET …/views`` answered, in the space's own form.
        trials: Observations, of which those near a geodesic are drawn, at the place on it that is nearest.
        near: How far off one may be in each factor, as a share of the factor's diameter.
        theme: Light or dark.
    """
    figure = blank(said(f"Model of {record.name} about the recommended point"), theme)
    if not views.slices:
        return figure.add_annotation(text="no model yet", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    columns = min(COLUMNS, len(views.slices))
    rows = math.ceil(len(views.slices) / columns)
    figure = make_subplots(
        rows, columns, figure=figure, shared_yaxes="all", subplot_titles=[_title(item) for item in views.slices],
        horizontal_spacing=0.04, vertical_spacing=0.36 / rows,
    )  # fmt: skip
    parts = {factor.name: factor for factor in factors(record.space)}
    observed = drawn(trials)
    found = [_near(item, list(parts.values()), observed, near) for item in views.slices]
    for place, item in enumerate(views.slices):
        spec = parts[item.factor].spec
        cell = {"row": place // columns + 1, "col": place % columns + 1}
        x = [natural(spec, distance) for distance in item.distances]
        add_curve(figure, x, item.mean, item.std, theme, in_legend=place == 0, **cell)
        figure.add_scatter(
            x=[x[index] for _, index in found[place]], y=finite(trial.cost for trial, _ in found[place]),
            mode="markers", marker={"color": OKABE_ITO["green"], "size": 7, "opacity": 0.8}, hoverinfo="text",
            text=[hover(trial, record.objective.unit) for trial, _ in found[place]], name="observations near",
            legendgroup="near", showlegend=place == 0 and any(found), **cell,
        )  # fmt: skip
        figure.add_vline(0, line={"dash": "dot", "width": 1, "color": SHADES[theme].ink}, **cell)
        figure.update_xaxes(title_text=with_unit("distance", unit(spec)), **cell)
    figure.update_yaxes(title_text=with_unit(record.objective.name, record.objective.unit), col=1)
    mean = list(chain.from_iterable(item.mean for item in views.slices))
    std = list(chain.from_iterable(item.std for item in views.slices))
    near_costs = [trial.cost for near_it in found for trial, _ in near_it]
    figure.update_yaxes(range=readable(mean, std, shown=near_costs, known=[trial.cost for trial in observed]))
    return above(figure, ROW_PX * rows)


def _title(item: schemas.Slice) -> str:
    return said(f"{item.factor}, geodesic {item.axis}" if item.factor else f"geodesic {item.axis}")


def _near(
    item: schemas.Slice, parts: Sequence[Factor], trials: Sequence[schemas.Trial], near: float
) -> list[tuple[schemas.Trial, int]]:
    """Trials that are near the geodesic in every factor, each with the place on it that is nearest."""
    if not trials:
        return []
    off, places = np.zeros(len(trials)), [0] * len(trials)
    for factor in parts:
        points = np.array([coordinates(factor, trial.point, trial.form) for trial in trials])
        is_moving = factor.name == item.factor
        path = [coordinates(factor, point) for point in (item.points if is_moving else item.points[:1])]
        away = np.array([distances(factor.spec, place, points) for place in path]) / diameter(factor.spec)
        off = np.maximum(off, away.min(0))
        if is_moving:
            places = away.argmin(0).tolist()
    return [(trial, place) for trial, place, far in zip(trials, places, off, strict=True) if far <= near]
