"""Functions of the shape of a pair of SPD matrices, kept as polynomials on panels.

The shape is what is left of X^-1 Y when its determinant is made 1: the eigenvalues of M = X^-1 Y / det(X^-1 Y)^(1/n).

    SPD(2):  m = tr M / 2 - 1 = cosh r - 1, with eigenvalues exp(r), exp(-r)
    SPD(3):  m = (tr M + tr M^-1) / 2 - 3,    d = (tr M - tr M^-1) / 2

X -> X^-1 is an isometry and turns d into -d: what a kernel needs of SPD(3) is smooth in m and delta = d^2, also at
equal eigenvalues. Two are equal where delta is largest: with v such that m = 2 v (v + 3), at 4 (v + 2) v^3.

Panels divide log(1 + v) (v = m on SPD(2)): a function that is analytic for v > -2 has there singularities no nearer
than i pi, at every v. Across them runs T = delta / (4 (v + 2) v^3) in [0, 1], or rather log(1 + v (1 - T) / 4), for the
layer at T = 1 is as thin as 1 / v. In the first panel that is no smooth coordinate; m and delta themselves are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.kernels.chebyshev import chebyshev, chebyshev_nodes
from geodrome_core.kernels.lookup import runs

FIRST, WIDTH = 0.25, 0.5
"""In log(1 + v), of the first panel and of the others."""

THIN = 0.25
"""Factor of v (1 - T) under the logarithm; of those tried, 0.25 needs the lowest degrees."""

BLOCK = 8_192
"""Pairs of a panel evaluated at once: their polynomials stay in the processor's cache."""

Degrees = Sequence[Sequence[int]]
"""For each panel and each j, how many products T_i(x) T_j(z) of Chebyshev polynomials it has."""


class ShapePanels:
    """Where functions of the shape are resolved.

    Args:
        degrees: The polynomials of each panel; a single j on SPD(2), where there is no z.
        is_planar: Whether the shape has two variables, as on SPD(3), or one.

    Attributes:
        count: Number of panels.
        rows: Of the table, that belong to each panel.
        first_m, first_delta: Largest m and delta of the first panel.
    """

    def __init__(self, degrees: Degrees, *, is_planar: bool) -> None:
        self.degrees = [tuple(counts) for counts in degrees]
        self.is_planar = is_planar
        self.count = len(degrees)
        ends = list(accumulate((sum(counts) for counts in degrees), initial=0))
        self.rows = [slice(start, stop) for start, stop in pairwise(ends)]
        edge = torch.tensor(FIRST, dtype=torch.float64)
        v = torch.expm1(edge)
        self.first_m = float(self._m(v))
        self.first_delta = float(_largest_delta(v))
        self._last_v = float(torch.expm1(edge + WIDTH * (self.count - 1)))

    def nodes(self, panel: int, shape: tuple[int, int]) -> tuple[Float[Tensor, "nx nz"], Float[Tensor, "nx nz"]]:
        """The m and delta of Chebyshev nodes, ``shape`` of them along and across a panel (in the first one, in T)."""
        x, z = (0.5 * (1 + chebyshev_nodes(count))[:, None] for count in shape)
        if panel == 0:
            m = self.first_m * x
            v = self._v(m)
            return m.expand(shape), _largest_delta(v) * z.mT
        v = torch.expm1(FIRST + WIDTH * (panel - 1 + x))
        return self._m(v).expand(shape), _largest_delta(v) * (
            1 - torch.expm1(z.mT * torch.log1p(THIN * v)) / (THIN * v)
        )

    def locate(
        self, m: Float[Tensor, " p"], delta: Float[Tensor, " p"]
    ) -> tuple[Int[Tensor, " p"], Float[Tensor, " p"], Float[Tensor, " p"]]:
        """Panels, and the coordinates x and z in [-1, 1] within them; beyond the last panel, those of its end."""
        v = self._v(m).clamp_max(self._last_v)
        along = (torch.log(1 + v) - FIRST) / WIDTH + 1
        panel = along.clamp(0, self.count - 1).int()
        is_first = panel == 0
        x = torch.where(is_first, 2 / self.first_m * m, 2 * (along - panel)) - 1
        if not self.is_planar:
            return panel, x, x
        across = _across(v.clamp_min(0.2), delta)  # the first panel's values here are not used
        return panel, x, 2 * torch.where(is_first, delta / self.first_delta, across).clamp(0, 1) - 1

    def coordinates(
        self, panel: int, m: Float[Tensor, "*b"], delta: Float[Tensor, "*b"]
    ) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
        """The coordinates of any panel but the first."""
        v = self._v(m)
        x = 2 * ((torch.log1p(v) - FIRST) / WIDTH + 1 - panel) - 1
        return x, 2 * _across(v, delta) - 1

    def evaluate(
        self, table: Float[Tensor, "c k"], m: Float[Tensor, " p"], delta: Float[Tensor, " p"]
    ) -> tuple[Int[Tensor, " p"], Float[Tensor, "c p"]]:
        """Values of the tabulated functions, and the order in which they come. No gradients."""
        panel, x, z = self.locate(m, delta)
        order, found = runs(panel, self.count)
        x, z = x[order], z[order]
        out = m.new_empty(len(table), len(m))
        for index, first, last in found:
            counts, rows = self.degrees[index], table[:, self.rows[index]]
            for start in range(first, last, BLOCK):
                block = slice(start, min(start + BLOCK, last))
                along = chebyshev(x[block], max(counts))
                across = chebyshev(z[block], len(counts)) if self.is_planar else along
                out[:, block] = rows @ self.basis(index, along, across)
        return order, out

    def in_order(
        self, table: Float[Tensor, "c k"], m: Float[Tensor, " p"], delta: Float[Tensor, " p"]
    ) -> Float[Tensor, "c p"]:
        """As ``evaluate``, in the order of the arguments."""
        order, values = self.evaluate(table, m, delta)
        out = torch.empty_like(values)
        out[:, order] = values
        return out

    def basis(self, panel: int, along: Float[Tensor, "i p"], across: Float[Tensor, "j p"]) -> Float[Tensor, "k p"]:
        """The products of polynomials that belong to a panel."""
        counts = self.degrees[panel]
        if len(counts) == 1:
            return along[: counts[0]]
        out = along.new_empty(sum(counts), along.shape[1])
        start = 0
        for j, count in enumerate(counts):
            torch.mul(along[:count], across[j], out=out[start : start + count])
            start += count
        return out

    def _m(self, v: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return 2 * v * (v + 3) if self.is_planar else v

    def _v(self, m: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return m / (3 + torch.sqrt(9 + 2 * m)) if self.is_planar else m


def _across(v: Float[Tensor, "*b"], delta: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """From 0 where delta is largest to 1 where it is 0."""
    thin = THIN * v
    return torch.log1p(thin * (1 - delta / _largest_delta(v)).clamp(0, 1)) / torch.log1p(thin)


def _largest_delta(v: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    return 4 * (v + 2) * v**3
