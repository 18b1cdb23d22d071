"""Figures of a study in the SDK. Plotly is imported with the first of them: the base install goes without."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

from geodrome import schemas

if TYPE_CHECKING:
    import plotly.graph_objects as go

Theme = Literal["light", "dark"]


class Plotted(Protocol):
    """What figures need of a study."""

    record: schemas.Study

    def in_form(self) -> Plotted:
        """The same study, with points in the space's own form."""

    def trials(self) -> Iterator[schemas.Trial]:
        """All trials."""

    def best(self) -> schemas.Best:
        """The recommended point, among others."""

    def model(self) -> schemas.FittedModel | None:
        """The fitted model."""

    def views(self) -> schemas.Views:
        """What there is to see of the model; the answer does not say in which form its points are."""


class Plots:
    """Figures of a study; all need the extra ``plots``, and raise ModuleNotFoundError without it.

    They are Plotly's: ``figure.show()`` in a notebook, ``figure.write_html("page.html", include_plotlyjs=True)`` for a
    page that needs no network, ``figure.write_image("paper.pdf")`` with the extra ``images`` and a Chrome.
    """

    def plot_convergence(self: Plotted, *, log: bool = False, theme: Theme = "light") -> go.Figure:
        """Costs over trials, the best so far, and what the model expects of the point that it recommends.

        Args:
            log: Whether the costs are on a logarithmic axis.
            theme: ``"light"`` or ``"dark"``.
        """
        figures, found = _figures(), list(self.trials())
        return figures.convergence(self.record, found, recommended=self.best().recommended, log=log, theme=theme)

    def plot_slices(self: Plotted, *, near: float = 0.1, theme: Theme = "light") -> go.Figure:
        """The model along geodesics through the recommended point, with the observations near them.

        Args:
            near: How far off an observation may be in each factor, as a share of the factor's diameter; 0 for none.
            theme: ``"light"`` or ``"dark"``.
        """
        figures, found = _figures(), list(self.trials()) if near > 0 else []
        return figures.slices(self.record, self.in_form().views(), found, near=near, theme=theme)

    def plot_manifold(self: Plotted, *, theme: Theme = "light") -> dict[str, go.Figure]:
        """The trials on their manifold, and the model where it can be drawn: all figures that the space has, by name.

        Args:
            theme: ``"light"`` or ``"dark"``.
        """
        figures, found = _figures(), list(self.trials())
        views: dict[str, go.Figure] = figures.manifold_views(self.record, found, self.in_form().views(), theme=theme)
        return views

    def plot_model(self: Plotted, *, theme: Theme = "light") -> go.Figure:
        """Lengthscales of the model in natural units, and its calibration.

        Args:
            theme: ``"light"`` or ``"dark"``.
        """
        return _figures().model(self.record, self.model(), theme=theme)


def _figures() -> Any:
    try:
        return importlib.import_module("geodrome.figures")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"figures need Plotly: pip install 'geodrome[plots]' ({error})") from error
