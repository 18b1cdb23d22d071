"""Which figures a space has: a table of what is drawn of each manifold; a product has those of its factors."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from geodrome import schemas
from geodrome.figures.apart import apart
from geodrome.figures.disc import disc, path
from geodrome.figures.factors import Factor, factors
from geodrome.figures.matrices import cone, eigenvalues, ellipses, ellipsoids
from geodrome.figures.orientations import ball, triads
from geodrome.figures.reals import line, plane, side_by_side, space
from geodrome.figures.sphere import globe
from geodrome.figures.style import Theme
from geodrome.figures.subject import Subject
from geodrome.figures.torus import circle, square
from geodrome.spaces import SPD, Euclidean, Hyperbolic, Integer, Joints, Real, Rotation, SpaceSpec, Sphere, Torus

Drawing = Callable[[Subject], go.Figure]

DRAWINGS: Final[dict[str, Drawing]] = {
    "globe": globe,
    "triads": triads,
    "ball": ball,
    "ellipses": ellipses,
    "cone": cone,
    "ellipsoids": ellipsoids,
    "eigenvalues": eigenvalues,
    "circle": circle,
    "square": square,
    "disc": disc,
    "line": line,
    "plane": plane,
    "space": space,
    "side_by_side": side_by_side,
    "distances": apart,
}
"""Figures of one factor, by name."""

PATH: Final = "path"
"""Name of the figure of all hyperbolic planes of a product together."""


@dataclass(frozen=True)
class View:
    """One of the figures of a space.

    Attributes:
        factor: Of which factor; None for a space that is no product, and for what shows several factors.
        figure: Which figure: a name of ``DRAWINGS``, or ``path``.
    """

    factor: str | None
    figure: str

    @property
    def name(self) -> str:
        """What tells it from the others of the space."""
        return f"{self.factor}/{self.figure}" if self.factor else self.figure


def names(spec: SpaceSpec) -> list[str]:
    """The figures of a manifold, the most telling first."""
    return [*_own(spec), "distances"]


def views_of(space: SpaceSpec) -> list[View]:
    """All figures that a space has, those of several factors first."""
    parts = factors(space)
    joint = [View(None, PATH)] if len(_planes(parts)) > 1 else []
    return joint + [View(factor.name, name) for factor in parts for name in names(factor.spec)]


def manifold_views(
    record: schemas.Study,
    trials: Sequence[schemas.Trial],
    views: schemas.Views | None = None,
    *,
    only: Container[str] | None = None,
    theme: Theme = "light",
) -> dict[str, go.Figure]:
    """All figures that the study's space has, by name.

    Those of a product are named ``factor/figure``, and a product of hyperbolic planes has a ``path``. Without a model
    they show the trials alone.

    Args:
        record: The study.
        trials: All of its trials, each in the form that it says.
        views: What ``GET …/views`` answered, in the space's own form.
        only: Names of those that are wanted; None for all.
        theme: Light or dark.
    """
    return dict(_views(record, trials, views, only, theme))


def _views(
    record: schemas.Study,
    trials: Sequence[schemas.Trial],
    views: schemas.Views | None,
    only: Container[str] | None,
    theme: Theme,
) -> Iterator[tuple[str, go.Figure]]:
    parts = {factor.name: factor for factor in factors(record.space)}
    fields = {} if views is None else {field.factor: field for field in views.fields}
    at = None if views is None else views.at
    for view in views_of(record.space):
        if only is not None and view.name not in only:
            continue
        if view.figure == PATH:
            yield view.name, path(record, _planes(list(parts.values())), trials, at, theme)
        else:
            subject = Subject(record, parts[view.factor], trials, at, fields.get(view.factor), theme)
            yield view.name, DRAWINGS[view.figure](subject)


def _own(spec: SpaceSpec) -> list[str]:  # noqa: PLR0911 - a case for each
    match spec:
        case Sphere(dim=2):
            return ["globe"]
        case Rotation(dim=3):
            return ["ball", "triads"]
        case SPD(dim=2):
            return ["ellipses", "cone", "eigenvalues"]
        case SPD(dim=3):
            return ["ellipsoids", "eigenvalues"]
        case SPD():
            return ["eigenvalues"]
        case Torus():
            return {1: ["circle"], 2: ["square"]}.get(spec.dim, ["side_by_side"])
        case Hyperbolic(dim=2):
            return ["disc"]
        case Real() | Integer() | Euclidean() | Joints():
            return {1: ["line"], 2: ["plane"], 3: ["space", "side_by_side"]}.get(_width(spec), ["side_by_side"])
        case _:
            return []


def _width(spec: Any) -> int:
    match spec:
        case Euclidean():
            return spec.dim
        case Joints():
            return len(spec.bounds)
        case _:
            return 1


def _planes(parts: Sequence[Factor]) -> list[Factor]:
    return [factor for factor in parts if isinstance(factor.spec, Hyperbolic) and factor.spec.dim == 2]
