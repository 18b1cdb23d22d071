"""Symmetric positive definite matrices: as ellipses and ellipsoids, in their cone, and by their eigenvalues."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale

from geodrome import schemas
from geodrome.figures.gallery import extent, flat, labels, places, scale_bar, solid
from geodrome.figures.sphere import on_sphere
from geodrome.figures.style import finite, in_space, with_unit
from geodrome.figures.subject import Subject, add_points
from geodrome.figures.trials import chosen, completed, costs

SHOWN = 12
LAST = 3


def ellipses(subject: Subject) -> go.Figure:
    """Up to 12 trials in their order, the best among them: half axes are eigenvalues, along the eigenvectors."""
    figure = subject.blank("half axes are eigenvalues")
    some = chosen(subject.trials, subject.goal, SHOWN)
    matrices = subject.points(some).reshape(-1, 2, 2)
    size = float(np.linalg.eigvalsh(matrices).max(initial=0))
    centers = places(len(some), size)
    turn = np.linspace(0, 2 * math.pi, 97)
    shades = sample_colorscale("Viridis", _shares(figure, some)) if some else []
    for trial, matrix, center, colour in zip(some, matrices, centers, shades, strict=True):
        x, y = center[:, np.newaxis] + matrix @ [np.cos(turn), np.sin(turn)]
        figure.add_scatter(
            x=finite(x), y=finite(y), mode="lines", showlegend=False, name=f"trial {trial.number}",
            line={"color": subject.shades.ink, "width": 1.5}, fill="toself", fillcolor=colour,
            text=subject.hovers([trial])[0], hoverinfo="text",
        )  # fmt: skip
    figure.add_scatter(
        x=finite(centers[:, 0]), y=finite(centers[:, 1] - 1.25 * size), mode="markers+text", name="trials",
        text=labels(subject, some), textposition="middle center", hoverinfo="skip", showlegend=False,
        # Too small to be seen: they bring the scale of colours.
        marker={"color": finite(costs(some)), "coloraxis": "coloraxis", "size": 0.1},
    )  # fmt: skip
    length, text = scale_bar(size, subject.spec.unit)
    low = extent(len(some), size)[1][0]
    figure.add_scatter(
        x=[-size, -size + length], y=[low, low], mode="lines+text", name=text, hoverinfo="name",
        line={"color": subject.shades.ink, "width": 2},
        text=["", f" {text}"], textposition="middle right", showlegend=False, cliponaxis=False,
    )  # fmt: skip
    return flat(figure, len(some), size)


def cone(subject: Subject) -> go.Figure:
    """Symmetric 2 × 2 matrices as points of space: the height is half the trace, eigenvalues are height ± radius."""
    figure = subject.blank("the cone of positive definite matrices")
    matrices = subject.points(subject.completed).reshape(-1, 2, 2)
    low, high = subject.spec.eigenvalues or (0.0, 2 * float(in_cone(matrices)[:, 2].max(initial=0.5)))
    for heights, name in (((low, (low + high) / 2), "least eigenvalue"), (((low + high) / 2, high), "largest")):
        height = np.linspace(*heights, 12)[:, np.newaxis]
        radius = np.minimum(height - low, high - height)
        turn = np.linspace(0, 2 * math.pi, 49)
        figure.add_surface(
            x=finite(radius * np.cos(turn)), y=finite(radius * np.sin(turn)), z=finite(height + 0 * turn),
            opacity=0.2, showscale=False, hoverinfo="skip", name=name,
            colorscale=[[0, subject.shades.faint], [1, subject.shades.faint]],
        )  # fmt: skip
    add_points(figure, subject, in_cone)
    unit = subject.spec.unit
    titles = [with_unit(name, unit) for name in ("half of m₁₁ − m₂₂", "m₁₂", "half of m₁₁ + m₂₂")]
    x, y, z = ({"title": {"text": title}} for title in titles)
    return in_space(figure.update_layout(scene={"aspectmode": "data", "xaxis": x, "yaxis": y, "zaxis": z}))


def in_cone(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the difference of the diagonal, what is off it, and half the trace, of n matrices of 2 rows."""
    a, b, c = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1]
    return np.stack([(a - c) / 2, b, (a + c) / 2], axis=1)


def ellipsoids(subject: Subject) -> go.Figure:
    """The three best trials and the last three: half axes are eigenvalues, along the eigenvectors."""
    figure = subject.blank("half axes are eigenvalues; the best trials and the last")
    found = completed(subject.trials)
    signed = costs(found) if subject.goal == "minimize" else -costs(found)
    order = [found[place] for place in signed.argsort(kind="stable")[:LAST]]
    shown = order + [trial for trial in found[-LAST:] if trial not in order]
    matrices = subject.points(shown).reshape(-1, 3, 3)
    size = float(np.linalg.eigvalsh(matrices).max(initial=0))
    centers = places(len(shown), size)
    sphere = on_sphere(np.linspace(-math.pi / 2, math.pi / 2, 19), np.linspace(0, 2 * math.pi, 37))
    for center, trial, matrix in zip(centers, shown, matrices, strict=True):
        x, y, z = np.einsum("ij,jkl->ikl", matrix, sphere)
        figure.add_surface(
            x=finite(x + center[0]), y=finite(y), z=finite(z + center[1]), surfacecolor=finite(0 * x + trial.cost),
            coloraxis="coloraxis", name=f"trial {trial.number}", text=subject.hovers([trial])[0], hoverinfo="text",
        )  # fmt: skip
    figure.add_scatter3d(
        x=finite(centers[:, 0]), y=[0.0] * len(shown), z=finite(centers[:, 1] - 1.45 * size), mode="text",
        text=labels(subject, shown), hoverinfo="skip", name="trials", showlegend=False,
    )  # fmt: skip
    length, text = scale_bar(size, subject.spec.unit)
    figure.add_scatter3d(
        x=[-size, -size + length], y=[0, 0], z=[-1.75 * size] * 2, mode="lines+text", hoverinfo="name", name=text,
        line={"color": subject.shades.ink, "width": 4},
        text=["", f" {text}"], textposition="middle right", showlegend=False,
    )  # fmt: skip
    return solid(figure, len(shown), size)


def eigenvalues(subject: Subject) -> go.Figure:
    """All eigenvalues over the trial number."""
    figure = subject.blank("eigenvalues")
    some, size = subject.completed, subject.spec.dim
    values = np.linalg.eigvalsh(subject.points(some).reshape(-1, size, size))
    for place in range(size):
        figure.add_scatter(
            x=[trial.number for trial in some], y=finite(values[:, place]), mode="markers", marker_size=6,
            name=("least", *[f"{place + 1}"] * (size - 2), "largest")[place], text=subject.hovers(some),
            hoverinfo="text",
        )  # fmt: skip
    figure.update_xaxes(title_text="trial", rangemode="nonnegative")
    return figure.update_yaxes(title_text=with_unit("eigenvalue", subject.spec.unit), type="log")


def _shares(figure: go.Figure, some: list[schemas.Trial]) -> list[float]:
    """Where costs lie on the colour scale, from 0 to 1."""
    low, high = figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax
    shares: list[float] = np.clip((costs(some) - low) / ((high - low) or 1.0), 0, 1).tolist()
    return shares
