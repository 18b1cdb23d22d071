"""Figures below a heading of the page, which says what they show: they need no title of their own."""

from __future__ import annotations

import plotly.graph_objects as go
from fastapi import Response

MEDIA_TYPE = "application/json"

TITLE_PX = 44


def framed(figure: go.Figure) -> Response:
    """The figure as JSON, without the title and the room for it."""
    top = figure.layout.margin.t or figure.layout.template.layout.margin.t
    figure.update_layout(title_text="", margin_t=top - TITLE_PX)
    if figure.layout.height is not None:
        figure.update_layout(height=figure.layout.height - TITLE_PX)
    return Response(figure.to_json(), media_type=MEDIA_TYPE)
