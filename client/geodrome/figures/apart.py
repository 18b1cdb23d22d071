"""Costs over the distance from the best point: a figure that every manifold has."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from geodrome.figures.distances import distances, unit
from geodrome.figures.style import colour_bar, finite, with_unit
from geodrome.figures.subject import Subject


def apart(subject: Subject) -> go.Figure:
    """Costs over geodesic distances from the recommended point; while there is no model, from the best trial's."""
    figure = subject.blank("costs over distance")
    some, center, name = subject.completed, subject.recommended, "the recommended point"
    if center is None and subject.best is not None:
        center, name = subject.points([subject.best])[0], "the best trial"
    away = distances(subject.spec, center, subject.points(some)) if some and center is not None else np.zeros(0)
    numbers = [trial.number for trial in some]
    figure.add_scatter(
        x=finite(away), y=finite(trial.cost for trial in some), mode="markers", name="trials",
        marker={"color": numbers, "colorscale": "Cividis", "size": 8, "colorbar": colour_bar("trial"),
                "line": {"width": 1, "color": subject.shades.faint}},
        text=subject.hovers(some), hoverinfo="text",
    )  # fmt: skip
    figure.update_xaxes(title_text=with_unit(f"distance from {name}", unit(subject.spec)), rangemode="tozero")
    return figure.update_yaxes(title_text=subject.cost_title)
