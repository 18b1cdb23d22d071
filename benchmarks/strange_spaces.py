"""Random specs of spaces, of every type, with narrow and wide bounds, and the dice that they are thrown with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from geodrome_core import space_from_spec
from torch import Tensor

BOUNDS = [[0, 1], [-3, 40], [1000, 1000.01], [1e-9, 1e-8], [-1e6, 1e6], [-1e30, 1e30]]
POSITIVE_BOUNDS = [[0.1, 10], [1.0, 1.001], [1e-6, 1e6], [1e-30, 1e30]]
WHOLE_BOUNDS = [[0, 1], [7, 9], [-3, 40], [0, 2**53]]
JOINTS = [[-2.9, 2.9], [-0.07, 3.75], [0.5, 0.501]]
EIGENVALUES = [[0.1, 10], [10, 3000], [1e-4, 1e4], [1.0, 1.00001], [1e-3, 1.1e-3]]
RADII = [0.001, 0.3, 1.5, 3.14]
HYPERBOLIC_RADII = [1e-6, 0.01, 1.0, 3.0, 8.0]
SMOOTHNESS = [0.5, 1.5, 2.5, 3.7, math.inf, None]


@dataclass(frozen=True)
class Dice:
    """All that is random in a study."""

    choices: Random
    points: torch.Generator

    @classmethod
    def of(cls, seed: int) -> Dice:
        """Both generators from one seed."""
        return cls(Random(seed), torch.Generator().manual_seed(seed))

    def one(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return self.choices.choice(options)

    def happens(self, share: float) -> bool:
        """True in a share of the cases."""
        return self.choices.random() < share

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers."""
        return torch.randn(shape, generator=self.points, dtype=torch.float64)

    def uniform(self, low: float, high: float, count: int) -> Tensor:
        """``count`` numbers between two."""
        return low + (high - low) * torch.rand(count, generator=self.points, dtype=torch.float64)


def name(spec: dict[str, Any]) -> str:
    """Of a space, for people."""
    if spec["type"] == "product":
        return " x ".join(name(factor) for factor in spec["factors"].values())
    options = [str(spec[key]) for key in ("dim", "scale", "metric", "model", "bounds", "eigenvalues") if key in spec]
    balls = [f"r {spec[key]['radius']}" for key in ("cap", "ball") if key in spec]
    radius = [f"r {spec['radius']}"] if "radius" in spec else []
    return " ".join([spec["type"], *options, *balls, *radius])


def real(dice: Dice) -> dict[str, Any]:
    """A bounded number."""
    scale = dice.one(["linear", "log"])
    return {"type": "real", "bounds": dice.one(BOUNDS if scale == "linear" else POSITIVE_BOUNDS), "scale": scale}


def integer(dice: Dice) -> dict[str, Any]:
    """A whole number, at times one of two."""
    return {"type": "integer", "bounds": dice.one(WHOLE_BOUNDS)}


def euclidean(dice: Dice) -> dict[str, Any]:
    """A box whose sides may be of very different lengths."""
    dim = dice.one([1, 2, 3, 6])
    return {"type": "euclidean", "dim": dim, "bounds": [dice.one(BOUNDS) for _ in range(dim)]}


def joints(dice: Dice) -> dict[str, Any]:
    """Angles between stops."""
    return {"type": "joints", "bounds": [dice.one(JOINTS) for _ in range(dice.one([1, 2, 6]))]}


def torus(dice: Dice) -> dict[str, Any]:
    """Angles without stops."""
    return {"type": "torus", "dim": dice.one([1, 2, 3, 5]), "unit": dice.one(["rad", "deg"])}


def sphere(dice: Dice) -> dict[str, Any]:
    """Directions."""
    return {"type": "sphere", "dim": dice.one([1, 2, 3, 4, 5, 6])}


def cap(dice: Dice) -> dict[str, Any]:
    """Directions near one."""
    return ball_in(sphere(dice), "cap", dice)


def rotation(dice: Dice) -> dict[str, Any]:
    """Rotations, of dimension 3 most of all."""
    dim = dice.one([2, 3, 3, 4])
    return {"type": "rotation", "dim": dim, "representation": dice.one(["quaternion", "matrix"][dim != 3 :])}


def rotation_ball(dice: Dice) -> dict[str, Any]:
    """Rotations near one."""
    return ball_in(rotation(dice), "ball", dice)


def ball_in(spec: dict[str, Any], key: str, dice: Dice) -> dict[str, Any]:
    """The part of a space that lies near one of its points."""
    space = space_from_spec(spec)
    center = space.point(space.manifold.random(1, dice.points)[0])
    return spec | {key: {"center": center, "radius": dice.one(RADII)}}


def spd(dice: Dice) -> dict[str, Any]:
    """Matrices with bounds on their eigenvalues."""
    metric = dice.one(["affine_invariant", "affine_invariant", "log_euclidean", "cholesky"])
    return {"type": "spd", "dim": dice.one([2, 3]), "eigenvalues": dice.one(EIGENVALUES), "metric": metric}


def hyperbolic(dice: Dice) -> dict[str, Any]:
    """Balls about the origin."""
    model = dice.one(["lorentz", "poincare"])
    return {"type": "hyperbolic", "dim": dice.one([2, 3, 5]), "model": model, "radius": dice.one(HYPERBOLIC_RADII)}


SPACES: dict[str, Callable[[Dice], dict[str, Any]]] = {
    "real": real,
    "integer": integer,
    "euclidean": euclidean,
    "joints": joints,
    "torus": torus,
    "sphere": sphere,
    "cap": cap,
    "rotation": rotation,
    "rotation ball": rotation_ball,
    "spd": spd,
    "hyperbolic": hyperbolic,
}
"""Specs of the types of space."""


def product(dice: Dice) -> dict[str, Any]:
    """Two or three spaces at once."""
    factors = [SPACES[dice.one(list(SPACES))](dice) for _ in range(dice.one([2, 2, 3]))]
    return {"type": "product", "factors": dict(zip("abc", factors, strict=False))}
