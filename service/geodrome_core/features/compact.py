"""Products of compact spaces: which levels are kept whole, and random zonal functions for the others.

The levels of a product are tuples of its factors' levels, their shares and multiplicities the products of those. They
are listed by share of the variance for each function, the order in which they deserve a basis; on one factor that is
the order of eigenvalues. For uniform z, the mean of D_l Z_l(x, z) Z_l(y, z) is Z_l(x, y): one feature serves any level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.features.basis import LARGEST_LEVEL, ExactLevels
from geodrome_core.features.levels import Levels
from geodrome_core.features.waves import WaveLaw, Waves, normal

LARGEST_LIST = 1_000_000
"""Tuples of levels that are listed: 512 levels of one factor, a hundred of each of three."""


@dataclass(frozen=True)
class LevelList:
    """Levels of a product of compact spaces, in the order in which they deserve a basis.

    Attributes:
        parts: Levels of each factor, and its columns in a row.
        levels: (t, f) one level of every factor.
        shares: (t,) of the variance; they sum to 1 less what is not listed.
        multiplicities: (t,).
        fourth_moments: (t,) of zonal functions, see ``Levels``.
    """

    parts: Sequence[tuple[Levels, slice]]
    levels: Int[Tensor, "t f"]
    shares: Float[Tensor, " t"]
    multiplicities: Float[Tensor, " t"]
    fourth_moments: Float[Tensor, " t"]

    def fitting(self, count: int) -> int:
        """Levels from the first on whose bases fit into ``count`` columns."""
        fits = (torch.cumsum(self.multiplicities, 0) <= count) & (self.multiplicities <= LARGEST_LEVEL)
        return int(torch.cumprod(fits.long(), 0).sum())

    def head(self, kept: int, generator: torch.Generator) -> ExactLevels:
        """Bases of the first levels."""
        return ExactLevels(self.parts, self.levels[:kept], generator)

    def best_split(self, count: int) -> int:
        """Levels to keep whole so that the error at coincident points, the largest, is least.

        Of the others' share s, N random functions leave a standard deviation of s sqrt((fourth moment - 1) / N);
        without any, s is left out.
        """
        kept = torch.arange(self.fitting(count) + 1)
        zero = torch.zeros(1, dtype=torch.float64)
        used = torch.cat([zero, torch.cumsum(self.multiplicities[: len(kept) - 1], 0)])
        rest = torch.flip(torch.cumsum(torch.flip(self.shares, [0]), 0), [0])
        moments = torch.flip(torch.cumsum(torch.flip(self.shares * self.fourth_moments, [0]), 0), [0])
        rest, moments = (torch.cat([each, zero])[: len(kept)] for each in (rest, moments))
        left = count - used
        deviation = torch.sqrt(rest * (moments - rest).clamp_min(0) / left.clamp_min(1))
        return int(torch.where(left > 0, deviation, rest).argmin())


def level_list(parts: Sequence[tuple[Levels, slice]], shares: Sequence[Float[Tensor, " l"]]) -> LevelList:
    """All levels of a product, up to ``LARGEST_LIST``, from the levels and the shares of its factors."""
    each = int(LARGEST_LIST ** (1 / len(parts)))
    grids = torch.meshgrid(*(torch.arange(min(each, len(share))) for share in shares), indexing="ij")
    levels = torch.stack([grid.flatten() for grid in grids], -1)
    columns = [levels[:, f] for f in range(len(parts))]

    def product(factors: Sequence[Tensor]) -> Tensor:
        return torch.stack([factor[level] for factor, level in zip(factors, columns, strict=True)]).prod(0)

    share = product(shares)
    multiplicity = product([part.multiplicities for part, _ in parts])
    order = torch.argsort(share / multiplicity, descending=True, stable=True)
    moments = product([part.fourth_moments for part, _ in parts])
    return LevelList(parts, levels[order], share[order], multiplicity[order], moments[order])


@dataclass(frozen=True)
class CompactWaves(Waves):
    """Functions of bases and zonal functions, side by side.

    Attributes:
        parts: Levels of each factor, and its columns in a row.
        head: The bases.
        chosen: (k,) columns of ``head``; those beyond its count are zonal functions, counted on.
        levels: (z, f) of the zonal functions.
        centres: Of the zonal functions, (z, d) for each factor.
        scale: (k,) of all functions.
    """

    parts: Sequence[tuple[Levels, slice]]
    head: ExactLevels
    chosen: Int[Tensor, " k"]
    levels: Int[Tensor, "z f"]
    centres: Sequence[Float[Tensor, "z d"]]
    scale: Float[Tensor, " k"]

    def evaluate(self, x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"] | None]:
        """Real functions."""
        values = [self.head.evaluate(x)] if self.head.count else []
        if len(self.levels):
            zonal = torch.ones((), dtype=torch.float64)
            for (part, columns), centres, level in zip(self.parts, self.centres, self.levels.unbind(-1), strict=True):
                zonal = zonal * part.zonal(x[..., columns], centres, level)
            values.append(zonal)
        return torch.cat(values, -1)[..., self.chosen] * self.scale, None


class CompactLaw(WaveLaw):
    """Each wave a function of a basis, or of a level without one a zonal function about a uniform centre.

    Functions are taken with the probability of their share, and scaled so that their squares have the same mean. An
    even choice takes the functions of a basis equally often, and the sum of their squares is constant.

    Args:
        listed: The levels.
        head: Bases of the first of them.
        first: The first level that counts; those before it are left to others.
    """

    def __init__(self, listed: LevelList, head: ExactLevels, *, first: int = 0) -> None:
        self._listed, self._head = listed, head
        self._parts = listed.parts
        self._normals = [part.normals for part, _ in self._parts]
        self.coordinates = 1 + sum(self._normals)
        without = first + (int(head.owner[-1]) + 1 if head.count else 0)
        self._owner = torch.cat([head.owner, torch.arange(without, len(listed.shares))])
        repeated = torch.ones(len(self._owner), dtype=torch.float64)
        repeated[: head.count] = listed.multiplicities[head.owner]
        self._probability = listed.shares[self._owner] / repeated
        self.share = float(self._probability.sum())

    def draw(self, points: Float[Tensor, "k c"], generator: torch.Generator) -> CompactWaves:
        """The function, then the centres."""
        del generator
        cumulative = torch.cumsum(self._probability, 0)
        index = torch.searchsorted(cumulative, points[:, 0] * cumulative[-1]).clamp_max(len(cumulative) - 1)
        owner = self._owner[index]
        scale = torch.sqrt(self.share * self._listed.multiplicities[owner])
        zonal = index >= self._head.count
        normals = normal(points[zonal, 1:]).split(self._normals, -1)
        centres = [part.point(each) for (part, _), each in zip(self._parts, normals, strict=True)]
        chosen = torch.where(zonal, self._head.count + torch.cumsum(zonal, 0) - 1, index)
        levels = self._listed.levels[owner[zonal]]
        return CompactWaves(self._parts, self._head, chosen, levels, centres=centres, scale=scale)


def missing_share(listed: LevelList) -> float:
    """What is not listed of the variance; rounding may make it a little less than nothing."""
    return max(0.0, 1 - math.fsum(listed.shares.tolist()))
