"""What the figures of a manifold show, in a heading and a sentence each."""

from __future__ import annotations

from typing import Final, NamedTuple


class Caption(NamedTuple):
    """What is said about a figure.

    Attributes:
        title: Its heading.
        text: How to read it.
        is_wide: Whether it needs the whole width of a page.
    """

    title: str
    text: str
    is_wide: bool = False


CAPTIONS: Final[dict[str, Caption]] = {
    "globe": Caption(
        "On the sphere",
        "Each dot is a direction that was tried; the colour below it is the cost that the model expects "
        "there. Drag to turn.",
    ),
    "ball": Caption(
        "Axis and angle",
        "Each dot is a rotation: from the centre, the identity, it lies along the axis, as far out as the "
        "angle. Opposite points of the border, half a turn away, are the same rotation.",
    ),
    "triads": Caption(
        "Frames",
        "How the frame of some trials lies in that of the base, in the order of trials.",
        is_wide=True,
    ),
    "ellipses": Caption(
        "Ellipses",
        "Half axes are the eigenvalues, along the eigenvectors, in the order of trials.",
        is_wide=True,
    ),
    "cone": Caption(
        "In the cone",
        "Each dot is a matrix. Straight up lie the multiples of the identity; away from there matrices "
        "stretch one direction more than the other. The hull is where an eigenvalue ends.",
    ),
    "ellipsoids": Caption(
        "Ellipsoids",
        "The three best trials and the last three: half axes are the eigenvalues, along the eigenvectors.",
        is_wide=True,
    ),
    "eigenvalues": Caption(
        "Eigenvalues",
        "Those of each trial, least to largest.",
    ),
    "circle": Caption(
        "One turn",
        "Costs, and what the model expects, over the angle. The right edge is the left one.",
    ),
    "square": Caption(
        "One turn of each",
        "The cost that the model expects over both angles. The right edge is the left one, and the upper one "
        "the lower.",
    ),
    "disc": Caption(
        "In Poincaré's disc",
        "The whole plane in a disc: its border is infinitely far. The colour is the cost that the model expects.",
    ),
    "path": Caption(
        "The way in Poincaré's disc",
        "The points of all factors in their order, joined by geodesics: the best trial, what the model "
        "recommends, and some others.",
        is_wide=True,
    ),
    "line": Caption(
        "Over the line",
        "Costs, and what the model expects, over the values.",
    ),
    "plane": Caption(
        "Over the plane",
        "The cost that the model expects over both numbers, with the trials.",
    ),
    "space": Caption(
        "In space",
        "Each dot is a trial; its colour is its cost. Drag to turn.",
    ),
    "side_by_side": Caption(
        "Number by number",
        "Costs over each number alone. A clear valley says that this number matters.",
        is_wide=True,
    ),
    "distances": Caption(
        "Costs over distance",
        "How costs grow with the geodesic distance from the recommended point. Late trials, yellow, should "
        "gather at the lower left.",
    ),
}
"""By the names of the figures."""

SLICES: Final = Caption(
    "The model along geodesics",
    "What the model expects, ± 2 standard deviations, along the straightest lines through the point that it "
    "recommends, which is at 0. A narrow band is certainty; a flat curve says that this direction does not "
    "matter.",
    is_wide=True,
)

CALIBRATION: Final = Caption(
    "Lengthscales and calibration",
    "Above, how far one goes before the cost is another one. Below, how many left-out results lie within the "
    "deviations that the model gave them; red marks are what a right model has.",
    is_wide=True,
)
