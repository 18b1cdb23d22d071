"""Functions of one variable w >= 0, kept as Chebyshev sums on panels that halve towards zero.

A Matérn kernel is smooth in w except at w = 0, where it behaves like w^nu: panels of constant relative width resolve
that for every nu, down to distances of 1e-9.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

NODES = 14
"""Chebyshev nodes of a panel: the interpolation error of every kernel here is then below 1e-14."""

CHUNK = 16_384
"""Arguments looked up at once: their polynomials stay in the processor's cache, which makes that 3 times faster."""

FEW = 400
"""Fewer arguments than this are looked up one by one."""

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

    def coefficients(self, values: Float[Tensor, "c k"]) -> Float[Tensor, "k c"]:
        """The table of ``c`` functions from their values at the knots."""
        panels = values.reshape(-1, self._count, NODES) @ self._transform.mT  # (c, panels, nodes)
        return panels.permute(1, 2, 0).reshape(self._count * NODES, -1).contiguous()

    def evaluate(self, table: Float[Tensor, "k c"], w: Float[Tensor, " p"]) -> Float[Tensor, "p c"]:
        """Values of the tabulated functions at ``w``; beyond the panels, those at their ends. No gradients."""
        out = w.new_empty(len(w), table.shape[-1])
        by_panel = table.unflatten(0, (self._count, NODES))
        for part, into in zip(w.split(CHUNK), out.split(CHUNK), strict=True):
            panel, x = self._locate(part)
            if len(part) < FEW:
                index = panel[:, None].long() * NODES + torch.arange(NODES)
                basis = chebyshev(x, NODES).mT.contiguous()
                into.copy_(torch.nn.functional.embedding_bag(index, table, per_sample_weights=basis, mode="sum"))
                continue
            # In the order of panels, each of them is a product of matrices: that is 5 times faster.
            order, found = runs(panel, self._count)
            basis = chebyshev(x[order], NODES)
            values = torch.empty_like(into)
            for number, start, stop in found:
                torch.mm(basis[:, start:stop].mT, by_panel[number], out=values[start:stop])
            into[order] = values
        return out

    def _locate(self, w: Float[Tensor, " p"]) -> tuple[Int[Tensor, " p"], Float[Tensor, " p"]]:
        """Panels, and the coordinate in [-1, 1] within them."""
        clipped = w.clamp(self.smallest, 2.0**self._largest_exponent * (1 - 1e-15))
        mantissa, exponent = torch.frexp(clipped)  # mantissa in [1/2, 1)
        upper = mantissa >= 0.75
        panel = 2 * (exponent - SMALLEST_EXPONENT - 1) + upper
        return panel.to(torch.int16), 8 * mantissa - torch.where(upper, 7.0, 5.0)


def chebyshev_nodes(count: int) -> Float[Tensor, " n"]:
    """Zeros of the Chebyshev polynomial of that degree, from 1 to -1."""
    return torch.cos(math.pi * (torch.arange(count, dtype=torch.float64) + 0.5) / count)


def chebyshev_transform(count: int) -> Float[Tensor, "n n"]:
    """Discrete cosine transform: from values at the nodes to Chebyshev coefficients."""
    degrees = torch.arange(count, dtype=torch.float64)
    out = 2 / count * torch.cos(degrees[:, None] * (math.pi * (degrees + 0.5) / count))
    out[0] /= 2
    return out


def chebyshev(x: Float[Tensor, "*b"], count: int) -> Float[Tensor, "n *b"]:
    """The Chebyshev polynomials of degree less than ``count``."""
    out = x.new_empty(max(count, 2), *x.shape)
    out[0], out[1] = 1, x
    known = 2
    while known < count:
        # T_(m+i) = 2 T_m T_i - T_(m-i): each step knows twice as many
        m = known - 1
        more = min(m, count - known)
        block = out[known : known + more]
        torch.mul(out[m], out[1 : more + 1], out=block)
        block.mul_(2).sub_(out[m - more : m].flip(0))
        known += more
    return out[:count]


def runs(panel: Int[Tensor, " p"], count: int) -> tuple[Int[Tensor, " p"], list[tuple[int, int, int]]]:
    """An order in which panels follow each other, and (panel, start, stop) of those that occur."""
    order = torch.argsort(panel)  # of 16-bit integers, in linear time
    sizes = torch.bincount(panel, minlength=count)
    stops = sizes.cumsum(0).tolist()
    return order, [(index, stops[index] - size, stops[index]) for index, size in enumerate(sizes.tolist()) if size]


@lru_cache
def panels(largest_exponent: int) -> Panels:
    """Panels are the same for all spaces of one range."""
    return Panels(largest_exponent)
