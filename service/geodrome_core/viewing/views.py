"""What a model says along geodesics through the recommended point, and over grids about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.engine import recommended
from geodrome_core.model import Model
from geodrome_core.problem import History, Problem
from geodrome_core.viewing.geodesics import geodesics
from geodrome_core.viewing.grids import Kind, grids

TOGETHER = 1024
"""Points that are predicted at once: a kernel may need some hundred numbers for each pair with an observation."""


@dataclass(frozen=True)
class Slice:
    """The model along a geodesic through a point.

    Attributes:
        factor: Flattened name of the factor that moves; "" in a space that is no product.
        axis: Which of the factor's principal geodesics it is, from 1.
        distances: Geodesic distances from the point on the factor's manifold, ascending, 0 at the point itself.
        points: In canonical JSON form.
        mean, std: Of the noise-free cost, in its unit.
    """

    factor: str
    axis: int
    distances: list[float]
    points: list[Any]
    mean: list[float]
    std: list[float]


@dataclass(frozen=True)
class Field:
    """The model over a grid in one factor.

    Attributes:
        factor: Flattened name of the factor; "" in a space that is no product.
        kind: What the axes are, see ``grids``.
        axes: Coordinates, one list or two.
        mean, std: Of the noise-free cost, in its unit, the first axis outermost; None outside of the domain.
    """

    factor: str
    kind: Kind
    axes: list[list[float]]
    mean: list[Any]
    std: list[Any]


@dataclass(frozen=True)
class Views:
    """The model about the point that it recommends.

    Attributes:
        at: That point, in canonical JSON form.
        slices: Along principal geodesics, factor by factor.
        fields: Over every factor that can be drawn.
    """

    at: Any
    slices: tuple[Slice, ...]
    fields: tuple[Field, ...]


def views(problem: Problem, history: History, seed: int = 0, *, start: Mapping[str, Any] | None = None) -> Views | None:
    """What there is to see of the model; None without a usable one. The same arguments give the same numbers.

    Args:
        problem: What is optimized.
        history: What is known.
        seed: Of the search for the recommended point, as for ``recommend``.
        start: Hyperparameters at which the fit begins.
    """
    model = Model.usable(problem, history, start)
    if model is None:
        return None
    at = recommended(problem, model, seed)
    lines = geodesics(problem.space, problem.domain, at, history.X)
    planes = grids(problem.space, problem.domain, at)
    rows = [line.rows for line in lines] + [plane.rows[plane.inside] for plane in planes]
    sizes = [len(part) for part in rows]
    mean, std = (whole.split(sizes) for whole in _predicted(model, torch.cat([problem.space.rows([]), *rows])))
    slices = [
        Slice(line.factor, line.axis, line.distances, line.points, m.tolist(), s.tolist())
        for line, m, s in zip(lines, mean, std, strict=False)
    ]
    fields = [
        Field(
            plane.factor,
            plane.kind,
            plane.axes,
            *(_on_grid(known, plane.inside, len(plane.axes[-1]), len(plane.axes)) for known in (m, s)),
        )
        for plane, m, s in zip(planes, mean[len(lines) :], std[len(lines) :], strict=True)
    ]
    return Views(at.point, tuple(slices), tuple(fields))


def _predicted(model: Model, rows: Float[Tensor, "n d"]) -> tuple[Tensor, Tensor]:
    """Means and deviations, some at a time."""
    found = [model.predict(part) for part in rows.split(TOGETHER)]
    mean, std = zip(*found, strict=True)
    return torch.cat(mean), torch.cat(std)


def _on_grid(known: Float[Tensor, " k"], inside: Tensor, width: int, dim: int) -> list[Any]:
    """Values inside in their places, None in all others; nested in rows where there are two axes."""
    rest = iter(known.tolist())
    flat = [next(rest) if is_inside else None for is_inside in inside.tolist()]
    return flat if dim == 1 else [flat[first : first + width] for first in range(0, len(flat), width)]
