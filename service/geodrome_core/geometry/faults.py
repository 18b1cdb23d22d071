"""What can be wrong with a spec or a point, as values that a service can pass on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from reprlib import Repr
from typing import Any

DEEPEST = 6
"""Levels of a value that are shown; a parser accepts a thousand, which ``repr`` cannot print."""

_REPR = Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxtuple, _REPR.maxdict = DEEPEST, 12, 12, 12
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = 60


@dataclass(frozen=True)
class Fault:
    """One broken rule: where (a JSON pointer within the spec or point), what, the value found as JSON, and the rule."""

    pointer: str
    detail: str
    got: Any
    rule: str

    def __post_init__(self) -> None:
        """Infinities and NaN, which JSON has no numbers for, become strings."""
        object.__setattr__(self, "got", _as_json(self.got, DEEPEST))

    def under(self, prefix: str) -> Fault:
        """The same fault, seen from one level further out."""
        return replace(self, pointer=prefix + self.pointer)


@dataclass(frozen=True)
class Correction:
    """Something that was mended in an accepted point, by how much, and what was found there, as JSON."""

    pointer: str
    detail: str
    deviation: float
    got: Any

    def under(self, prefix: str) -> Correction:
        """The same correction, seen from one level further out."""
        return replace(self, pointer=prefix + self.pointer)


class Faulty(ValueError):
    """Input that breaks rules; ``faults`` lists all of them."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(f"{fault.pointer or '/'}: {fault.detail}" for fault in faults))
        self.faults = faults


class PointError(Faulty):
    """The point is not on its manifold, or not written in an accepted form."""


class SpaceError(Faulty):
    """The spec describes no space.

    Attributes:
        empty: True when the spec is well-formed but its domain has no point.
    """

    def __init__(self, *faults: Fault, empty: bool = False) -> None:
        super().__init__(*faults)
        self.empty = empty


def point_fault(detail: str, got: Any, rule: str, pointer: str = "") -> PointError:
    """A point error of a single fault."""
    return PointError(Fault(pointer, detail, got, rule))


def raise_all(kind: type[Faulty], errors: Sequence[Faulty]) -> None:
    """Raises one error with the faults of all of them; returns if there are none."""
    if errors:
        raise kind(*(fault for error in errors for fault in error.faults))


def shown(value: Any) -> str:
    """A value that was found, short enough for a message however large or deep it is."""
    return _REPR.repr(value)


def pointer_to(*names: str) -> str:
    """JSON pointer (RFC 6901) to the member of these names."""
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def _as_json(value: Any, levels: int) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if levels == 0:
        return shown(value)
    if isinstance(value, list | tuple):
        return [_as_json(item, levels - 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _as_json(item, levels - 1) for key, item in value.items()}
    return shown(value)
