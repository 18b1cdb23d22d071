"""The factors of a space, by the names that the service gives them, and where each stands in a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geodrome import schemas
from geodrome.spaces import Euclidean, Pose, Product, SpaceSpec


@dataclass(frozen=True)
class Factor:
    """One manifold of a space.

    Attributes:
        name: Flattened, such as ``arm.tool`` or ``grasp.orientation``; None for a space that is no product.
        spec: The manifold's own; the position of a pose is a vector.
    """

    name: str | None
    spec: SpaceSpec

    @property
    def title(self) -> str:
        """What figures call it."""
        return self.name or self.spec.model_dump()["type"]

    def of(self, point: schemas.Point) -> Any:
        """This factor's part of a point; nested names may be joined there."""
        return point if self.name is None else _part(point, self.name)


def factors(space: SpaceSpec) -> list[Factor]:
    """All factors in the order of the spec; a pose has two."""
    return _flattened(space, "")


def _flattened(space: SpaceSpec, name: str) -> list[Factor]:
    parts: Mapping[str, SpaceSpec]
    match space:
        case Product():
            parts = space.factors
        case Pose():
            position = Euclidean(dim=3, bounds=space.position.bounds, unit=space.position.unit)
            parts = {"position": position, "orientation": space.orientation}
        case _:
            return [Factor(name or None, space)]
    return [factor for part, spec in parts.items() for factor in _flattened(spec, f"{name}.{part}" if name else part)]


def _part(point: schemas.Point, name: str) -> Any:
    if name in point:
        return point[name]
    first, _, rest = name.partition(".")
    return _part(point[first], rest)
