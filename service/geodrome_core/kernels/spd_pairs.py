"""What an affine-invariant kernel needs of a pair of SPD matrices: s, m and d.

With X = L L^T and Y likewise, L = N diag(l), N unit lower triangular, X^-1 Y has the eigenvalues of F F^T where
F = diag(l_X)^-1 N_X^-1 N_Y diag(l_Y). When determinants are made 1,

    s = (log det Y - log det X)^2 / n,    tr M = |F|^2,    tr M^-1 = |F^-1|^2,

and the entries of N_X^-1 N_Y - 1 are differences: m is a sum of squares that vanish with X - Y, and keeps its digits
where points almost coincide. Derivatives come from the matrix products tr M = <X^-1, Y>, tr M^-1 = <X, Y^-1>, so that
no array of all pairs is kept for each number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.spd import SPD
from geodrome_core.kernels.derivatives import carried
from geodrome_core.kernels.expansion import Expansion
from geodrome_core.kernels.pairs import inner_product, squared_distance

CHUNK = 16_384
"""Pairs whose intermediate values are held at once."""


@dataclass(frozen=True)
class Points:
    """What pairs need of each point.

    Attributes:
        level: log det X / sqrt n.
        pivots: Squares of the l, divided by their geometric mean.
        unit: N below its diagonal: entry 21, and for n = 3 also 31 and 32.
        matrix, inverse: X / det(X)^(1/n) and its inverse, as rows.
    """

    level: Float[Tensor, "*b"]
    pivots: Float[Tensor, "*b n"]
    unit: Float[Tensor, "*b k"]
    matrix: Float[Tensor, "*b d"]
    inverse: Float[Tensor, "*b d"]

    @classmethod
    def of(cls, x: Float[Tensor, "*b d"]) -> Points:
        """From matrices, row by row."""
        size = math.isqrt(x.shape[-1])
        x = x.unflatten(-1, (size, size))
        x = 0.5 * (x + x.mT)
        factor = torch.linalg.cholesky(x)
        diagonal = torch.diagonal(factor, dim1=-2, dim2=-1)
        log_pivots = 2 * torch.log(diagonal)
        mean = log_pivots.mean(-1)
        below = torch.tril_indices(size, size, offset=-1)
        normalized = x * torch.exp(-mean)[..., None, None]
        return cls(
            level=mean * math.sqrt(size),
            pivots=torch.exp(log_pivots - mean.unsqueeze(-1)),
            unit=(factor / diagonal.unsqueeze(-2))[..., below[0], below[1]],
            matrix=normalized.flatten(-2),
            inverse=torch.linalg.inv(normalized).flatten(-2),
        )

    @property
    def size(self) -> int:
        """n, rows of the matrices."""
        return self.pivots.shape[-1]


def invariants(
    x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]
) -> tuple[Float[Tensor, "*#b"], Float[Tensor, "*#b"], Float[Tensor, "*#b"]]:
    """s, m and d of broadcast pairs of matrices, differentiable twice; d is zero on SPD(2)."""
    first, second = Points.of(x), Points.of(y)
    s = squared_distance(first.level.unsqueeze(-1), second.level.unsqueeze(-1))
    with torch.no_grad():
        m, d = _values(first, second)
    if not (x.requires_grad or y.requires_grad):
        return s, m, d
    trace = inner_product(first.inverse, second.matrix)
    if first.size == 2:
        return s, carried(m, 0.5 * trace), d
    inverse_trace = inner_product(first.matrix, second.inverse)
    return s, carried(m, 0.5 * (trace + inverse_trace)), carried(d, 0.5 * (trace - inverse_trace))


def invariants_around(x: Float[Tensor, "b d"], second: Points) -> list[Expansion]:
    """s, m and d (on SPD(2) without d) of all pairs of two sets, to second order in coordinates at ``x``.

    With X = L L^T, the point of tangent coordinates S is L exp(S) L^T to second order. Its log determinant is linear
    in S; with Z = L^-1 Y L^-T / det(X^-1 Y)^(1/n) and the traceless part T of S,

        tr M = tr Z (1 - T + T^2 / 2),    tr M^-1 = tr Z^-1 (1 + T + T^2 / 2).
    """
    first = Points.of(x.unsqueeze(-2))
    size = first.size
    axes = SPD(size).axes
    eye = torch.eye(size, dtype=x.dtype)
    traces = axes.diagonal(dim1=-2, dim2=-1).sum(-1)
    traceless = axes - traces[:, None, None] / size * eye  # (m, n, n)
    products = torch.einsum("kij,ljh->klih", traceless, traceless)
    bends = (0.5 * (products + products.transpose(0, 1))).flatten(-2)  # (m, m, d)

    factor = torch.linalg.cholesky(first.matrix.unflatten(-1, (size, size)))
    half = torch.linalg.solve_triangular(factor, second.matrix.unflatten(-1, (size, size)), upper=False)
    z = torch.linalg.solve_triangular(factor, half.mT, upper=False).flatten(-2)  # (b, n, d)
    inverse = (factor.mT @ second.inverse.unflatten(-1, (size, size)) @ factor).flatten(-2)
    total, difference = z + inverse, z - inverse
    share = 0.25 if size == 2 else 0.5  # on SPD(2), both traces are equal, and m is half of one

    gap = first.level - second.level  # (b, n)
    direction = traces / math.sqrt(size)
    s = Expansion(
        gap**2,
        2 * gap.unsqueeze(-2) * direction[:, None],
        lambda c: 2 * c.sum(-1)[:, None, None] * direction[:, None] * direction,
    )
    m_value, d_value = _values(first, second)
    flat = traceless.flatten(-2)

    def combined(value: Tensor, slopes: Tensor, curved: Tensor) -> Expansion:
        return Expansion(
            value,
            share * flat @ slopes.mT,
            lambda c: share * (bends @ (c.unsqueeze(-2) @ curved).mT.unsqueeze(-3)).squeeze(-1),
        )

    variables = [s, combined(m_value, -difference, total)]
    return variables if size == 2 else [*variables, combined(d_value, -total, difference)]


def _values(first: Points, second: Points) -> tuple[Float[Tensor, "*#b"], Float[Tensor, "*#b"]]:
    """The m and d of pairs, a few at a time; of one set of points with itself, little more than half."""
    columns = [[*points.pivots.unbind(-1), *points.unit.unbind(-1)] for points in (first, second)]
    shape = torch.broadcast_shapes(first.level.shape, second.level.shape)
    of_size = _of_two if first.size == 2 else _of_three
    if math.prod(shape) <= CHUNK:
        return of_size(*columns)
    is_one_set = first.level.shape == (shape[0], 1) and second.level.shape == (1, shape[0])
    is_one_set = is_one_set and all(torch.equal(x, y.mT) for x, y in zip(*columns, strict=True))
    m, d = (torch.empty(shape, dtype=torch.float64) for _ in range(2))
    step = max(1, CHUNK * shape[0] // math.prod(shape))
    for start in range(0, shape[0], step):
        rows = slice(start, start + step)
        parts = [[_rows(column, rows, len(shape)) for column in group] for group in columns]
        if is_one_set:
            rest = slice(start, None)
            m_above, d_above = of_size(parts[0], [column[:, rest] for column in parts[1]])
            m[rows, rest], d[rows, rest] = m_above, d_above
            m[rest, rows], d[rest, rows] = m_above.mT, -d_above.mT
        else:
            m[rows], d[rows] = of_size(*parts)
    return m, d


def _rows(column: Tensor, rows: slice, dims: int) -> Tensor:
    """Those of the first dimension, if it is there and not broadcast."""
    return column[rows] if column.dim() == dims and len(column) > 1 else column


def _of_two(x: list[Tensor], y: list[Tensor]) -> tuple[Tensor, Tensor]:
    """With pivots p and 1 / p this is the half-plane's distance, cosh r - 1."""
    gap, product = y[0] - x[0], x[0] * y[0]
    m = 0.5 * (gap * gap / product + (y[2] - x[2]) ** 2 * product)
    return m, torch.zeros_like(m)


def _of_three(x: list[Tensor], y: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Half the sum and half the difference of |F|^2 and |F^-1|^2, entry by entry."""
    p1, p2, p3, n21, n31, n32 = x
    q1, q2, q3, k21, k31, k32 = y
    first, second, third = k21 - n21, k32 - n32, k31 - n31
    first2, second2 = first * first, second * second
    forth, back = (third - n32 * first) ** 2, (third - k32 * first) ** 2
    trace = first2 * (q1 / p2) + second2 * (q2 / p3) + forth * (q1 / p3)
    inverse_trace = first2 * (p1 / q2) + second2 * (p2 / q3) + back * (p1 / q3)
    total, difference = trace + inverse_trace, trace - inverse_trace
    for p, q in ((p1, q1), (p2, q2), (p3, q3)):
        share = (q - p) / (p * q)
        total = total + share * (q - p)
        difference = difference + share * (q + p)
    return 0.5 * total, 0.5 * difference
