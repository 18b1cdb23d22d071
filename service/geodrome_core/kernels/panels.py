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

SMALLEST_MATRIX, BLOCK = 128, 64
"""Symmetric matrices of fewer rows are looked up in full; of others, strips of so many rows from the diagonal on."""

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
        angles = math.pi * (torch.arange(NODES, dtype=torch.float64) + 0.5) / NODES
        self.knots = ((low + high) / 2 + (high - low) / 2 * torch.cos(angles)).flatten()
        # Discrete cosine transform: values at the nodes -> Chebyshev coefficients.
        self._transform = 2 / NODES * torch.cos(torch.arange(NODES, dtype=torch.float64)[:, None] * angles)
        self._transform[0] /= 2

    def coefficients(self, values: Float[Tensor, "c k"]) -> Float[Tensor, "k c"]:
        """The table of ``c`` functions from their values at the knots."""
        panels = values.reshape(-1, self._count, NODES) @ self._transform.mT  # (c, panels, nodes)
        return panels.permute(1, 2, 0).reshape(self._count * NODES, -1).contiguous()

    def evaluate(self, table: Float[Tensor, "k c"], w: Float[Tensor, " p"]) -> Float[Tensor, "p c"]:
        """Values of the tabulated functions at ``w``; beyond the panels, those at their ends. No gradients."""
        out = w.new_empty(len(w), table.shape[-1])
        for values, into in zip(w.split(CHUNK), out.split(CHUNK), strict=True):
            index, basis = self.locate(values)
            # One pass over 14 rows of the table for each w, in compiled code.
            into.copy_(torch.nn.functional.embedding_bag(index, table, per_sample_weights=basis, mode="sum"))
        return out

    def evaluate_all(self, table: Float[Tensor, "k c"], w: Float[Tensor, "*b"]) -> Float[Tensor, "*b c"]:
        """Values at arguments of any shape; of a symmetric matrix, little more than half is looked up."""
        shape = (*w.shape, table.shape[-1])
        if w.dim() != 2 or len(w) < SMALLEST_MATRIX or not torch.equal(w, w.mT):
            return self.evaluate(table, w.flatten()).reshape(shape)
        out = w.new_empty(shape)
        for start in range(0, len(w), BLOCK):
            rows, rest = slice(start, start + BLOCK), slice(start, None)
            strip = w[rows, rest]
            values = self.evaluate(table, strip.flatten()).reshape(*strip.shape, -1)
            out[rows, rest] = values
            out[rest, rows] = values.transpose(0, 1)
        return out

    def locate(self, w: Float[Tensor, " p"]) -> tuple[Int[Tensor, "p n"], Float[Tensor, "p n"]]:
        """Rows of the table that a value at ``w`` needs, and the Chebyshev polynomials that weigh them."""
        clipped = w.clamp(self.smallest, 2.0**self._largest_exponent * (1 - 1e-15))
        mantissa, exponent = torch.frexp(clipped)  # mantissa in [1/2, 1)
        upper = mantissa >= 0.75
        panel = 2 * (exponent.long() - SMALLEST_EXPONENT - 1) + upper
        x = 8 * mantissa - torch.where(upper, 7.0, 5.0)
        polynomials = [torch.ones_like(x), x]
        while len(polynomials) < NODES:
            polynomials.append(2 * x * polynomials[-1] - polynomials[-2])
        return panel[:, None] * NODES + torch.arange(NODES), torch.stack(polynomials, -1)


@lru_cache
def panels(largest_exponent: int) -> Panels:
    """Panels are the same for all spaces of one range."""
    return Panels(largest_exponent)
