"""Cost functions with known optima, on every manifold: those of the paper, and one with two minima.

Each is a function g of D numbers, the coordinates z of a point at the base point of its space, see ``coordinates``. All
but ``bimodal`` have their optimum at the base point, z = 0.

Two things in the published code are not what its text says. They are offered under names that end in
``_as_published``: Levy's function has its optimum elsewhere than at the base point, outside of the domain of most
spaces; and in hyperbolic space z are the spatial coordinates sinh(r) u of a point, whose logarithm is r u.

On SPD and in hyperbolic space the re-centred functions of the paper are there once more, under names that end in
``_moved``: an isometry has brought them elsewhere. For the geometry they are the same functions; for whoever takes
logarithms at the base point they are bent.

Sources:
    Jaquier et al., "Geometry-aware Bayesian Optimization in Robotics using Riemannian Matérn Kernels", CoRL 2021, and
    its code; for ``bimodal`` Jaquier et al., "Bayesian Optimization Meets Riemannian Manifolds in Robot Learning", CoRL
    2019, and its code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from geodrome_core import Space, space_from_spec
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import ByAutograd
from geodrome_core.search.trust_region import Tolerance, maximize
from spaces import SPACES
from torch import Tensor

SPECS: dict[str, dict[str, Any]] = SPACES | {
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [0.001, 5.0]},
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [0.001, 5.0]},
    "hyperbolic3": {"type": "hyperbolic", "dim": 3, "radius": 3.0},
    "pose": {
        "type": "product",
        "factors": {
            "position": {"type": "euclidean", "dim": 3, "bounds": [[-3.0, 3.0]] * 3},
            "orientation": {"type": "rotation"},
        },
    },
}
"""The paper's spaces, with its eigenvalues, and three more. The ball in H³ is ours: the paper's has no bounds."""

SPD_BASE = 2.0
"""The base point of SPD spaces is so many times the unit matrix."""

LEAST_SUMMAND_AT, LEAST_SUMMAND = -2.903534027771177, -39.16616570377142
"""Of Styblinski and Tang's function."""

STRETCH = {"sphere": 3.0, "spd": 5.0}
"""Of coordinates in Styblinski and Tang's function, by type of space; 1 for all others."""

BIMODAL = ((1.0, 2.5), (-1.0, 3.0))
"""Where the paper has no modes: distance from the base point along the diagonal, and inverse variance."""

AS_PUBLISHED, MOVED = "_as_published", "_moved"

SHEAR, LEAST_STRETCH = 0.4, 0.4
"""Of the isometry X -> M X M' on SPD: M has the first below its diagonal, which falls from 1 to the second."""

BOOST = 1.0
"""How far the isometry of hyperbolic space moves the base point, along the first axis."""

DRAWN, STARTS = 20_000, 60
"""Points among which the optimum of ``levy_as_published`` is looked for, and how many of the best begin a search."""

Function = Callable[[Tensor], Tensor]
"""From coordinates (n, D) to costs (n,)."""


@dataclass(frozen=True)
class CostFunction:
    """A cost function on a space.

    Attributes:
        space_name: Key of ``SPECS``.
        name: Of the function.
        space: The space.
        costs: From rows (n, d) to costs (n,).
        optimum: The least cost in the domain; found by search for ``bimodal`` and ``levy_as_published``.
        at: (d,) row of a point that has it.
    """

    space_name: str
    name: str
    space: Space
    costs: Callable[[Tensor], Tensor]
    optimum: float
    at: Tensor

    def cost(self, point: Any) -> float:
        """The cost of a point as it travels."""
        return float(self.costs(self.space.rows([point]))[0])


def base_point(space: Space) -> Tensor:
    """(d,) row of the point at which coordinates are taken."""
    return torch.cat([_base(spec, space.factors[name].width) for name, spec in specs_of_factors(space).items()])


def coordinates(space: Space, X: Tensor, *, as_published: bool = False) -> Tensor:
    """Coordinates (n, D) of rows (n, d) at the base point, one factor after the other.

    - sphere: of the logarithm, without the first entry, which is 0; torus and reals: as they are;
    - rotations: all n² entries of the logarithm, row by row, so that each angle counts twice;
    - SPD(n): the n (n + 1) / 2 entries of the logarithm on the diagonal, then on each one above it;
    - H^n: the spatial entries of the logarithm; ``as_published``, those of the point itself.
    """
    base, columns, specs = base_point(space), space.manifold.columns, specs_of_factors(space)
    out = []
    for name, manifold in space.factors.items():
        x, at = X[:, columns[name]], base[columns[name]].expand(len(X), -1)
        is_plain = specs[name]["type"] == "hyperbolic" and as_published
        out.append(x[:, 1:] if is_plain else _entries(specs[name], manifold.log(at, x)))
    return torch.cat(out, dim=1)


def ackley(z: Tensor) -> Tensor:
    """Many shallow holes around one deep one."""
    rms, waves = z.square().mean(-1).sqrt(), torch.cos(2 * math.pi * z).mean(-1)
    # At the optimum the sum of the constants as numbers, not of their rounded parts, is 0.
    return 20 * (1 - torch.exp(-0.2 * rms)) + (math.e - torch.exp(waves))


def rosenbrock(z: Tensor) -> Tensor:
    """A long, bent valley."""
    w = z + 1
    return (100 * (w[:, 1:] - w[:, :-1].square()).square() + (1 - w[:, :-1]).square()).sum(-1)


def levy(z: Tensor) -> Tensor:
    """Waves on a bowl, in other directions other ones."""
    w = 1 + z / 4
    first, last = torch.sin(math.pi * w[:, 0]).square(), w[:, -1]
    middle = (w[:, :-1] - 1).square() * (1 + 10 * torch.sin(math.pi * w[:, :-1] + 1).square())
    return first + middle.sum(-1) + (last - 1).square() * (1 + torch.sin(2 * math.pi * last).square())


def levy_as_published(z: Tensor) -> Tensor:
    """The same, shifted by 2 in each coordinate."""
    return levy(z - 2)


def styblinski_tang(z: Tensor) -> Tensor:
    """Two holes in each coordinate, of different depths."""
    w = z + LEAST_SUMMAND_AT
    return 0.5 * (w**4 - 16 * w**2 + 5 * w).sum(-1)


def product_of_sines(z: Tensor) -> Tensor:
    """Waves in every direction."""
    shift = torch.full_like(z[0], math.pi / 2)
    shift[1] = -math.pi / 2
    waves = torch.sin(z + shift)
    return 100 * waves[:, 0] * waves.prod(-1)


FUNCTIONS: dict[str, tuple[Function, Callable[[int], float]]] = {
    "ackley": (ackley, lambda _: 0.0),
    "rosenbrock": (rosenbrock, lambda _: 0.0),
    "levy": (levy, lambda _: 0.0),
    "styblinski_tang": (styblinski_tang, lambda count: LEAST_SUMMAND * count),
    "product_of_sines": (product_of_sines, lambda _: -100.0),
}
"""Functions of coordinates with their optimum at zero, and its cost by the number of coordinates."""


def names(space_name: str) -> list[str]:
    """The functions on a space."""
    kind = SPECS[space_name]["type"]
    published = [*FUNCTIONS] if kind == "hyperbolic" else ["levy"]
    moved = [*FUNCTIONS] if kind in ("spd", "hyperbolic") else []
    return [
        *FUNCTIONS, "bimodal", *(f"{name}{AS_PUBLISHED}" for name in published), *(f"{name}{MOVED}" for name in moved)
    ]  # fmt: skip


@cache
def cost_function(space_name: str, name: str) -> CostFunction:
    """The function of this name on this space.

    Raises:
        ValueError: There is none.
    """
    if space_name not in SPECS or name not in names(space_name):
        raise ValueError(
            f"there is no function {name!r} on {space_name!r}; spaces {[*SPECS]}, functions {[*FUNCTIONS]}"
        )
    space = space_from_spec(SPECS[space_name])
    if name == "bimodal":
        return _bimodal(space_name, space)
    if name.endswith(MOVED):
        return _moved(cost_function(space_name, name.removesuffix(MOVED)))
    as_published = name.endswith(AS_PUBLISHED)
    of_coordinates, least = FUNCTIONS[name.removesuffix(AS_PUBLISHED)]
    if name == f"levy{AS_PUBLISHED}":
        of_coordinates = levy_as_published
    elif name.startswith("styblinski_tang"):
        of_coordinates = _stretched(of_coordinates, STRETCH.get(SPECS[space_name]["type"], 1.0))

    def costs(X: Tensor) -> Tensor:
        return of_coordinates(coordinates(space, X, as_published=as_published))

    at = base_point(space)
    if of_coordinates is levy_as_published:
        drawn = space.manifold.clamp(space.manifold.random(DRAWN, torch.Generator().manual_seed(0)))
        at = _least(space.manifold, costs, drawn[costs(drawn).argsort()[:STARTS]])
        return CostFunction(space_name, name, space, costs, float(costs(at[None])[0]), at)
    count = coordinates(space, at[None], as_published=as_published).shape[1]
    return CostFunction(space_name, name, space, costs, least(count), at)


def _moved(function: CostFunction) -> CostFunction:
    """The same, elsewhere: at each point, the cost of the one that the isometry brings there."""
    forth = _isometry(function.space.spec)
    back = torch.linalg.inv(forth)

    def at_its_place(X: Tensor, isometry: Tensor) -> Tensor:
        if function.space.spec["type"] == "hyperbolic":
            return X @ isometry.T
        moved = isometry @ X.unflatten(-1, isometry.shape) @ isometry.T
        return (0.5 * (moved + moved.mT)).flatten(-2)

    def costs(X: Tensor) -> Tensor:
        return function.costs(at_its_place(X, back))

    at = at_its_place(function.at[None], forth)[0]
    return replace(function, name=f"{function.name}{MOVED}", costs=costs, at=at)


def _isometry(spec: Mapping[str, Any]) -> Tensor:
    """The (n, n) matrix M of X -> M X M' on SPD(n), or the (n + 1, n + 1) one of x -> M x in H^n."""
    size = spec["dim"]
    if spec["type"] == "spd":
        diagonal = torch.linspace(1.0, LEAST_STRETCH, size, dtype=torch.float64)
        return diagonal.diag() + SHEAR * torch.ones(size, size, dtype=torch.float64).tril(-1)
    boost = torch.eye(size + 1, dtype=torch.float64)
    boost[:2, :2] = torch.tensor(
        [[math.cosh(BOOST), math.sinh(BOOST)], [math.sinh(BOOST), math.cosh(BOOST)]], dtype=torch.float64
    )
    return boost


def _bimodal(space_name: str, space: Space) -> CostFunction:
    """The negative sum of two normal densities in the tangent spaces of their means."""
    manifold = space.manifold
    means, precisions = _modes(space), torch.tensor([precision for _, precision in BIMODAL], dtype=torch.float64)
    # The published densities are normalized as if the space had the numbers of a row as coordinates.
    scales = (precisions / (2 * math.pi)) ** (manifold.width / 2)

    def costs(X: Tensor) -> Tensor:
        squares = manifold.distance(means[:, None], X).square()
        return -(scales[:, None] * torch.exp(-0.5 * precisions[:, None] * squares)).sum(0)

    at = _least(manifold, costs, means)
    return CostFunction(space_name, "bimodal", space, costs, float(costs(at[None])[0]), at)


def _modes(space: Space) -> Tensor:
    """(2, d): the published means on spheres and SPD, elsewhere two points to both sides of the base point."""
    kind, size = space.spec["type"], space.spec.get("dim", 3)
    match kind:
        case "sphere":
            far = torch.zeros(size + 1, dtype=torch.float64)
            far[:3] = torch.tensor([0.5, 0.5, -math.sqrt(0.5)])
            return torch.stack([far, torch.full_like(far, (size + 1) ** -0.5)])
        case "spd":
            ones, eye = torch.ones(size, size, dtype=torch.float64), torch.eye(size, dtype=torch.float64)
            return torch.stack([(0.1 * ones + 0.4 * eye).flatten(), (-0.3 * ones + 3.7 * eye).flatten()])
        case _:
            base = base_point(space)
            direction = space.manifold.basis(base[None])[0].sum(0) / math.sqrt(space.manifold.dim)
            return torch.stack([space.manifold.exp(base, distance * direction) for distance, _ in BIMODAL])


def _least(manifold: Manifold, costs: Function, starts: Tensor) -> Tensor:
    """The best of the minima beside these points."""
    # Just beside them in every factor: at a mean itself, the distance to it has no derivative.
    beside = manifold.tangent(starts, torch.full((len(starts), manifold.dim), 1e-3, dtype=torch.float64))
    found = maximize(
        ByAutograd(lambda X: -costs(X), manifold),
        Domain(manifold),
        manifold.exp(starts, beside),
        tolerance=Tolerance(gradient=1e-9),
    )
    return found.points[int(found.values.argmax())]


def _stretched(function: Function, factor: float) -> Function:
    return lambda z: function(factor * z)


def specs_of_factors(space: Space) -> dict[str, dict[str, Any]]:
    """The spec of each factor by its name, "" for a bare space."""
    match space.spec["type"]:
        case "product":
            return dict(space.spec["factors"])
        case "pose":
            return {"position": {"type": "euclidean"}, "orientation": dict(space.spec["orientation"])}
        case _:
            return {"": dict(space.spec)}


def _base(spec: Mapping[str, Any], width: int) -> Tensor:
    match spec["type"]:
        case "sphere" | "hyperbolic":
            return torch.eye(width, dtype=torch.float64)[0]
        case "rotation":
            return torch.eye(3, dtype=torch.float64).flatten()
        case "spd":
            return SPD_BASE * torch.eye(spec["dim"], dtype=torch.float64).flatten()
        case "euclidean":  # the middle of the unit box, onto which the bounds are mapped
            return torch.full((width,), 0.5, dtype=torch.float64)
        case "torus":
            return torch.zeros(width, dtype=torch.float64)
        case other:
            raise ValueError(f"no base point is known for {other}")


def _entries(spec: Mapping[str, Any], log: Tensor) -> Tensor:
    """Of a logarithm at the base point, what counts as coordinates."""
    match spec["type"]:
        case "sphere" | "hyperbolic":
            return log[:, 1:]
        case "spd":
            matrix = log.unflatten(-1, (spec["dim"], spec["dim"]))
            return torch.cat([matrix.diagonal(offset, -2, -1) for offset in range(spec["dim"])], dim=-1)
        case "euclidean":
            low, high = torch.tensor(spec["bounds"], dtype=torch.float64).T
            return log * (high - low)
        case _:
            return log
