"""Lengthscales beside the ranges of what they are about, and what that says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from geodrome import schemas
from geodrome.figures.coordinates import HALF_TURN
from geodrome.figures.distances import diameter
from geodrome.figures.factors import factors
from geodrome.spaces import Euclidean, Integer, Joints, Real, Torus

UNIMPORTANT, ROUGH = 2.0, 0.05
"""Lengthscales, as shares of a range, above and below which something is to be said."""

GEODESIC = frozenset({"matern", "flat_matern", "geodesic_se"})
"""Kernels whose lengthscales are distances in the space, or as long as these at most."""


@dataclass(frozen=True)
class Row:
    """A lengthscale, or that of one coordinate of a vector.

    Attributes:
        name: Of which factor.
        value: The geodesic distance.
        unit: Its unit; None if it is a pure number.
        share: The same as a share of the largest distance that there is; None if it is no distance.
        meaning: What it says, in words.
    """

    name: str
    value: float
    unit: str | None
    share: float | None
    meaning: str


def rows(record: schemas.Study, fitted: schemas.FittedModel) -> list[Row]:
    """The lengthscales of a model, vectors coordinate by coordinate."""
    specs = {factor.name or "": factor.spec for factor in factors(record.space)}
    found: list[Row] = []
    for scale in fitted.lengthscales:
        is_vector = isinstance(scale.value, list)
        values = scale.value if isinstance(scale.value, list) else [scale.value]
        ranges = reaches(specs[scale.factor], values) if fitted.kernel in GEODESIC else [None] * len(values)
        for place, (value, reach) in enumerate(zip(values, ranges, strict=True)):
            name = scale.factor or "all"
            share = None if reach is None else value / reach
            found.append(Row(f"{name}[{place}]" if is_vector else name, value, scale.unit, share, _meaning(share)))
    return found


def reaches(spec: Any, values: Sequence[float]) -> list[float]:
    """The largest distances in a factor's domain, one for each lengthscale, in their unit."""
    match spec:
        case Real() | Integer() | Euclidean() | Joints() if spec.bounds is not None:
            bounds = [spec.bounds] if isinstance(spec, Real | Integer) else spec.bounds
            is_log = getattr(spec, "scale", "linear") == "log"
            return [math.log10(high / low) if is_log else high - low for low, high in bounds]
        case Torus() if len(values) == spec.dim:
            return [HALF_TURN[spec.unit]] * spec.dim
        case _:
            return [diameter(spec)]


def _meaning(share: float | None) -> str:
    if share is None:
        return "a pure number: this kernel measures no distances of the space"
    if share > UNIMPORTANT:
        return "hardly matters so far: costs are alike over its whole range"
    if share < ROUGH:
        return "costs change within a small part of its range: the model sees hardly any pattern"
    return "costs are another after this distance"
