"""Kinds of spaces in the words of people who tune robots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from geodrome import spaces

NAMES = {
    "rotation": "Orientation (SO(3))",
    "sphere": "Direction (sphere)",
    "spd": "Stiffness or gain matrix (SPD)",
    "torus": "Joint angles (torus)",
    "joints": "Joints within limits",
    "real": "Number",
    "integer": "Whole number",
    "euclidean": "Vector",
    "hyperbolic": "Hyperbolic (embedding of a graph or tree)",
    "pose": "Full tool pose",
    "product": "Product of several",
}
"""What each type of space is for, in the order in which it is offered."""

PLAIN: dict[type[spaces.SpaceSpec], tuple[str, str]] = {
    spaces.Real: ("real", "reals"),
    spaces.Integer: ("whole number", "whole numbers"),
    spaces.Pose: ("pose", "poses"),
}
"""The words for one and for several of the spaces that are all alike."""


def described(space: spaces.SpaceSpec) -> str:
    """A space in a few words, those that are alike counted: ``rotation × 2 reals``."""
    return " × ".join(
        one if count == 1 else f"{count}\N{NO-BREAK SPACE}{several}"
        for (one, several), count in Counter(_parts(space)).items()
    )


def _parts(space: spaces.SpaceSpec) -> Iterator[tuple[str, str]]:
    """The words for one and for several of each part of a space."""
    match space:
        case spaces.Product():
            for factor in space.factors.values():
                yield from _parts(factor)
        case spaces.Joints():
            yield from [("joint", "joints")] * len(space.bounds)
        case spaces.Torus():
            yield from [("angle", "angles")] * space.dim
        case _:
            yield _words(space)


def _words(space: spaces.SpaceSpec) -> tuple[str, str]:
    match space:
        case spaces.Rotation(dim=3):
            words = "rotation", "rotations"
        case spaces.Rotation():
            words = f"rotation of {space.dim} axes", f"rotations of {space.dim} axes"
        case spaces.Sphere(dim=2):
            words = "direction", "directions"
        case spaces.Sphere():
            words = f"direction in {space.dim + 1} axes", f"directions in {space.dim + 1} axes"
        case spaces.SPD():
            words = f"SPD matrix {space.dim}×{space.dim}", f"SPD matrices {space.dim}×{space.dim}"
        case spaces.Euclidean():
            words = f"vector of {space.dim}", f"vectors of {space.dim}"
        case spaces.Hyperbolic():
            words = f"hyperbolic point of {space.dim}", f"hyperbolic points of {space.dim}"
        case _:
            words = PLAIN[type(space)]
    return words
