"""The model along a line: its mean, with a band of two standard deviations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
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


def readable(
    mean: Sequence[float | None] | Sequence[list[float | None]],
    std: Sequence[float | None] | Sequence[list[float | None]],
    *,
    shown: Sequence[float | None],
    known: Sequence[float | None] | None = None,
) -> list[float] | None:
    """Ends of an axis that shows a band, but no farther from the known costs than these are apart; None for any.

    Where nothing is known, a band may be thousands of times as wide as what is.

    Args:
        mean: Of the model.
        std: Its standard deviations.
        shown: Costs that are drawn, and must be seen.
        known: All costs, if there are more of them. Without any, the means serve.
    """
    middle, spread = numbers(mean), numbers(std)
    edges = np.concatenate([middle - 2 * spread, middle + 2 * spread])
    values = numbers(shown if known is None else known)
    values = values if len(values) else middle
    if not (np.isfinite(values).any() and np.isfinite(edges).any()):
        return None
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    apart = high - low or np.inf
    ends = [*np.clip([np.nanmin(edges), np.nanmax(edges)], low - apart, high + apart).tolist(), *finite(shown)]
    margin = 0.05 * (max(ends) - min(ends))
    return [min(ends) - margin, max(ends) + margin]
