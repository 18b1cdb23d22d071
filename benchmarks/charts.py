"""Spaces as boxes of numbers: what people give to an optimizer that knows no manifolds.

Two ways of doing it are offered. ``ambient`` takes the numbers that a point is written with and brings a proposal back
to the nearest point; ``parametrized`` takes as many numbers as the space has dimensions, or nearly so. Proposals that
leave the domain are brought back to it. Numbers are scaled to [0, 1].

===========  ==================================  ======================================
space        ambient                             parametrized
===========  ==================================  ======================================
sphere       entries of the unit vector          hyperspherical angles
rotation     entries of the matrix               roll, pitch and yaw
SPD          entries on and above the diagonal   Cholesky factor, its diagonal as logarithms
hyperbolic   spatial entries in R^(d, 1)         the Poincaré ball
torus        cosine and sine of each angle       angles
reals        as they are                         as they are
===========  ==================================  ======================================
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from geodrome_core import Space
from geodrome_core.geometry.hyperbolic import from_poincare, lifted, to_poincare
from geodrome_core.geometry.manifold import Manifold
from problems import specs_of_factors
from scipy.spatial.transform import Rotation
from torch import Tensor

Kind = Literal["ambient", "parametrized"]

NEAR_ZERO = 1e-12
"""Where a vector has no direction, the proposal is brought back to a point all the same."""


class Part(ABC):
    """The box of one factor.

    Attributes:
        low, high: (m,) its sides.
    """

    low: Tensor
    high: Tensor

    @abstractmethod
    def numbers(self, x: Tensor) -> Tensor:
        """Rows (n, d) as numbers (n, m) between ``low`` and ``high``."""

    @abstractmethod
    def rows(self, u: Tensor) -> Tensor:
        """The way back, not yet in the domain."""


@dataclass(frozen=True)
class Chart:
    """The box of a space.

    Attributes:
        manifold: Of the space.
        parts: The boxes of its factors, in their order.
        columns: Where each factor stands in a row.
    """

    manifold: Manifold
    parts: Mapping[str, Part]
    columns: Mapping[str, slice]

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(len(part.low) for part in self.parts.values())

    def numbers(self, X: Tensor) -> Tensor:
        """Rows (n, d) as numbers (n, m) in [0, 1]."""
        scaled = [
            (part.numbers(X[:, self.columns[name]]) - part.low) / (part.high - part.low)
            for name, part in self.parts.items()
        ]
        return torch.cat(scaled, -1).clamp(0, 1)

    def rows(self, U: Tensor) -> Tensor:
        """Points (n, d) of the domain for numbers (n, m)."""
        pieces = U.split([len(part.low) for part in self.parts.values()], -1)
        points = [
            part.rows(part.low + (part.high - part.low) * piece)
            for part, piece in zip(self.parts.values(), pieces, strict=True)
        ]
        return self.manifold.clamp(self.manifold.nearest(torch.cat(points, -1)))


def chart(space: Space, kind: Kind) -> Chart:
    """The box of a space.

    Raises:
        ValueError: None is known for a factor.
    """
    specs = specs_of_factors(space)
    parts = {name: part(specs[name], factor, kind) for name, factor in space.factors.items()}
    return Chart(space.manifold, parts, space.manifold.columns)


def part(spec: Mapping[str, Any], factor: Manifold, kind: Kind) -> Part:
    """The box of a factor by its spec."""
    is_ambient = kind == "ambient"
    match spec["type"]:
        case "sphere":
            return Entries(factor.width) if is_ambient else Angles(spec["dim"])
        case "rotation":
            return Entries(factor.width) if is_ambient else RollPitchYaw()
        case "spd":
            low, high = spec["eigenvalues"]
            return Symmetric(spec["dim"], low, high) if is_ambient else Cholesky(spec["dim"], low, high)
        case "hyperbolic":
            return Spatial(spec["dim"], spec["radius"]) if is_ambient else Poincare(spec["dim"], spec["radius"])
        case "torus":
            return Circles(factor.width) if is_ambient else Turns(factor.width)
        case "euclidean" | "real":
            return Box(factor.width)
        case other:
            raise ValueError(f"no box is known for {other}")


class Box(Part):
    """Numbers in [0, 1] as they are."""

    def __init__(self, size: int) -> None:
        self.low = torch.zeros(size, dtype=torch.float64)
        self.high = torch.ones(size, dtype=torch.float64)

    def numbers(self, x: Tensor) -> Tensor:
        """As it is."""
        return x

    def rows(self, u: Tensor) -> Tensor:
        """As it is."""
        return u


class Entries(Box):
    """Numbers in [-1, 1]: of unit vectors, and of rotation matrices."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.low = -self.high

    def rows(self, u: Tensor) -> Tensor:
        """As it is; any direction where there is none."""
        is_zero = u.norm(dim=-1, keepdim=True) < NEAR_ZERO
        return torch.where(is_zero, torch.ones_like(u), u)


class Turns(Box):
    """Angles from -pi to pi."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.low, self.high = -math.pi * self.high, math.pi * self.high


class Circles(Entries):
    """Cosines of angles, then their sines."""

    def __init__(self, size: int) -> None:
        super().__init__(2 * size)

    def numbers(self, x: Tensor) -> Tensor:
        """Cosines and sines."""
        return torch.cat([x.cos(), x.sin()], -1)

    def rows(self, u: Tensor) -> Tensor:
        """The angles of the nearest points of the circles."""
        cosine, sine = u.chunk(2, -1)
        return torch.atan2(sine, cosine)


class Angles(Part):
    """All angles but the last from 0 to pi, that one from -pi to pi: the last entry is the cosine of the first.

    The poles, each a whole face of the box, are then not where the cost functions have their optima: a proposal on the
    border would find those by accident.
    """

    def __init__(self, dim: int) -> None:
        self.low = torch.zeros(dim, dtype=torch.float64)
        self.high = torch.full((dim,), math.pi, dtype=torch.float64)
        self.low[-1] = -math.pi

    def numbers(self, x: Tensor) -> Tensor:
        """Angles from what is left of each entry on."""
        x = x.flip(-1)
        rest = x.square().flip(-1).cumsum(-1).flip(-1).sqrt()  # lengths of what is left from each entry on
        first = torch.atan2(rest[:, 1:-1], x[:, :-2])
        return torch.cat([first, torch.atan2(x[:, -1:], x[:, -2:-1])], -1)

    def rows(self, u: Tensor) -> Tensor:
        """Products of sines, times a cosine."""
        lengths = torch.cat([torch.ones_like(u[:, :1]), u.sin().cumprod(-1)], -1)
        return torch.cat([lengths[:, :-1] * u.cos(), lengths[:, -1:]], -1).flip(-1)


class RollPitchYaw(Part):
    """Angles about the fixed x, y and z axes, one after the other."""

    def __init__(self) -> None:
        self.high = torch.tensor([math.pi, math.pi / 2, math.pi], dtype=torch.float64)
        self.low = -self.high

    def numbers(self, x: Tensor) -> Tensor:
        """Angles of the matrices."""
        return torch.as_tensor(Rotation.from_matrix(x.unflatten(-1, (3, 3)).numpy()).as_euler("xyz"))

    def rows(self, u: Tensor) -> Tensor:
        """Matrices of the angles."""
        return torch.as_tensor(Rotation.from_euler("xyz", u.numpy()).as_matrix()).flatten(-2)


class Symmetric(Part):
    """Entries on the diagonal and above it, row by row."""

    def __init__(self, size: int, low: float, high: float) -> None:
        self.size, self.places = size, tuple(torch.triu_indices(size, size))
        is_diagonal = self.places[0] == self.places[1]
        beside = (high - low) / 2  # no entry beside the diagonal is larger
        self.low = torch.where(is_diagonal, low, -beside).to(torch.float64)
        self.high = torch.where(is_diagonal, high, beside).to(torch.float64)

    def numbers(self, x: Tensor) -> Tensor:
        """The entries."""
        return x.unflatten(-1, (self.size, self.size))[:, *self.places]

    def rows(self, u: Tensor) -> Tensor:
        """The matrix, of any signature."""
        matrix = u.new_zeros(len(u), self.size, self.size)
        matrix[:, *self.places] = u
        matrix[:, *reversed(self.places)] = u
        return matrix.flatten(-2)


class Cholesky(Part):
    """The lower triangular factor, row by row, with logarithms on its diagonal."""

    def __init__(self, size: int, low: float, high: float) -> None:
        self.size, self.places = size, tuple(torch.tril_indices(size, size))
        self.is_diagonal = self.places[0] == self.places[1]
        beside = math.sqrt(high)
        self.low = torch.where(self.is_diagonal, math.log(low) / 2, -beside).to(torch.float64)
        self.high = torch.where(self.is_diagonal, math.log(high) / 2, beside).to(torch.float64)

    def numbers(self, x: Tensor) -> Tensor:
        """Entries of the factor."""
        entries = torch.linalg.cholesky(x.unflatten(-1, (self.size, self.size)))[:, *self.places]
        return torch.where(self.is_diagonal, entries.clamp_min(NEAR_ZERO).log(), entries)

    def rows(self, u: Tensor) -> Tensor:
        """The factor times itself."""
        factor = u.new_zeros(len(u), self.size, self.size)
        factor[:, *self.places] = torch.where(self.is_diagonal, u.exp(), u)
        return (factor @ factor.mT).flatten(-2)


class Spatial(Part):
    """All entries but the first, which follows from them."""

    def __init__(self, dim: int, radius: float) -> None:
        self.high = torch.full((dim,), math.sinh(radius), dtype=torch.float64)
        self.low = -self.high

    def numbers(self, x: Tensor) -> Tensor:
        """The entries."""
        return x[:, 1:]

    def rows(self, u: Tensor) -> Tensor:
        """With the first one."""
        return lifted(u)


class Poincare(Part):
    """The ball whose border is at the radius of the domain; what is beyond it is brought back radially."""

    def __init__(self, dim: int, radius: float) -> None:
        self.high = torch.full((dim,), math.tanh(radius / 2), dtype=torch.float64)
        self.low = -self.high

    def numbers(self, x: Tensor) -> Tensor:
        """As numbers of the ball."""
        return to_poincare(x)

    def rows(self, u: Tensor) -> Tensor:
        """From the ball, whose border is the end."""
        norm = u.norm(dim=-1, keepdim=True)
        return from_poincare(u * (self.high[0] / norm.clamp_min(NEAR_ZERO)).clamp_max(1.0))
