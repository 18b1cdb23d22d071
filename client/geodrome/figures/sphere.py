"""Directions on the globe."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome import schemas
from geodrome.figures.style import finite, in_space, numbers, said_by_model
from geodrome.figures.subject import Subject, add_points

Array = NDArray[np.float64]

LIFT = 1.02
"""Radius at which points lie, so that the surface does not swallow them."""


def globe(subject: Subject) -> go.Figure:
    """The sphere S², coloured by the model's mean, with the trials on it."""
    figure = subject.blank("the sphere")
    add_body(figure, subject.shades.faint, 0.985)
    if subject.field is not None:
        _add_field(figure, subject.field)
    add_points(figure, subject, lambda points: LIFT * points)
    titles = {f"{axis}axis": {"title": {"text": axis}, "tickvals": [-1, 0, 1]} for axis in "xyz"}
    return in_space(figure.update_layout(scene={"aspectmode": "data", "camera": {"eye": _eye(subject)}, **titles}))


def on_sphere(latitudes: Array, longitudes: Array) -> Array:
    """Unit vectors of all pairs of latitude and longitude, rad: three arrays, latitudes outermost."""
    a, b = np.meshgrid(latitudes, longitudes, indexing="ij")
    return np.array([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])


def add_body(figure: go.Figure, colour: str, radius: float, opacity: float = 1.0) -> None:
    """A plain sphere."""
    x, y, z = radius * on_sphere(np.linspace(-math.pi / 2, math.pi / 2, 25), np.linspace(0, 2 * math.pi, 49))
    figure.add_surface(
        x=finite(x), y=finite(y), z=finite(z), opacity=opacity, showscale=False, hoverinfo="skip",
        colorscale=[[0, colour], [1, colour]], name="body", contours={axis: {"highlight": False} for axis in "xyz"},
    )  # fmt: skip


def _eye(subject: Subject) -> dict[str, float]:
    """Where to look from: above the recommended point, or that of the best trial."""
    facing = subject.recommended
    if facing is None and subject.best is not None:
        facing = subject.points([subject.best])[0]
    x, y, z = np.array([0.6, 0.6, 0.5]) if facing is None else facing
    # From straight above a pole there is no up.
    return dict(zip("xyz", (2.0 * np.array([x + 0.2, y + 0.1, z])).tolist(), strict=True))


def _add_field(figure: go.Figure, field: schemas.Field) -> None:
    latitudes, longitudes = (numbers(axis) for axis in field.axes)
    mean, std = numbers(field.mean), numbers(field.std)
    gap = longitudes[0] + 2 * math.pi - longitudes[-1]
    # Not of a cap, which has a west and an east end.
    if 1e-9 < gap < 1.5 * np.diff(longitudes).max():
        longitudes = np.append(longitudes, longitudes[0] + 2 * math.pi)
        mean, std = np.hstack([mean, mean[:, :1]]), np.hstack([std, std[:, :1]])
    x, y, z = np.where(np.isfinite(mean), on_sphere(latitudes, longitudes), np.nan)
    figure.add_surface(
        x=finite(x), y=finite(y), z=finite(z), surfacecolor=finite(mean), coloraxis="coloraxis", name="model's mean",
        text=said_by_model(mean, std), hoverinfo="text", lighting={"ambient": 0.8, "diffuse": 0.3, "specular": 0.05},
        contours={axis: {"highlight": False} for axis in "xyz"},
    )  # fmt: skip
