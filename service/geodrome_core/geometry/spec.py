"""From specs, such as ``{"type": "sphere", "dim": 2}``, to spaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geodrome_core.geometry.angle_codecs import JointsCodec, TorusCodec
from geodrome_core.geometry.ball import Ball
from geodrome_core.geometry.codec import BoxCodec, Codec, RotationCodec, SphereCodec
from geodrome_core.geometry.faults import Fault, PointError, SpaceError, pointer_to, shown
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.hyperbolic_codec import FARTHEST, HyperbolicCodec
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.integer_codec import LARGEST, IntegerCodec
from geodrome_core.geometry.pose import METRES, PositionCodec
from geodrome_core.geometry.reading import is_number
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.space import Space
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.spd_codec import CONDITION_LIMIT, LARGEST_EIGENVALUE, SMALLEST_EIGENVALUE, SPDCodec
from geodrome_core.geometry.spd_domain import EigenvalueBox
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.special_orthogonal_codec import SpecialOrthogonalCodec
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.geometry.torus import Torus

DEEPEST_PRODUCT = 8
"""Levels of nested products; nobody needs more, and a parser accepts a thousand."""

LARGEST_CURVED = 3
"""Rows of matrices up to which the kernels of the affine-invariant metric are known."""

SMALLEST_RADIUS = 1e-6
"""Of a hyperbolic domain: in a smaller one curvature is far below the digits of a cost."""

SMALLEST_BALL, LARGEST_BALL = 1e-3, 3.14
"""Radii in radians: floats of 32 bits resolve 1e-4 of the first, and what the second leaves out is as small."""

NARROWEST_EIGENVALUES, WIDEST_EIGENVALUES = 1.000005, 0.1 / CONDITION_LIMIT
"""Ratios of the bounds: between closer ones rounding leaves no matrix, between wider ones matrices are singular."""

MOST_JOINTS = 64

ANGLE_UNITS = ("rad", "deg")
"""The first is meant where none is named."""

FREE_TEXT = ("unit", "frame", "relative_to")
"""Members of every spec that are stored and echoed, and mean nothing here, but for the unit of angles."""

CHOICE_IS_RESERVED = "the type choice is reserved and not built yet; make one study for each of its values"

Builder = tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Codec]]
"""The members of a spec, and how it is built."""


def space_from_spec(spec: Any) -> Space:
    """The space that a spec describes, such as ``{"type": "spd", "dim": 2, "eigenvalues": [1, 10]}``.

    Bounds may be absent here; a study asks for them.

    Raises:
        SpaceError: The spec describes no space; ``faults`` lists every broken rule.
    """
    leaves, faults = _leaves(spec, (), "")
    codecs: dict[str, Codec] = {}
    for leaf in leaves:
        try:
            codecs[leaf.name] = _codec(leaf.spec, leaf.known)
        except SpaceError as error:
            faults += [fault.under(leaf.pointer) for fault in error.faults]
    if faults:
        raise SpaceError(*faults)
    poses = frozenset(".".join(leaf.path[:-1]) for leaf in leaves if leaf.known is POSE_PARTS)
    return Space(spec, codecs, {leaf.name: leaf.pointer for leaf in leaves}, poses=poses)


@dataclass(frozen=True)
class _Leaf:
    """A factor that is no product.

    Attributes:
        path: The names that lead to it, from the outermost product inwards.
        pointer: Where its spec stands.
        spec: The spec.
        known: Among which types it is.
    """

    path: tuple[str, ...]
    pointer: str
    spec: Mapping[str, Any]
    known: Mapping[str, Builder]

    @property
    def name(self) -> str:
        """Flattened."""
        return ".".join(self.path)


def _leaves(spec: Any, path: tuple[str, ...], here: str) -> tuple[list[_Leaf], list[Fault]]:
    """The factors that are no products, in the order of the spec, and what is wrong."""
    if not isinstance(spec, Mapping):
        return [], [Fault(here, f"expected a space, got {shown(spec)}", spec, "an object with a type")]
    if spec.get("type") == "pose":
        return _parts_of_pose(spec, path, here)
    if spec.get("type") != "product":
        return [_Leaf(path, here, spec, CODECS)], []
    factors = spec.get("factors")
    if not isinstance(factors, Mapping) or not factors:
        return [], [Fault(f"{here}/factors", "a product needs at least one factor", factors, "name: space")]
    if len(path) == DEEPEST_PRODUCT:
        return [], [Fault(here, "products are nested too deep", None, f"at most {DEEPEST_PRODUCT} levels")]
    leaves: list[_Leaf] = []
    faults = _unknown(spec, ("factors",), here)
    for name, factor in factors.items():
        if not isinstance(name, str) or not name or "." in name:
            rule = "a name without dots, which join the names of nested products"
            faults.append(Fault(f"{here}/factors", f"no factor can be named {shown(name)}", name, rule))
            continue
        inner, wrong = _leaves(factor, (*path, name), f"{here}/factors{pointer_to(name)}")
        leaves += inner
        faults += wrong
    return leaves, faults


def _parts_of_pose(spec: Mapping[str, Any], path: tuple[str, ...], here: str) -> tuple[list[_Leaf], list[Fault]]:
    """A pose is a product of two factors, whose types go without saying."""
    leaves: list[_Leaf] = []
    faults = _unknown(spec, ("position", "orientation"), here)
    for name, kind in {"position": "position", "orientation": "rotation"}.items():
        part, pointer = spec.get(name), f"{here}/{name}"
        if not isinstance(part, Mapping) or part.get("type", kind) != kind:
            rule = "an object with bounds" if name == "position" else "an object with the members of a rotation"
            faults.append(Fault(pointer, f"expected the {name} of a pose, got {shown(part)}", part, rule))
        else:
            leaves.append(_Leaf((*path, name), pointer, {**part, "type": kind}, POSE_PARTS))
    return leaves, faults


def _unknown(spec: Mapping[str, Any], known: tuple[str, ...], here: str = "") -> list[Fault]:
    """Members that mean nothing: a misspelt bound must not become a missing one."""
    allowed = ("type", *known, *FREE_TEXT)
    return [
        Fault(here + pointer_to(str(key)), "unknown", spec[key], f"one of {', '.join(allowed)}")
        for key in spec
        if key not in allowed
    ]


def _codec(spec: Mapping[str, Any], types: Mapping[str, Builder]) -> Codec:
    kind = spec.get("type")
    if not isinstance(kind, str) or kind not in types:
        detail = CHOICE_IS_RESERVED if kind == "choice" else f"unknown type {shown(kind)}"
        raise SpaceError(Fault("/type", detail, kind, f"one of {', '.join(CODECS)}, pose, product"))
    known, build = types[kind]
    if faults := _unknown(spec, known):
        raise SpaceError(*faults)
    return build(spec)


def _bounds(value: Any, scale: str, pointer: str) -> tuple[float, float]:
    """A pair lo < hi of finite numbers, positive for a log scale."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(is_number(item) for item in value):
        raise SpaceError(Fault(pointer, f"expected [low, high], got {shown(value)}", value, "two finite numbers"))
    low, high = float(value[0]), float(value[1])
    if low == high:
        raise SpaceError(Fault(pointer, f"both bounds are {low:g}: nothing to search", value, "low < high"))
    if low > high:
        raise SpaceError(Fault(pointer, f"low {low:g} is above high {high:g}", value, "low < high"))
    if scale == "log" and low <= 0:
        raise SpaceError(Fault(pointer, f"low {low:g} has no logarithm", value, "low > 0, for the scale is log"))
    width = math.log(high) - math.log(low) if scale == "log" else high - low
    if not 0 < width < math.inf:
        rule = "a width that a double can hold"
        raise SpaceError(Fault(pointer, f"no box can be measured between {low:g} and {high:g}", value, rule))
    return low, high


def _dimension(spec: Mapping[str, Any], low: int, high: int, default: int | None = None) -> int:
    dim = spec.get("dim", default)
    if not isinstance(dim, int) or isinstance(dim, bool) or not low <= dim <= high:
        raise SpaceError(Fault("/dim", f"dim is {shown(dim)}", dim, f"a whole number from {low} to {high}"))
    return dim


def _one_of(spec: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
    value = spec.get(key, allowed[0])
    if value not in allowed:
        raise SpaceError(Fault(f"/{key}", f"{key} is {shown(value)}", value, f"one of {', '.join(allowed)}"))
    return value


def _real(spec: Mapping[str, Any]) -> Codec:
    scale = _one_of(spec, "scale", ("linear", "log"))
    bounds = spec.get("bounds")
    box = None if bounds is None else (_bounds(bounds, scale, "/bounds"),)
    return BoxCodec(dim=1, bounds=box, scale=scale, scalar=True)


def _euclidean(spec: Mapping[str, Any]) -> Codec:
    dim = _dimension(spec, 1, 64)
    scale = _one_of(spec, "scale", ("linear", "log"))
    bounds = spec.get("bounds")
    if bounds is None:
        return BoxCodec(dim=dim, bounds=None, scale=scale, scalar=False)
    if not isinstance(bounds, list | tuple) or len(bounds) != dim:
        raise SpaceError(
            Fault("/bounds", f"expected {dim} pairs, got {shown(bounds)}", bounds, "[low, high] for each number")
        )
    return BoxCodec(dim=dim, bounds=_box(bounds, scale), scale=scale, scalar=False)


def _position(spec: Mapping[str, Any]) -> Codec:
    unit = _one_of({key: value for key, value in spec.items() if value is not None}, "unit", tuple(METRES))
    bounds = spec.get("bounds")
    if bounds is not None and (not isinstance(bounds, list | tuple) or len(bounds) != 3):
        rule = "[low, high] for x, y and z"
        raise SpaceError(Fault("/bounds", f"expected 3 pairs, got {shown(bounds)}", bounds, rule))
    box = None if bounds is None else _box(bounds, "linear")
    return PositionCodec(dim=3, bounds=box, scale="linear", scalar=False, unit=unit)


def _orientation(spec: Mapping[str, Any]) -> Codec:
    size = _dimension(spec, 2, 8, default=3)
    if size != 3:
        raise SpaceError(Fault("/dim", f"dim is {size}", size, "3, for the orientation of a pose"))
    return _rotation(spec)


def _box(bounds: Sequence[Any], scale: str) -> tuple[tuple[float, float], ...]:
    return tuple(_bounds(pair, scale, f"/bounds/{index}") for index, pair in enumerate(bounds))


def _joints(spec: Mapping[str, Any]) -> Codec:
    unit = _one_of(spec, "unit", ANGLE_UNITS)
    bounds = spec.get("bounds")
    if not isinstance(bounds, list | tuple) or not 1 <= len(bounds) <= MOST_JOINTS:
        rule = f"[low, high] for each joint, at most {MOST_JOINTS}"
        raise SpaceError(Fault("/bounds", f"expected a pair for each joint, got {shown(bounds)}", bounds, rule))
    return JointsCodec(dim=len(bounds), bounds=_box(bounds, "linear"), scale="linear", scalar=False, unit=unit)


def _torus(spec: Mapping[str, Any]) -> Codec:
    return TorusCodec(Torus(_dimension(spec, 1, 32)), _one_of(spec, "unit", ANGLE_UNITS))


def _integer(spec: Mapping[str, Any]) -> Codec:
    bounds = spec.get("bounds")
    low, high = _bounds(bounds, "linear", "/bounds")
    if low != math.floor(low) or high != math.floor(high):
        raise SpaceError(Fault("/bounds", f"[{low:g}, {high:g}] are no whole numbers", bounds, "whole numbers"))
    if max(abs(low), abs(high)) > LARGEST:
        detail = f"[{low:g}, {high:g}] is too large to tell neighbours apart"
        raise SpaceError(Fault("/bounds", detail, bounds, "at most 2^53 in size"))
    return IntegerCodec(Integer(int(high) - int(low)), int(low))


def _sphere(spec: Mapping[str, Any]) -> Codec:
    dim = _dimension(spec, 1, 31)
    return SphereCodec(Sphere(dim, cap=_ball(spec, "cap", SphereCodec(Sphere(dim)))))


def _rotation(spec: Mapping[str, Any]) -> Codec:
    size = _dimension(spec, 2, 8, default=3)
    given = {key: value for key, value in spec.items() if value is not None}
    representation = _one_of(
        given, "representation", ("quaternion", "matrix") if size == 3 else ("matrix", "quaternion")
    )
    order = _one_of(given, "order", ("wxyz", "xyzw"))
    if size == 3:
        ball = _ball(spec, "ball", RotationCodec(Rotation(), representation, order))
        return RotationCodec(Rotation(ball=ball), representation, order)
    if representation == "quaternion":
        rule = "matrix, unless dim is 3"
        raise SpaceError(Fault("/representation", f"rotations of dim {size} have no quaternion", representation, rule))
    if "order" in given:
        rule = "only for quaternions, which need dim 3"
        raise SpaceError(Fault("/order", f"the matrices of dim {size} have no order", order, rule))
    ball = _ball(spec, "ball", SpecialOrthogonalCodec(SpecialOrthogonal(size)))
    return SpecialOrthogonalCodec(SpecialOrthogonal(size, ball=ball))


def _ball(spec: Mapping[str, Any], key: str, codec: Codec) -> Ball | None:
    """The ball that a member describes, its center read as a point of the whole manifold; None without one."""
    value = spec.get(key)
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != {"center", "radius"}:
        rule = "an object with the members center, a point, and radius, in radians"
        raise SpaceError(Fault(f"/{key}", f"expected a center and a radius, got {shown(value)}", value, rule))
    faults: list[Fault] = []
    radius = value["radius"]
    if not is_number(radius) or not SMALLEST_BALL <= radius <= LARGEST_BALL:
        rule = (
            f"radians from {SMALLEST_BALL:g} to {LARGEST_BALL:g}, short of pi; without {key} the domain is everything"
        )
        faults.append(Fault(f"/{key}/radius", f"radius is {shown(radius)}", radius, rule))
    try:
        center = codec.read(value["center"])
    except PointError as error:
        raise SpaceError(*faults, *(fault.under(f"/{key}/center") for fault in error.faults)) from error
    if faults:
        raise SpaceError(*faults)
    return Ball(codec.row(center.point), float(radius))


def _spd(spec: Mapping[str, Any]) -> Codec:
    size = _dimension(spec, 2, 6, default=2)
    metric = _one_of(spec, "metric", tuple(METRICS))
    if metric in CURVED and size > LARGEST_CURVED:
        rule = f"2 or 3 for metric {metric}, up to 6 for metric log_euclidean or cholesky"
        raise SpaceError(Fault("/dim", f"dim is {size}", size, rule))
    eigenvalues = spec.get("eigenvalues")
    if eigenvalues is None:
        return SPDCodec(METRICS[metric](size))
    low, high = _bounds(eigenvalues, "linear", "/eigenvalues")
    if low <= 0:
        raise SpaceError(Fault("/eigenvalues", f"low {low:g} is not positive", eigenvalues, "low > 0"))
    if low < SMALLEST_EIGENVALUE or high > LARGEST_EIGENVALUE:
        detail = f"[{low:g}, {high:g}] is too far from 1 to compute with"
        raise SpaceError(Fault("/eigenvalues", detail, eigenvalues, "from 1e-150 to 1e150"))
    if not NARROWEST_EIGENVALUES <= high / low <= WIDEST_EIGENVALUES:
        detail = f"high is {high / low:.9g} times low"
        rule = f"from {NARROWEST_EIGENVALUES:.7g}, which floats of 32 bits resolve, to {WIDEST_EIGENVALUES:g} times"
        raise SpaceError(Fault("/eigenvalues", detail, eigenvalues, rule))
    return SPDCodec(METRICS[metric](size, eigenvalues=(low, high)))


METRICS: dict[str, type[EigenvalueBox]] = {
    "affine_invariant": SPD,
    "log_euclidean": LogEuclideanSPD,
    "cholesky": CholeskySPD,
    "eigen_product": EigenProductSPD,
}
"""The metrics of SPD(n), the first of them meant where none is named."""

CURVED = ("affine_invariant", "eigen_product")
"""Those that have a kernel for few sizes only."""


def _hyperbolic(spec: Mapping[str, Any]) -> Codec:
    dim = _dimension(spec, 2, 8)
    model = _one_of(spec, "model", ("lorentz", "poincare"))
    radius = spec.get("radius")
    if radius is None:
        return HyperbolicCodec(Hyperbolic(dim), model)
    if not is_number(radius) or not SMALLEST_RADIUS <= radius <= FARTHEST:
        rule = f"a distance from {SMALLEST_RADIUS:g} to {FARTHEST:g}"
        raise SpaceError(Fault("/radius", f"radius is {shown(radius)}", radius, rule))
    return HyperbolicCodec(Hyperbolic(dim, radius=float(radius)), model)


CODECS: dict[str, Builder] = {
    "real": (("bounds", "scale"), _real),
    "integer": (("bounds",), _integer),
    "euclidean": (("dim", "bounds", "scale"), _euclidean),
    "joints": (("bounds",), _joints),
    "sphere": (("dim", "cap"), _sphere),
    "torus": (("dim",), _torus),
    "rotation": (("dim", "representation", "order", "ball"), _rotation),
    "spd": (("dim", "eigenvalues", "metric"), _spd),
    "hyperbolic": (("dim", "model", "radius"), _hyperbolic),
}
"""The types of space that a spec may name, besides ``product`` and ``pose``."""

POSE_PARTS: dict[str, Builder] = {
    "position": (("bounds",), _position),
    "rotation": (CODECS["rotation"][0], _orientation),
}
"""The parts of a pose."""
