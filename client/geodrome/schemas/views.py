"""What there is to see of a model: along geodesics, and over the factors that can be drawn."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from geodrome.schemas.values import Output, Point


class Slice(Output):
    """The model along a geodesic through a point; other factors stay as they are there.

    ``distances`` are geodesic distances from the point on the factor's manifold, ascending, 0 at the point itself:
    radians for directions, rotations and tori, parts of the bounds for numbers, pure numbers for all else. ``factor``
    is the name of the factor of a product that moves, None where the space is no product. ``axis`` counts the principal
    geodesics of the factor from 1.
    """

    factor: str | None
    axis: int
    distances: list[FiniteFloat]
    points: list[Point]
    mean: list[FiniteFloat]
    std: list[FiniteFloat]


class Field(Output):
    """The model over one factor that can be drawn; other factors stay as they are at the point.

    ``axes`` are the coordinates of the grid, and ``mean`` and ``std`` its values with the first axis outermost, None
    outside of the domain:

    - ``sphere`` (S²): latitudes and longitudes, rad, of the point (cos a cos b, cos a sin b, sin a);
    - ``torus`` (T¹ and T²): one or two angles, rad;
    - ``disc`` (H²): x and y in the Poincaré disc;
    - ``real`` (one or two coordinates): values in their own units.
    """

    factor: str | None
    kind: Literal["sphere", "torus", "disc", "real"]
    axes: list[list[FiniteFloat]]
    mean: list[FiniteFloat | None] | list[list[FiniteFloat | None]]
    std: list[FiniteFloat | None] | list[list[FiniteFloat | None]]


class Views(Output):
    """Answer of ``GET …/views``: the model about the recommended point; ``at`` is null while there is no model."""

    at: Point | None
    slices: list[Slice]
    fields: list[Field]
