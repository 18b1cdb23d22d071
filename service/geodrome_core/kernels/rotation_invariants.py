"""What a kernel of SO(n) depends on: symmetric functions of 1 - cos of the angles between two points."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.kernels.pairs import inner_product, squared_distance
from geodrome_core.kernels.symmetric import elementary


def invariants(x: Float[Tensor, "p d"], y: Float[Tensor, "p d"]) -> Float[Tensor, "k p"]:
    """Elementary symmetric polynomials e_1 … e_k of the c_i = 1 - cos theta_i, for matching rows; without gradients.

    They come from (X - Y)^T (X - Y) / 2, whose eigenvalues are the c_i, each twice: near coincidence they keep the
    digits of the difference.
    """
    size = math.isqrt(x.shape[-1])
    with torch.no_grad():
        difference = (x - y).unflatten(-1, (size, size))
        s = 0.5 * difference.mT @ difference
        power, sums = s, [0.25 * (difference**2).sum((-1, -2))]
        for m in range(2, size // 2 + 1):
            sums.append(0.5 * (power * s).sum((-1, -2)))
            power = power @ s if m < size // 2 else power
        return elementary(torch.stack(sums))


def differentiable_invariants(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> list[Float[Tensor, "*#b"]]:
    """The same of broadcast pairs, for their derivatives: their values have only the digits of 1.

    The traces of the exterior powers of X^T Y are inner products of minors, and linear in the e_m:

        sum_j s^j tr(L^j R) = det(I + s R) = (1 + s)^(n - 2k) sum_m e_m (-2 s)^m (1 + s)^(2 (k - m)).
    """
    size = math.isqrt(x.shape[-1])
    a, b = (z.unflatten(-1, (size, size)) for z in (x, y))
    traces = []
    left, right = a, b
    for order in range(1, size // 2 + 1):
        if order > 1:
            left, right = _minors(a, left, order), _minors(b, right, order)
        traces.append(inner_product(left.flatten(-2), right.flatten(-2)) - math.comb(size, order))
    # Of the first one, squared differences have a derivative that is exactly zero where points coincide.
    first = 0.25 * squared_distance(x, y)
    inverse = _traces_to_invariants(size)
    rest = [sum(inverse[m][j] * traces[j] for j in range(m + 1)) for m in range(1, size // 2)]
    return [first, *(value for value in rest if isinstance(value, Tensor))]


def _minors(m: Float[Tensor, "*b k k"], below: Float[Tensor, "*b r r"], order: int) -> Float[Tensor, "*b q q"]:
    """All minors of one order, from those of the order below, along the first row of each."""
    head, rest, columns, others = _subsets(m.shape[-1], order)
    terms = [
        (-1.0) ** i * m[..., head[:, None], columns[:, i]] * below[..., rest[:, None], others[:, i]]
        for i in range(order)
    ]
    return torch.stack(terms).sum(0)


@lru_cache
def _subsets(
    size: int, order: int
) -> tuple[Int[Tensor, " q"], Int[Tensor, " q"], Int[Tensor, "q o"], Int[Tensor, "q o"]]:
    """For all sets of ``order`` indices: the first, the place of the set without it; each, and those of the others."""
    places = {subset: place for place, subset in enumerate(combinations(range(size), order - 1))}
    subsets = list(combinations(range(size), order))
    others = [[places[s[:i] + s[i + 1 :]] for i in range(order)] for s in subsets]
    return (
        torch.tensor([s[0] for s in subsets]),
        torch.tensor([row[0] for row in others]),
        torch.tensor(subsets),
        torch.tensor(others),
    )


@lru_cache
def _traces_to_invariants(size: int) -> list[list[float]]:
    """The matrix (m, j) to the e_m from the traces of exterior powers, less those of the identity."""
    k = size // 2
    matrix = [
        [(-2.0) ** m * (math.comb(size - 2 * m, j - m) if j >= m else 0) for m in range(1, k + 1)]
        for j in range(1, k + 1)
    ]
    inverse: list[list[float]] = torch.linalg.inv(torch.tensor(matrix, dtype=torch.float64)).tolist()
    return inverse
