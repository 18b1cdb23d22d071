"""Rotations of three axes: as frames, trial by trial, and as points of the axis-angle ball."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from geodrome.figures.distances import DEGREES
from geodrome.figures.gallery import labels, places, solid
from geodrome.figures.rotations import to_rotvec
from geodrome.figures.style import OKABE_ITO, in_space
from geodrome.figures.subject import Subject, add_points
from geodrome.figures.trials import chosen

SHOWN = 12
AXES = {"x": OKABE_ITO["vermillion"], "y": OKABE_ITO["green"], "z": OKABE_ITO["blue"]}


def triads(subject: Subject) -> go.Figure:
    """The frames of up to 12 trials in their order, the best among them, as they lie in the frame of the base."""
    figure = subject.blank("frames, in the order of trials")
    some = chosen(subject.trials, subject.goal, SHOWN)
    matrices = subject.points(some).reshape(-1, 3, 3)
    x, z = places(len(some), 1.0).T
    origins = np.stack([x, 0 * x, z], axis=1)
    for column, (name, colour) in enumerate(AXES.items()):
        x, y, z = _lines(origins, matrices[:, :, column]) if some else ([], [], [])
        figure.add_scatter3d(
            x=x, y=y, z=z, mode="lines", name=name, line={"color": colour, "width": 7}, hoverinfo="skip"
        )
    if some:
        below = origins - [0, 0, 1.45]
        figure.add_scatter3d(
            x=below[:, 0].tolist(), y=below[:, 1].tolist(), z=below[:, 2].tolist(), mode="text",
            text=labels(subject, some), hovertext=subject.hovers(some), hoverinfo="text", name="trials",
            showlegend=False,
        )  # fmt: skip
    return solid(figure, len(some), 1.0)


def ball(subject: Subject) -> go.Figure:
    """Rotation vectors: the axis times the angle. Opposite points of the ball's surface are the same rotation."""
    figure = subject.blank("axis times angle")
    turn = np.linspace(0, 2 * math.pi, 73)
    for first, second in ((0, 1), (1, 2), (0, 2)):
        circle = np.zeros((3, len(turn)))
        circle[first], circle[second] = 180 * np.cos(turn), 180 * np.sin(turn)
        x, y, z = circle.tolist()
        figure.add_scatter3d(
            x=x, y=y, z=z, mode="lines", line={"color": subject.shades.faint, "width": 3}, hoverinfo="skip",
            showlegend=False, name="half turns",
        )  # fmt: skip
    add_points(figure, subject, lambda matrices: DEGREES * np.array([to_rotvec(matrix) for matrix in matrices]))
    titles = {f"{axis}axis_title": f"{axis}, deg" for axis in "xyz"}
    return in_space(figure.update_layout(scene={"aspectmode": "data", **titles}))


def _lines(origins: NDArray[np.float64], axes: NDArray[np.float64]) -> list[list[float | None]]:
    """Coordinates of one line for each axis, with gaps between them."""
    return [
        [value for start, end in zip(column, tips, strict=True) for value in (float(start), float(end), None)]
        for column, tips in zip(origins.T, (origins + axes).T, strict=True)
    ]
