"""The hyperbolic plane as Poincaré's disc: points, the model, and ways over several points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.coordinates import coordinates
from geodrome.figures.factors import Factor
from geodrome.figures.reals import add_field
from geodrome.figures.style import OKABE_ITO, SHADES, Shades, Theme, blank, finite, said
from geodrome.figures.subject import Subject, add_points
from geodrome.figures.trials import best, chosen, hover

Array = NDArray[np.float64]

OTHERS = 8
STEPS = 24


def disc(subject: Subject) -> go.Figure:
    """Points of the hyperbolic plane, over the model's mean."""
    figure = subject.blank("Poincaré's disc")
    add_field(figure, subject.field)
    _add_circles(figure, subject.spec.radius, subject.shades)
    add_points(figure, subject, lambda points: points)
    return figure


def path(
    record: schemas.Study,
    nodes: Sequence[Factor],
    trials: Sequence[schemas.Trial],
    at: schemas.Point | None,
    theme: Theme,
) -> go.Figure:
    """Ways over the points of several hyperbolic planes in their order, along geodesics: the best, and some others."""
    objective, shades = record.objective, SHADES[theme]
    figure = blank(said(f"{record.name}: way over {', '.join(factor.title for factor in nodes)}"), theme)
    _add_circles(figure, max((node.spec.model_dump()["radius"] or 0.0) for node in nodes), shades)
    top = best(trials, objective.goal)
    others = [trial for trial in chosen(trials, objective.goal, OTHERS + 1) if trial != top]
    for place, trial in enumerate(others):
        points = np.array([coordinates(node, trial.point, trial.form) for node in nodes])
        _add_way(figure, points, "other trials", hover(trial, objective.unit), shades.faint, in_legend=place == 0)
    if top is not None:
        points = np.array([coordinates(node, top.point, top.form) for node in nodes])
        _add_way(figure, points, "best trial", hover(top, objective.unit), OKABE_ITO["vermillion"], width=3.5)
    if at is not None:
        points = np.array([coordinates(node, at) for node in nodes])
        _add_way(figure, points, "recommended", "recommended", OKABE_ITO["purple"], width=3.5)
    return figure


def geodesic(one: Array, other: Array, steps: int = STEPS) -> Array:
    """Points of the disc along the geodesic between two of them, both included, evenly spaced."""
    x, y = (np.array([1 + p @ p, *(2 * p)]) / (1 - p @ p) for p in (one, other))
    length = 2 * math.asinh(float(np.linalg.norm(one - other)) / math.sqrt((1 - one @ one) * (1 - other @ other)))
    if length < 1e-9:
        return np.array([one, other])
    t = np.linspace(0, 1, steps)[:, np.newaxis]
    points = (np.sinh((1 - t) * length) * x + np.sinh(t * length) * y) / math.sinh(length)
    inside: Array = points[:, 1:] / (1 + points[:, :1])
    return inside


def _add_way(
    figure: go.Figure, points: Array, name: str, text: str, colour: str, *, width: float = 1.5, in_legend: bool = True
) -> None:
    lines = [geodesic(one, other) for one, other in pairwise(points)]
    x, y = np.concatenate(lines).T
    figure.add_scatter(
        x=finite(x), y=finite(y), mode="lines", line={"color": colour, "width": width}, name=name, legendgroup=name,
        showlegend=in_legend, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=finite(points[:, 0]), y=finite(points[:, 1]), mode="markers+text" if width > 2 else "markers",
        text=[str(place) for place in range(1, len(points) + 1)], textposition="top center",
        marker={"color": colour, "size": 8 if width > 2 else 5}, name=name, legendgroup=name, showlegend=False,
        hovertext=[f"{text}<br>point {place}" for place in range(1, len(points) + 1)], hoverinfo="text",
    )  # fmt: skip


def _add_circles(figure: go.Figure, radius: float | None, shades: Shades) -> None:
    """The border of the disc, which is infinitely far, and that of the domain; no axes."""
    turn = np.linspace(0, 2 * math.pi, 181)
    circles = [(1.0, "infinitely far", {"color": shades.ink, "width": 1.5})]
    if radius:
        circles.append(
            (math.tanh(radius / 2), f"{radius:g} from the origin", {"color": shades.ink, "dash": "dot", "width": 1})
        )
    for size, text, line in circles:
        figure.add_scatter(
            x=finite(size * np.cos(turn)), y=finite(size * np.sin(turn)), mode="lines", line=line, text=text,
            hoverinfo="text", showlegend=False, name=text,
        )  # fmt: skip
    figure.update_xaxes(visible=False, range=[-1.05, 1.05], constrain="domain")
    figure.update_yaxes(visible=False, range=[-1.05, 1.05], scaleanchor="x", constrain="domain")
