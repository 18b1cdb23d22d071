"""The named product of manifolds that a spec describes: points in JSON, rows in tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.codec import BoxCodec, Codec, Reading, RotationCodec, SPDCodec, SphereCodec
from geodrome_core.geometry.faults import Correction, Fault, Faulty, PointError, SpaceError, point_fault, raise_all
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere

BARE = ""
"""Name of the only factor of a space that is no product."""


@dataclass(frozen=True)
class CheckedPoint:
    """A point that was read and found on its manifold.

    Attributes:
        row: (d,) for the model.
        point: Canonical JSON form, for storing and answering.
        corrections: What was mended.
        outside: Rules of the domain that it breaks; empty inside.
    """

    row: Tensor
    point: Any
    corrections: tuple[Correction, ...]
    outside: tuple[Fault, ...]


class Space:
    """A search space: one manifold, or a named product of them.

    Attributes:
        spec: The spec that it was built from.
        manifold: The ``Product`` of the factors, in the order of the spec; a product of one for a bare space.
    """

    def __init__(self, spec: Mapping[str, Any], codecs: Mapping[str, Codec]) -> None:
        self.spec = spec
        self._codecs = dict(codecs)
        self.manifold = Product({name: codec.manifold for name, codec in self._codecs.items()})

    @property
    def factors(self) -> dict[str, Manifold]:
        """Manifolds by flattened name (``outer.inner``); a bare space has one, named "" ."""
        return self.manifold.factors

    @property
    def is_bounded(self) -> bool:
        """Whether every factor has a bounded domain."""
        return not self.unbounded

    @property
    def unbounded(self) -> tuple[str, ...]:
        """JSON pointers, within the spec, of the factors without bounds."""
        return tuple(_spec_pointer(name) for name, factor in self.factors.items() if not factor.is_bounded)

    def check(self, point: Any) -> CheckedPoint:
        """Reads a point in any accepted form.

        Raises:
            PointError: It is in no accepted form or off the manifold; ``faults`` lists every broken rule.
        """
        parts = self._split(point)
        readings: dict[str, Reading] = {}
        errors: list[Faulty] = []
        for name, codec in self._codecs.items():
            try:
                readings[name] = codec.read(parts[name])
            except PointError as error:
                errors.append(PointError(*(fault.under(_point_pointer(name)) for fault in error.faults)))
        raise_all(PointError, errors)
        canonical = self._join({name: reading.point for name, reading in readings.items()})
        return CheckedPoint(
            row=self._row(canonical),
            point=canonical,
            corrections=tuple(c.under(_point_pointer(name)) for name, r in readings.items() for c in r.corrections),
            outside=tuple(f.under(_point_pointer(name)) for name, r in readings.items() for f in r.outside),
        )

    def rows(self, points: Sequence[Any]) -> Float[Tensor, "n d"]:
        """Rows of points in any accepted form.

        Raises:
            PointError: A point cannot be read; its pointer begins with the point's index.
        """
        checked: list[Tensor] = []
        errors: list[Faulty] = []
        for index, point in enumerate(points):
            try:
                checked.append(self.check(point).row)
            except PointError as error:
                errors.append(PointError(*(fault.under(f"/{index}") for fault in error.faults)))
        raise_all(PointError, errors)
        return torch.stack(checked) if checked else torch.empty(0, self.manifold.width, dtype=torch.float64)

    def point(self, row: Float[Tensor, "d"]) -> Any:
        """Canonical JSON point of a row on the manifold; inside the domain if the row is, float32 included."""
        columns = self.manifold.columns
        return self._join({name: codec.write(row[columns[name]]) for name, codec in self._codecs.items()})

    def _row(self, canonical: Any) -> Float[Tensor, "d"]:
        parts = self._split(canonical)
        return torch.cat([codec.row(parts[name]) for name, codec in self._codecs.items()])

    def _split(self, point: Any) -> dict[str, Any]:
        """Parts by flattened name."""
        if BARE in self._codecs:
            return {BARE: point}
        parts = _flatten(point, "", set(self._codecs))
        wanted, found = set(self._codecs), set(parts)
        faults = [
            Fault(_point_pointer(name), "missing", None, f"the members {sorted(wanted)}")
            for name in sorted(wanted - found)
        ] + [
            Fault(_point_pointer(name), "unknown", None, f"the members {sorted(wanted)}")
            for name in sorted(found - wanted)
        ]
        if faults:
            raise PointError(*faults)
        return parts

    def _join(self, parts: Mapping[str, Any]) -> Any:
        """The JSON point: nested objects as in the spec."""
        if BARE in self._codecs:
            return parts[BARE]
        out: dict[str, Any] = {}
        for name, part in parts.items():
            *outer, last = name.split(".")
            target = out
            for level in outer:
                target = target.setdefault(level, {})
            target[last] = part
        return out


def space_from_spec(spec: Mapping[str, Any]) -> Space:
    """The space that a spec describes, such as ``{"type": "spd", "dim": 2, "eigenvalues": [1, 10]}``.

    Bounds may be absent here; a study asks for them.

    Raises:
        SpaceError: The spec describes no space; ``faults`` lists every broken rule.
    """
    codecs: dict[str, Codec] = {}
    errors: list[Faulty] = []
    for name, factor in _leaves(spec, ""):
        try:
            codecs[name] = _codec(factor)
        except SpaceError as error:
            errors.append(SpaceError(*(fault.under(_spec_pointer(name)) for fault in error.faults)))
    raise_all(SpaceError, errors)
    return Space(spec, codecs)


def _leaves(spec: Mapping[str, Any], name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The factors that are no products, by flattened name, in the order of the spec."""
    if spec.get("type") != "product":
        return [(name, spec)]
    factors = spec.get("factors")
    if not isinstance(factors, Mapping) or not factors:
        raise SpaceError(Fault("/factors", "a product needs at least one factor", factors, "name: space"))
    prefix = f"{name}." if name else ""
    return [leaf for key, factor in factors.items() for leaf in _leaves(factor, f"{prefix}{key}")]


def _flatten(point: Any, prefix: str, names: set[str]) -> dict[str, Any]:
    """Parts by flattened name; objects are opened only down to where a factor stands."""
    if not isinstance(point, dict):
        rule = f"an object with the members {sorted(names)}"
        raise point_fault(f"expected an object, got {point!r}", point, rule, _point_pointer(prefix.rstrip(".")))
    parts: dict[str, Any] = {}
    for key, value in point.items():
        name = f"{prefix}{key}"
        if any(other.startswith(f"{name}.") for other in names):
            parts |= _flatten(value, f"{name}.", names)
        else:
            parts[name] = value
    return parts


def _point_pointer(name: str) -> str:
    return "".join(f"/{part}" for part in name.split(".")) if name else ""


def _spec_pointer(name: str) -> str:
    return "".join(f"/factors/{part}" for part in name.split(".")) if name else ""


def _codec(spec: Mapping[str, Any]) -> Codec:
    kind = spec.get("type")
    build = CODECS.get(str(kind))
    if build is None:
        raise SpaceError(Fault("/type", f"unknown type {kind!r}", kind, f"one of {', '.join(CODECS)}, product"))
    return build(spec)


def _bounds(value: Any, scale: str, pointer: str) -> tuple[float, float]:
    """A pair lo < hi of finite numbers, positive for a log scale."""
    numbers = (
        tuple(value)
        if isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item) for item in value)
        else None
    )
    if numbers is None:
        raise SpaceError(Fault(pointer, f"expected [low, high], got {value!r}", value, "two finite numbers"))
    low, high = float(numbers[0]), float(numbers[1])
    if low == high:
        raise SpaceError(Fault(pointer, f"both bounds are {low:g}: nothing to search", value, "low < high"))
    if low > high:
        raise SpaceError(Fault(pointer, f"low {low:g} is above high {high:g}", value, "low < high"))
    if scale == "log" and low <= 0:
        raise SpaceError(Fault(pointer, f"low {low:g} has no logarithm", value, "low > 0, for the scale is log"))
    return low, high


def _dimension(spec: Mapping[str, Any], low: int, high: int, default: int | None = None) -> int:
    dim = spec.get("dim", default)
    if not isinstance(dim, int) or isinstance(dim, bool) or not low <= dim <= high:
        raise SpaceError(Fault("/dim", f"dim is {dim!r}", dim, f"a whole number from {low} to {high}"))
    return dim


def _one_of(spec: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
    value = spec.get(key, allowed[0])
    if value not in allowed:
        raise SpaceError(Fault(f"/{key}", f"{key} is {value!r}", value, f"one of {', '.join(allowed)}"))
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
    if not isinstance(bounds, Sequence) or len(bounds) != dim:
        raise SpaceError(
            Fault("/bounds", f"expected {dim} pairs, got {bounds!r}", bounds, "[low, high] for each number")
        )
    box = tuple(_bounds(pair, scale, f"/bounds/{index}") for index, pair in enumerate(bounds))
    return BoxCodec(dim=dim, bounds=box, scale=scale, scalar=False)


def _sphere(spec: Mapping[str, Any]) -> Codec:
    return SphereCodec(Sphere(_dimension(spec, 1, 31)))


def _rotation(spec: Mapping[str, Any]) -> Codec:
    _dimension(spec, 3, 3, default=3)
    representation = _one_of(spec, "representation", ("quaternion", "matrix"))
    return RotationCodec(Rotation(), representation, _one_of(spec, "order", ("wxyz", "xyzw")))


def _spd(spec: Mapping[str, Any]) -> Codec:
    size = _dimension(spec, 2, 2, default=2)
    _one_of(spec, "metric", ("affine_invariant",))
    eigenvalues = spec.get("eigenvalues")
    if eigenvalues is None:
        return SPDCodec(SPD(size))
    low, high = _bounds(eigenvalues, "linear", "/eigenvalues")
    if low <= 0:
        raise SpaceError(Fault("/eigenvalues", f"low {low:g} is not positive", eigenvalues, "low > 0"))
    return SPDCodec(SPD(size, eigenvalues=(low, high)))


CODECS: dict[str, Callable[[Mapping[str, Any]], Codec]] = {
    "real": _real,
    "euclidean": _euclidean,
    "sphere": _sphere,
    "rotation": _rotation,
    "spd": _spd,
}
"""The types of space that a spec may name, besides ``product``."""
