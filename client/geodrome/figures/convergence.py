"""Costs over trials: each one, the best so far, and what the model expects of its recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from geodrome import schemas
from geodrome.figures.choosing import Chosen, choose, outline_of
from geodrome.figures.style import OKABE_ITO, SHADES, Theme, blank, said, transparent, with_unit
from geodrome.figures.trials import MARKS, costs, hover

SYMBOLS = {
    "": ("completed", "circle"),
    "late": ("late", "diamond"),
    "outside_domain": ("outside the domain", "triangle-up"),
    "outlier": ("outlier", "star-diamond"),
}
"""Name and symbol of completed trials, by what they are flagged with."""


def convergence(
    record: schemas.Study,
    trials: Sequence[schemas.Trial],
    *,
    recommended: schemas.Recommendation | None = None,
    log: bool = False,
    theme: Theme = "light",
) -> go.Figure:
    """Costs over trial numbers, with the best so far as steps.

    At most 2,000 points are drawn, however many trials there are: of each stretch the least and the largest cost, and
    all steps. Trials without a cost stand in a strip below. Those flagged as outliers do not stretch the axis.

    Args:
        record: The study.
        trials: All of its trials.
        recommended: The model's, drawn as a line with a band of one standard deviation.
        log: Whether the costs are on a logarithmic axis; costs that are not positive are left out there.
        theme: Light or dark.
    """
    chosen = choose(outline_of(trials), record.objective.goal)
    by_number = {trial.number: trial for trial in trials}
    return drawn(record, chosen, by_number, recommended=recommended, log=log, theme=theme)


def drawn(
    record: schemas.Study,
    chosen: Chosen,
    trials: Mapping[int, schemas.Trial],
    *,
    recommended: schemas.Recommendation | None = None,
    log: bool = False,
    theme: Theme = "light",
) -> go.Figure:
    """The same figure, of trials that were chosen before.

    Args:
        record: The study.
        chosen: What is drawn.
        trials: Those of the chosen numbers at least.
        recommended: The model's.
        log: Whether the costs are on a logarithmic axis.
        theme: Light or dark.
    """
    objective = record.objective
    figure = blank(said(f"Convergence of {record.name}"), theme)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title_text="trial", rangemode="nonnegative")
    figure.update_yaxes(title_text=with_unit(objective.name, objective.unit), type="log" if log else "linear")
    kept = [trials[number] for number in chosen.costs]
    if kept:
        _add_costs(figure, kept, objective.unit)
        _add_steps(figure, [trials[number] for number in chosen.steps], objective.unit, chosen.last, theme)
    if recommended is not None:
        _add_recommended(figure, recommended, chosen.last)
    marked = {state: [trials[number] for number in numbers] for state, numbers in chosen.marked.items()}
    if marked:
        _add_strip(figure, marked)
    # The extreme costs are among those that are drawn.
    figure.update_layout(yaxis_range=_range(kept, log=log))
    return figure


def _add_costs(figure: go.Figure, kept: list[schemas.Trial], unit: str | None) -> None:
    for flag, (name, symbol) in SYMBOLS.items():
        some = [trial for trial in kept if _flag(trial) == flag]
        if some:
            figure.add_scatter(
                x=[trial.number for trial in some],
                y=[trial.cost for trial in some],
                mode="markers",
                name=name,
                marker={
                    "symbol": symbol,
                    "size": 7,
                    "opacity": 0.8,
                    "color": OKABE_ITO["orange" if flag else "green"],
                },
                text=[hover(trial, unit) for trial in some],
                hoverinfo="text",
            )


def _flag(trial: schemas.Trial) -> str:
    return next((flag for flag in SYMBOLS if flag in trial.flags), "")


def _add_steps(figure: go.Figure, corners: list[schemas.Trial], unit: str | None, last: int, theme: Theme) -> None:
    figure.add_scatter(
        x=[*(trial.number for trial in corners), last],
        y=[*(trial.cost for trial in corners), corners[-1].cost],
        mode="lines",
        name="best so far",
        line={"shape": "hv", "width": 2.5, "color": SHADES[theme].line},
        text=[hover(trial, unit) for trial in [*corners, corners[-1]]],
        hoverinfo="text",
    )


def _add_recommended(figure: go.Figure, recommended: schemas.Recommendation, last: int) -> None:
    mean, std = recommended.mean, recommended.std
    colour = OKABE_ITO["purple"]
    figure.add_scatter(
        x=[1, last, last, 1],
        y=[mean - std, mean - std, mean + std, mean + std],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=transparent(colour, 0.2),
        name="± 1 standard deviation",
        legendgroup="recommended",
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[1, last],
        y=[mean, mean],
        mode="lines",
        line={"dash": "dash", "width": 1.5, "color": colour},
        name="recommended, by the model",
        legendgroup="recommended",
        text=[f"recommended<br>{mean:.6g} ± {std:.2g}"] * 2,
        hoverinfo="text",
    )


def _add_strip(figure: go.Figure, rows: Mapping[schemas.TrialState, list[schemas.Trial]]) -> None:
    """One row below for each state without a cost."""
    height = 0.05 * len(rows)
    figure.update_layout(
        yaxis_domain=[height + 0.06, 1],
        yaxis2={
            "domain": [0, height],
            "range": [-0.5, len(rows) - 0.5],
            "tickvals": list(range(len(rows))),
            "ticktext": [state.value for state in rows],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "anchor": "x",
        },
        xaxis_anchor="y2",
    )
    for row, (state, some) in enumerate(rows.items()):
        figure.add_scatter(
            x=[trial.number for trial in some],
            y=[row] * len(some),
            yaxis="y2",
            mode="markers",
            name=state.value,
            marker=MARKS[state],
            showlegend=False,
            text=[hover(trial, None) for trial in some],
            hoverinfo="text",
        )


def _range(kept: list[schemas.Trial], *, log: bool) -> list[float] | None:
    """Of the axis of costs: None, for all of them, unless there are outliers."""
    values = costs([trial for trial in kept if "outlier" not in trial.flags])
    values = values[values > 0] if log else values
    if len(values) in (0, len(kept)):
        return None
    ends = np.log10(values) if log else values
    low, high = float(ends.min()), float(ends.max())
    margin = 0.05 * (high - low) or 1.0
    return [low - margin, high + margin]
