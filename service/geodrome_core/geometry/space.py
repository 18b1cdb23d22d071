"""The named product of manifolds in which points are searched: points in JSON, rows in tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.codec import Codec, Reading
from geodrome_core.geometry.constrained import ConstrainedProduct
from geodrome_core.geometry.constraints import Linear, linear
from geodrome_core.geometry.faults import (
    Correction,
    Fault,
    Faulty,
    PointError,
    SpaceError,
    point_fault,
    pointer_to,
    raise_all,
    shown,
)
from geodrome_core.geometry.forms import Form
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.pose import is_homogeneous, opened
from geodrome_core.geometry.product import Product

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

    def __init__(
        self,
        spec: Mapping[str, Any],
        codecs: Mapping[str, Codec],
        pointers: Mapping[str, str],
        *,
        poses: frozenset[str] = frozenset(),
        constraints: Sequence[Any] = (),
    ) -> None:
        self.spec = spec
        self._codecs = dict(codecs)
        self._pointers = dict(pointers)
        self._poses = poses
        factors = {name: codec.manifold for name, codec in self._codecs.items()}
        self.manifold = Product(factors)
        self._form = Form()
        self._linear: Linear | None = None
        if constraints:
            self._linear = linear(constraints, self._codecs, self.manifold)
            self.manifold = ConstrainedProduct(factors, self._linear.polytope)

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
        return tuple(self._pointers[name] for name, factor in self.factors.items() if not factor.is_bounded)

    def constrained(self, constraints: Sequence[Any]) -> Space:
        """The same space, its domain narrowed by constraints between reals.

        Args:
            constraints: Such as ``{"type": "linear", "coefficients": {"a": 1, "b[0]": -2}, "upper": 1}``.

        Raises:
            SpaceError: A constraint cannot be read, or no point satisfies all; pointers begin with its index.
        """
        return Space(self.spec, self._codecs, self._pointers, poses=self._poses, constraints=constraints)

    def in_form(self, form: Form) -> Space:
        """The same space, with points read and written in another form than the spec's.

        Raises:
            SpaceError: The form says something of factors that the space has not.
        """
        if faults := form.faults(self._codecs.values()):
            raise SpaceError(*faults)
        # The constraints are not looked into anew.
        other = copy(self)
        other._form = form
        return other

    def written(self, point: Any) -> Any:
        """A canonical point in the form that was asked for."""
        parts = self._split(point)
        return self._join({name: self._form.write(codec, parts[name].value) for name, codec in self._codecs.items()})

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
                readings[name] = codec.read(self._form.read(codec, parts[name].value))
            except PointError as error:
                errors.append(PointError(*(fault.under(parts[name].pointer) for fault in error.faults)))
        raise_all(PointError, errors)
        canonical = self._join({name: reading.point for name, reading in readings.items()})
        row = self.row(canonical)
        outside = tuple(f.under(parts[name].pointer) for name, r in readings.items() for f in r.outside)
        return CheckedPoint(
            row=row,
            point=canonical,
            corrections=tuple(c.under(parts[name].pointer) for name, r in readings.items() for c in r.corrections),
            outside=outside if self._linear is None else outside + self._linear.broken(row),
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

    def moved(self, point: Any, factor: str, row: Float[Tensor, "k"]) -> Any:
        """The canonical point that differs from another in one factor.

        Args:
            point: The other, canonical.
            factor: Flattened name of the factor.
            row: What stands in the factor's own columns, on its manifold.
        """
        parts = {name: part.value for name, part in self._split(point).items()}
        return self._join(parts | {factor: self._codecs[factor].write(row)})

    def row(self, canonical: Any) -> Float[Tensor, "d"]:
        """Row of a canonical point, which is not checked."""
        parts = self._split(canonical)
        return torch.cat([codec.row(parts[name].value) for name, codec in self._codecs.items()])

    def _split(self, point: Any) -> dict[str, _Part]:
        """Parts by flattened name."""
        if BARE in self._codecs:
            return {BARE: _Part("", point)}
        parts: dict[str, _Part] = {}
        faults = _Split(list(self._codecs), self._poses, parts).flatten(_Part("", point), "")
        rule = f"the members {list(self._codecs)}"
        missing = [
            Fault(pointer_to(*name.split(".")), "missing", None, rule) for name in self._codecs if name not in parts
        ]
        if missing or faults:
            raise PointError(*missing, *faults)
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


@dataclass(frozen=True)
class _Part:
    """A part of a point, and where it was found."""

    pointer: str
    value: Any


@dataclass(frozen=True)
class _Split:
    """The parts of a point by flattened name, as they are found.

    Attributes:
        names: Of all factors.
        poses: Products that may come as one matrix.
        parts: What was found.
    """

    names: Sequence[str]
    poses: frozenset[str]
    parts: dict[str, _Part]

    def flatten(self, whole: _Part, name: str) -> list[Fault]:
        """Takes the parts of a product, named so, and returns what is wrong.

        Objects are opened only down to where a factor stands.

        Raises:
            PointError: What stands for a product is no object.
        """
        prefix = f"{name}." if name else ""
        if name in self.poses and is_homogeneous(whole.value):
            self.parts.update({prefix + part: _Part(whole.pointer, v) for part, v in self._opened(whole).items()})
            return []
        if not isinstance(whole.value, dict):
            rule = f"an object with the members {list(self.names)}"
            raise point_fault(f"expected an object, got {shown(whole.value)}", whole.value, rule, whole.pointer)
        faults: list[Fault] = []
        for key, value in whole.value.items():
            own, part = f"{prefix}{key}", _Part(whole.pointer + pointer_to(str(key)), value)
            if own in self.parts:
                faults.append(Fault(part.pointer, f"{own} is given twice", value, "each part once"))
            elif own in self.names:
                self.parts[own] = part
            elif any(other.startswith(f"{own}.") for other in self.names):
                faults += self.flatten(part, own)
            else:
                faults.append(Fault(part.pointer, "unknown", value, f"the members {list(self.names)}"))
        return faults

    @staticmethod
    def _opened(whole: _Part) -> dict[str, Any]:
        try:
            return opened(whole.value)
        except PointError as error:
            raise PointError(*(fault.under(whole.pointer) for fault in error.faults)) from error
