"""Exact orthonormal bases of levels, without special functions.

With D_l centres C in general position and Z_l(C, C) = L L^T, the functions phi(x) = Z_l(x, C) L^-T have
phi(x) . phi(y) = Z_l(x, y): both sides are functions of the level in x and y, and they agree at the centres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from scipy.linalg import lapack
from torch import Tensor

from geodrome_core.features.levels import Levels

CANDIDATES = 2
"""Centres that are drawn for each one that is taken: enough for well-conditioned matrices."""

LARGEST_LEVEL = 1024
"""Functions of the largest level that a basis is made for: a second's work."""


@dataclass(frozen=True)
class LevelBasis:
    """A basis of one level.

    Attributes:
        centres: (D, d).
        mix: (D, D), L^-T.
    """

    centres: Tensor
    mix: Tensor


def level_bases(levels: Levels, chosen: Sequence[int], generator: torch.Generator) -> dict[int, LevelBasis]:
    """Bases of the chosen levels, on centres that pivoted Cholesky factors pick from random ones."""
    if not chosen:
        return {}
    sizes = [int(levels.multiplicities[level]) for level in chosen]
    counts = [CANDIDATES * size + 8 for size in sizes]
    normal = torch.randn(max(counts), levels.normals, generator=generator, dtype=torch.float64)
    candidates = levels.point(normal)
    # One call for all levels, each with as many of the candidates as it needs.
    columns = torch.cat([torch.arange(count) for count in counts])
    level = torch.repeat_interleave(torch.tensor(chosen), torch.tensor(counts))
    found = levels.zonal(candidates, candidates[columns], level).split(counts, -1)
    return {
        level: _basis(candidates, zonal[:count], size)
        for level, zonal, count, size in zip(chosen, found, counts, sizes, strict=True)
    }


def _basis(candidates: Float[Tensor, "c d"], zonal: Float[Tensor, "n n"], size: int) -> LevelBasis:
    """The basis of a level of ``size`` functions from its zonal functions of the first n candidates."""
    pivots = torch.from_numpy(lapack.dpstrf(zonal.numpy(), lower=1)[1]).long()[:size] - 1
    factor = torch.linalg.cholesky(zonal[pivots][:, pivots])
    eye = torch.eye(size, dtype=torch.float64)
    return LevelBasis(candidates[pivots], torch.linalg.solve_triangular(factor, eye, upper=False).mT)


class ExactLevels:
    """Bases of some levels of a product of compact spaces; the columns of one level reproduce its zonal function.

    Args:
        parts: Levels of each factor, and its columns in a row.
        levels: (t, f) a level of every factor for each level of the product.
        generator: For the centres.

    Attributes:
        count: Columns of ``evaluate``.
        owner: (count,) the row of ``levels`` that a column belongs to.
    """

    def __init__(
        self, parts: Sequence[tuple[Levels, slice]], levels: Int[Tensor, "t f"], generator: torch.Generator
    ) -> None:
        self._parts = parts
        self._levels: list[list[int]] = levels.tolist()
        self._bases = [
            level_bases(part, levels[:, f].unique().tolist(), generator) for f, (part, _) in enumerate(parts)
        ]
        sizes = [math.prod(len(self._bases[f][level].mix) for f, level in enumerate(row)) for row in self._levels]
        self.owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes, dtype=torch.int64))
        self.count = len(self.owner)

    def evaluate(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k"]:
        """Values of all functions, level by level; on a product, products of the factors' functions."""
        values = [self._factor(f, x) for f in range(len(self._parts))]
        columns = [x.new_zeros(*x.shape[:-1], 0)]
        for row in self._levels:
            product = values[0][row[0]]
            for f in range(1, len(row)):
                product = (product.unsqueeze(-1) * values[f][row[f]].unsqueeze(-2)).flatten(-2)
            columns.append(product)
        return torch.cat(columns, -1)

    def _factor(self, f: int, x: Float[Tensor, "*b d"]) -> dict[int, Float[Tensor, "*b _"]]:
        """Functions of one factor by level."""
        (part, columns), bases = self._parts[f], self._bases[f]
        if not bases:
            return {}
        sizes = [len(basis.mix) for basis in bases.values()]
        level = torch.repeat_interleave(torch.tensor(list(bases)), torch.tensor(sizes))
        zonal = part.zonal(x[..., columns], torch.cat([basis.centres for basis in bases.values()]), level)
        split = zonal.split(sizes, -1)
        return {level: z @ basis.mix for (level, basis), z in zip(bases.items(), split, strict=True)}
