"""How figures look: one template in two themes, and colours that colour-blind eyes tell apart."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

Theme = Literal["light", "dark"]

OKABE_ITO: Final = {
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "purple": "#cc79a7",
}

COSTS: Final = "viridis"
"""Of costs and of the model's mean, everywhere."""


@dataclass(frozen=True)
class Shades:
    """The greys of a theme, and the colour of its lines.

    Attributes:
        paper: Background.
        ink: Text.
        grid: Lines behind the data.
        faint: Bodies behind the data, such as the inside of a cone.
        line: What is foremost, such as the best cost so far.
    """

    paper: str
    ink: str
    grid: str
    faint: str
    line: str


SHADES: Final[dict[Theme, Shades]] = {
    "light": Shades("#ffffff", "#1f2328", "#e3e6ea", "#c4cad1", OKABE_ITO["blue"]),
    "dark": Shades("#15181d", "#e6e8eb", "#343a43", "#4a525d", OKABE_ITO["sky"]),
}


EYE: Final = {"x": 1.6, "y": 1.6, "z": 1.0}
"""Where scenes are looked at from."""


def _template(shades: Shades) -> go.layout.Template:
    axis = {
        "gridcolor": shades.grid, "zerolinecolor": shades.grid, "linecolor": shades.ink, "automargin": True,
        "title": {"standoff": 8},
    }  # fmt: skip
    solid = {"backgroundcolor": shades.paper, "gridcolor": shades.grid, "zerolinecolor": shades.grid}
    colours = [shades.line, *(colour for colour in OKABE_ITO.values() if colour != shades.line)]
    return go.layout.Template(
        layout={
            "paper_bgcolor": shades.paper,
            "plot_bgcolor": shades.paper,
            "font": {"family": "system-ui, -apple-system, 'Segoe UI', sans-serif", "size": 13, "color": shades.ink},
            "colorway": colours,
            "colorscale": {"sequential": COSTS},
            "title": {
                "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "yref": "container", "pad": {"l": 16, "t": 14},
                "font": {"size": 16},
            },
            "margin": {"l": 64, "r": 24, "t": 84, "b": 56},
            "hoverlabel": {"bgcolor": shades.paper, "font": {"color": shades.ink}, "align": "left"},
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
            "xaxis": axis,
            "yaxis": axis,
            "scene": {"xaxis": solid, "yaxis": solid, "zaxis": solid, "camera": {"eye": EYE}},
        }
    )  # fmt: skip


TEMPLATES: Final = {theme: _template(shades) for theme, shades in SHADES.items()}


def blank(title: str, theme: Theme) -> go.Figure:
    """A figure of this theme with nothing in it.

    Raises:
        ValueError: There is no such theme.
    """
    if theme not in TEMPLATES:
        raise ValueError(f'theme is "light" or "dark", got {theme!r}')
    figure = go.Figure()
    return figure.update_layout(template=TEMPLATES[theme], title_text=title)


def in_space(figure: go.Figure) -> go.Figure:
    """The same figure, whose scene has all the room there is."""
    return figure.update_layout(margin={"l": 0, "r": 0, "b": 0}, scene_domain={"x": [0, 1], "y": [0, 1]}, legend_x=0.02)


def above(figure: go.Figure, height: float) -> go.Figure:
    """The same figure, so many pixels high, with its legend above the titles of its panels."""
    margin = {"t": 116, "b": 56}
    return figure.update_layout(
        height=height + sum(margin.values()), margin=margin, legend_y=1 + 32 / height, hovermode="closest"
    )


def colour_bar(title: str) -> dict[str, Any]:
    """A narrow bar to the right, with its title along it."""
    return {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0, "len": 0.9}


def said(text: str) -> str:
    """A person's text as it is, also where Plotly would read tags in it."""
    return html.escape(text, quote=False)


def with_unit(name: str, unit: str | None) -> str:
    """An axis title."""
    return said(f"{name}, {unit}" if unit else name)


def transparent(colour: str, opacity: float) -> str:
    """A colour that what is behind shines through."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def finite(values: Iterable[Any]) -> list[Any]:
    """Numbers, or rows of them, for JSON: what is not finite is None, which Plotly leaves out."""
    return [finite(value) if np.ndim(value) else (float(value) if np.isfinite(value) else None) for value in values]


def numbers(values: Sequence[float | None] | Sequence[list[float | None]]) -> NDArray[np.float64]:
    """The way back: an array, with NaN for None."""
    return np.array(values, dtype=np.float64)


def said_by_model(mean: NDArray[np.float64], std: NDArray[np.float64]) -> list[list[str]]:
    """What appears where the pointer is on the model's mean."""
    rows = zip(mean, std, strict=True)
    return [[f"model {m:.6g} ± {s:.2g}" for m, s in zip(*row, strict=True)] for row in rows]
