"""What a fitted model says of itself: its lengthscales, and how well it predicts what it was not shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from geodrome import schemas
from geodrome.figures.style import OKABE_ITO, SHADES, Theme, above, blank, said

EXPECTED = (0.6827, 0.9545)
"""Shares of a normal distribution within one and two standard deviations."""

GAP_PX = 74
BAR_PX = 34


def model(record: schemas.Study, fitted: schemas.FittedModel | None, *, theme: Theme = "light") -> go.Figure:
    """Lengthscales as bars, a panel for each unit, above the calibration by leaving each observation out.

    Args:
        record: The study.
        fitted: What ``GET …/model`` answered; None while there is none.
        theme: Light or dark.
    """
    if fitted is None:
        figure = blank(said(f"Model of {record.name}"), theme)
        return figure.add_annotation(text="no model yet", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    panels = lengthscales(fitted)
    bars_px = [*(BAR_PX * len(bars) for bars in panels.values()), 2 * BAR_PX]
    height = sum(bars_px) + GAP_PX * (len(bars_px) - 1)
    figure = make_subplots(
        len(bars_px), 1, figure=blank(said(f"Model of {record.name}"), theme), row_heights=bars_px,
        vertical_spacing=GAP_PX / height,
        subplot_titles=[*(_title(unit) for unit in panels), _summary(fitted)],
    )  # fmt: skip
    for row, (unit, bars) in enumerate(panels.items(), start=1):
        figure.add_bar(
            x=list(bars.values()), y=[said(name) for name in bars], orientation="h", marker_color=SHADES[theme].line,
            text=[f"{value:.4g} {unit}".rstrip() for value in bars.values()], hoverinfo="text", name="lengthscale",
            showlegend=False, row=row, col=1,
        )  # fmt: skip
    _add_calibration(figure, fitted.calibration, len(bars_px))
    figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%", row=len(bars_px), col=1)
    figure.update_yaxes(autorange="reversed", ticksuffix="  ")
    figure.update_layout(bargap=0.35)
    return above(figure, height)


def lengthscales(fitted: schemas.FittedModel) -> dict[str, dict[str, float]]:
    """Lengthscales by unit ("" for pure numbers) and name; those of a vector's coordinates one by one."""
    ordered: Sequence[schemas.Lengthscale] = sorted(fitted.lengthscales, key=lambda scale: scale.unit or "")
    return {
        unit: {name: value for scale in scales for name, value in _bars(scale)}
        for unit, scales in groupby(ordered, key=lambda scale: scale.unit or "")
    }


def _bars(scale: schemas.Lengthscale) -> list[tuple[str, float]]:
    name = scale.factor or "all"
    if isinstance(scale.value, list):
        return [(f"{name}[{place}]", value) for place, value in enumerate(scale.value)]
    return [(name, scale.value)]


def _add_calibration(figure: go.Figure, found: schemas.Calibration, row: int) -> None:
    bounds = ["within 1 standard deviation", "within 2 standard deviations"]
    shares = [found.within_one, found.within_two]
    figure.add_bar(
        x=shares, y=bounds, orientation="h", marker_color=OKABE_ITO["green"], name="observations",
        text=[f"{share:.0%}" for share in shares], hoverinfo="text", row=row, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=EXPECTED, y=bounds, mode="markers", name="a right model",
        marker={"symbol": "line-ns", "size": 26, "line": {"width": 3, "color": OKABE_ITO["vermillion"]}},
        text=[f"{share:.0%} of a right model" for share in EXPECTED], hoverinfo="text", row=row, col=1,
    )  # fmt: skip


def _title(unit: str) -> str:
    return said(f"lengthscales, {unit}" if unit else "lengthscales")


def _summary(fitted: schemas.FittedModel) -> str:
    return f"{fitted.observations} observations, each left out: error {fitted.calibration.error:.2f} × that of the mean"
