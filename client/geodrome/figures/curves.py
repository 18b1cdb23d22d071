"""The model along a line: its mean, with a band of two standard deviations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from geodrome.figures.style import SHADES, Theme, finite, numbers, transparent


def add_curve(
    figure: go.Figure,
    x: Sequence[float],
    mean: Sequence[float | None] | Sequence[list[float | None]],
    std: Sequence[float | None] | Sequence[list[float | None]],
    theme: Theme,
    *,
    in_legend: bool = True,
    **cell: int,
) -> None:
    """Adds the band and the mean; where they are None, there is a gap.

    Args:
        figure: To which they are added.
        x: Places.
        mean: Of the model there.
        std: Its standard deviations.
        theme: Light or dark.
        in_legend: Whether the legend names them.
        cell: ``row`` and ``col``, of a figure that has several.
    """
    middle, spread, line = numbers(mean), numbers(std), SHADES[theme].line
    shared: dict[str, Any] = {"x": list(x), "mode": "lines", "showlegend": in_legend, **cell}
    edge = {"width": 0}
    figure.add_scatter(
        **{**shared, "showlegend": False},
        y=finite(middle - 2 * spread),
        line=edge,
        legendgroup="band",
        hoverinfo="skip",
    )
    figure.add_scatter(
        **shared, y=finite(middle + 2 * spread), line=edge, legendgroup="band", hoverinfo="skip",
        fill="tonexty", fillcolor=transparent(line, 0.2), name="± 2 standard deviations",
    )  # fmt: skip
    texts = [f"{m:.6g} ± {s:.2g}<br>at {place:.4g}" for place, m, s in zip(x, middle, spread, strict=True)]
    figure.add_scatter(
        **shared, y=finite(middle), line={"color": line, "width": 2}, legendgroup="mean", name="model's mean",
        text=texts, hoverinfo="text",
    )  # fmt: skip
