"""What can be wrong with a spec or a point, as values that a service can pass on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One broken rule: where (a JSON pointer within the spec or point), what, the value found, and the rule."""

    pointer: str
    detail: str
    got: Any
    rule: str

    def under(self, prefix: str) -> Fault:
        """The same fault, seen from one level further out."""
        return replace(self, pointer=prefix + self.pointer)


@dataclass(frozen=True)
class Correction:
    """Something that was mended in an accepted point, and by how much."""

    pointer: str
    detail: str
    deviation: float

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
