"""Geodesic distances in the units in which people measure: those of the spec, and degrees for rotations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geodrome_core.geometry.space import BARE, Space

DEGREES = 180 / math.pi

USUAL_UNITS = {"joints": "rad", "position": "m"}

PARTS_OF_POSE = {"position": "position", "orientation": "rotation"}


@dataclass(frozen=True)
class Length:
    """A distance along one factor of a space.

    Attributes:
        value: The distance; a list where each coordinate has its own.
        unit: Of the value. None where the spec names none, and for matrices and hyperbolic points, whose distances
            are pure numbers.
    """

    value: float | list[float]
    unit: str | None


def in_natural_units(space: Space, factor: str, length: float | Sequence[float]) -> Length:
    """A distance of the model's rows as one of the parameter.

    Args:
        space: The search space.
        factor: Flattened name of the factor.
        length: The distance; a list of one for each coordinate where these are scaled one by one.
    """
    spec = spec_of(space, factor)
    match spec["type"]:
        case "rotation":
            return Length(_times(length, DEGREES), "deg")
        case "torus" if spec.get("unit") == "deg":
            return Length(_times(length, DEGREES), "deg")
        case "torus" | "sphere":
            return Length(_times(length, 1.0), "rad")
        case "real" | "integer" | "euclidean" | "position" | "joints" if spec.get("bounds") is not None:
            return _in_box(spec, length)
        case _:
            return Length(_times(length, 1.0), None)


def _in_box(spec: Mapping[str, Any], length: float | Sequence[float]) -> Length:
    """Rows are measured in the unit box, on a log scale after the logarithm."""
    is_scalar = spec["type"] in {"real", "integer"}
    bounds = [spec["bounds"]] if is_scalar else spec["bounds"]
    is_log = spec.get("scale") == "log"
    widths = [math.log10(high / low) if is_log else float(high - low) for low, high in bounds]
    own = [length] * len(widths) if isinstance(length, float | int) else length
    values = [part * width for part, width in zip(own, widths, strict=True)]
    unit = "decades" if is_log else spec.get("unit") or USUAL_UNITS.get(spec["type"])
    return Length(values[0] if is_scalar else values, unit)


def _times(length: float | Sequence[float], factor: float) -> float | list[float]:
    return length * factor if isinstance(length, float | int) else [part * factor for part in length]


def spec_of(space: Space, factor: str) -> Mapping[str, Any]:
    """The spec of one factor, by its flattened name."""
    spec = space.spec
    for part in factor.split(".") if factor != BARE else ():
        spec = {"type": PARTS_OF_POSE[part], **spec[part]} if spec["type"] == "pose" else spec["factors"][part]
    return spec
