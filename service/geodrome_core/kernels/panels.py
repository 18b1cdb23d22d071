"""Functions of one variable w >= 0, kept as Chebyshev sums on panels that halve towards zero.

A Matérn kernel is smooth in w except at w = 0, where it behaves like w^nu: panels of constant relative width resolve
that for every nu, down to distances of 1e-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.kernels.chebyshev import chebyshev, chebyshev_nodes, chebyshev_transform
from geodrome_core.kernels.lookup import look_up_all, runs

NODES = 14
"""Chebyshev nodes of a panel: the interpolation error of every kernel here is then below 1e-14."""

CHUNK = 16_384
"""Arguments looked up at once: their polynomials stay in the processor's cache, which makes that 3 times faster."""

SMALLEST_EXPONENT = -60
"""Panels begin at w = 2^-60, a distance of 1.3e-9."""


class Panels:
    """Two panels to each octave, from 2^-60 to ``2^largest_exponent``.

    Attributes:
        smallest: Least w that the panels cover.
        knots: (k,) where a function must be known, all panels behind each other.
    """

    def __init__(self, largest_exponent: int) -> None:
        self._largest_exponent = largest_exponent
        self.smallest = 2.0**SMALLEST_EXPONENT
        edges = torch.tensor(
            [f * 2.0**e for e in range(SMALLEST_EXPONENT + 1, largest_exponent + 1) for f in (0.5, 0.75)]
            + [2.0**largest_exponent],
            dtype=torch.float64,
        )
        self._count = len(edges) - 1
        low, high = edges[:-1, None], edges[1:, None]
        nodes = chebyshev_nodes(NODES)
        self.knots = ((low + high) / 2 + (high - low) / 2 * nodes).flatten()
        self._transform = chebyshev_transform(NODES)

    def coefficients(
        self, values: Float[Tensor, "c k"], panels: Int[Tensor, " u"] | None = None
    ) -> Float[Tensor, "t c"]:
        """The table of ``c`` functions from their values at the knots, or at those of some panels, the others zero."""
        of_panel = values.unflatten(-1, (values.shape[-1] // NODES, NODES))
        found = (of_panel @ self._transform.mT).permute(1, 2, 0)  # (panels, nodes, c)
        if panels is not None:
            found = found.new_zeros(self._count, *found.shape[1:]).index_copy(0, panels, found)
        return found.flatten(0, 1).contiguous()

    def columns(self, panels: Int[Tensor, " u"]) -> Int[Tensor, " k"]:
        """Which knots are those of some panels."""
        return (NODES * panels.unsqueeze(-1) + torch.arange(NODES)).flatten()

    def evaluate(self, table: Float[Tensor, "k c"], w: Float[Tensor, " p"]) -> Float[Tensor, "p c"]:
        """Values of the tabulated functions at ``w``; beyond the panels, those at their ends. No gradients."""
        return self.at(w).evaluate(table)

    def at(self, w: Float[Tensor, " p"]) -> Located:
        """The arguments ``w``, found on the panels: for several tables, one after another."""
        chunks = []
        for part in w.split(CHUNK):
            panel, x = self._locate(part)
            # In the order of panels, each of them is a product of matrices.
            order, found = runs(panel, self._count)
            position = torch.empty_like(order)
            position[order] = torch.arange(len(order))
            chunks.append(_Chunk(x[order], found, position))
        return Located(self._count, chunks)

    def evaluate_all(self, table: Float[Tensor, "k c"], w: Float[Tensor, "*b"]) -> Float[Tensor, "*b c"]:
        """Values at arguments of any shape."""
        return look_up_all(lambda part: self.evaluate(table, part).mT, w).movedim(0, -1)

    def _locate(self, w: Float[Tensor, " p"]) -> tuple[Int[Tensor, " p"], Float[Tensor, " p"]]:
        """Panels, and the coordinate in [-1, 1] within them."""
        clipped = w.clamp(self.smallest, 2.0**self._largest_exponent * (1 - 1e-15))
        mantissa, exponent = torch.frexp(clipped)  # mantissa in [1/2, 1)
        upper = mantissa >= 0.75
        return 2 * (exponent - SMALLEST_EXPONENT - 1) + upper, 8 * mantissa - torch.where(upper, 7.0, 5.0)


@dataclass(frozen=True)
class _Chunk:
    """Some arguments: their coordinates in the order of panels, which panels these are, and the way back."""

    x: Float[Tensor, " p"]
    runs: list[tuple[int, int, int]]
    position: Int[Tensor, " p"]


@dataclass(frozen=True)
class Located:
    """Arguments of functions that are kept on the same panels.

    Attributes:
        count: Number of panels.
        chunks: The arguments, a few at a time.
    """

    count: int
    chunks: list[_Chunk]

    @cached_property
    def panels(self) -> Int[Tensor, " u"]:
        """Those that the arguments lie on: no others are needed of a table for them."""
        return torch.tensor(sorted({index for chunk in self.chunks for index, _, _ in chunk.runs}), dtype=torch.int64)

    def evaluate(self, table: Float[Tensor, "k c"]) -> Float[Tensor, "p c"]:
        """Values of the functions of one table; those of one argument do not depend on the others, in any digit."""
        parts = list(self.in_chunks(table))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def in_chunks(self, table: Float[Tensor, "k c"]) -> Iterator[Float[Tensor, "p c"]]:
        """The same, for a few arguments at a time, at most ``CHUNK``."""
        by_panel = table.unflatten(0, (self.count, NODES))
        for chunk in self.chunks:
            basis = chebyshev(chunk.x, NODES)
            values = chunk.x.new_empty(len(chunk.x), table.shape[-1])
            for index, start, stop in chunk.runs:
                torch.mm(basis[:, start:stop].mT, by_panel[index], out=values[start:stop])
            yield torch.index_select(values, 0, chunk.position)


@lru_cache
def panels(largest_exponent: int) -> Panels:
    """Panels are the same for all spaces of one range."""
    return Panels(largest_exponent)
