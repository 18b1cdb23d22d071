"""The space specs that a user writes: what travels in a study's ``space``.

These models check shapes and names. What a space means (is a domain empty, does a log scale fit its bounds) is checked
once, where spaces are built: by the service.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictFloat, StrictInt

Number = Annotated[StrictFloat, Field(allow_inf_nan=False)]
"""A finite JSON number; the string "1.0" is none."""


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[StrictInt, BeforeValidator(_whole)]
"""A whole number; 3.0 is one, as MATLAB may write it, the string "3" is none."""

Bounds = tuple[Number, Number]
"""Lower and upper bound, in the parameter's own unit."""

Scale = Literal["linear", "log"]


class SpaceSpec(BaseModel):
    """What every space may say about itself; free text that is stored and echoed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: str | None = None
    frame: str | None = None
    relative_to: str | None = None


class Real(SpaceSpec):
    """One number, such as a gain; on the wire a number."""

    type: Literal["real"] = "real"
    bounds: Bounds | None = None
    scale: Scale = "linear"


class Integer(SpaceSpec):
    """A whole number, such as a count of repeats; on the wire a number. Neighbours are taken to have similar costs."""

    type: Literal["integer"] = "integer"
    bounds: Bounds


class Euclidean(SpaceSpec):
    """A vector of ``dim`` numbers; on the wire a list."""

    type: Literal["euclidean"] = "euclidean"
    dim: Annotated[int, Field(ge=1, le=64)]
    bounds: tuple[Bounds, ...] | None = None
    scale: Scale = "linear"


class Joints(SpaceSpec):
    """Angles of revolute joints between their stops; on the wire a list. They are never wrapped: see ``Torus``."""

    type: Literal["joints"] = "joints"
    bounds: Annotated[tuple[Bounds, ...], Field(min_length=1, max_length=64)]
    unit: Literal["rad", "deg"] = "rad"  # here it changes numbers


class Torus(SpaceSpec):
    """Angles of ``dim`` joints that turn without end; on the wire a list in (-pi, pi], or (-180, 180] degrees."""

    type: Literal["torus"] = "torus"
    dim: Annotated[int, Field(ge=1, le=32)]
    unit: Literal["rad", "deg"] = "rad"  # here it changes numbers


class Ball(BaseModel):
    """All directions or rotations at most ``radius`` radians, from 0.001 to 3.14, away from ``center``.

    The center is a point in any form that the space accepts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    center: Any
    radius: Number


class Sphere(SpaceSpec):
    """A direction, with ``cap`` one near its center: a unit vector of ``dim + 1`` numbers.

    For orientations use ``Rotation``.
    """

    type: Literal["sphere"] = "sphere"
    dim: Annotated[int, Field(ge=1, le=31)]
    cap: Ball | None = None


def _usual_representation(given: dict[str, Any]) -> Literal["matrix", "quaternion"]:
    return "quaternion" if given.get("dim") == 3 else "matrix"


def _usual_order(given: dict[str, Any]) -> Literal["wxyz"] | None:
    return "wxyz" if given.get("dim") == 3 else None


class Rotation(SpaceSpec):
    """An orientation, or another rotation of ``dim`` axes, element of SO(dim); q and -q are the same point.

    On the wire it is a rotation matrix (rows), or for ``dim`` 3 a unit quaternion in the stated order with w > 0.
    Quaternions are the default for ``dim`` 3; there is no ``order`` for any other. With ``ball``, only rotations near
    its center are searched; how far two are apart is the angle of the turn between them, or for ``dim`` over 3 the root
    of the sum of its squared angles.
    """

    type: Literal["rotation"] = "rotation"
    dim: Annotated[int, Field(ge=2, le=8)] = 3
    representation: Literal["matrix", "quaternion"] = Field(default_factory=_usual_representation)
    order: Literal["wxyz", "xyzw"] | None = Field(default_factory=_usual_order)
    ball: Ball | None = None


class SPD(SpaceSpec):
    """A symmetric positive definite matrix, such as a stiffness; on the wire the full matrix (rows).

    The metrics ``affine_invariant`` and ``eigen_product`` take ``dim`` 2 or 3, the other two up to 6.
    """

    type: Literal["spd"] = "spd"
    dim: Annotated[int, Field(ge=2, le=6)] = 2
    eigenvalues: Bounds | None = None
    metric: Literal["affine_invariant", "log_euclidean", "cholesky", "eigen_product"] = "affine_invariant"


class Hyperbolic(SpaceSpec):
    """A point of hyperbolic space of curvature -1, within ``radius`` of the origin.

    On the wire it is a point of the hyperboloid (``dim + 1`` numbers, the time coordinate first) or of Poincaré's ball.
    """

    type: Literal["hyperbolic"] = "hyperbolic"
    dim: Annotated[int, Field(ge=2, le=8)]
    model: Literal["lorentz", "poincare"] = "lorentz"
    radius: Number | None = None


class Position(SpaceSpec):
    """The position of a ``Pose``; on the wire three numbers in ``unit``, or ``{mm: […]}`` or ``{m: […]}`` by name."""

    bounds: tuple[Bounds, Bounds, Bounds] | None = None
    unit: Literal["m", "mm"] = "m"  # here it says what numbers are converted to


class Pose(SpaceSpec):
    """A position and an orientation; on the wire an object of ``position`` and ``orientation``.

    Homogeneous matrices are understood: four rows, or ``{matrix: [16 numbers], layout: row_major | column_major}``.
    """

    type: Literal["pose"] = "pose"
    position: Position
    orientation: Rotation = Rotation()


class Product(SpaceSpec):
    """Named spaces together; on the wire an object, name to point. Nested names are joined as ``outer.inner``."""

    type: Literal["product"] = "product"
    factors: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_\-]*$", max_length=64)], Space],
        Field(min_length=1, max_length=32),
    ]


SPACE_TYPES: dict[str, type[SpaceSpec]] = {
    kind.model_fields["type"].default: kind
    for kind in (Real, Integer, Euclidean, Joints, Torus, Sphere, Rotation, SPD, Hyperbolic, Pose, Product)
}
"""Every kind of space by its ``type``."""

Space = Annotated[
    Real | Integer | Euclidean | Joints | Torus | Sphere | Rotation | SPD | Hyperbolic | Pose | Product,
    Field(discriminator="type"),
]
"""Any space spec, told apart by its ``type``."""

Product.model_rebuild()
