"""Functions of symmetric matrices, with derivatives that stay finite where eigenvalues are equal.

In the eigenbasis of A, with divided differences of f at its eigenvalues (Daleckii and Krein):

    f(A + E)_ij = f_i delta_ij + f[i, j] E_ij + sum_k f[i, k, j] E_ik E_kj + O(E^3).

The derivative of an eigendecomposition divides by differences of eigenvalues; divided differences of a smooth function
do not.

Source:
    Daleckii and Krein 1965; Higham 2008, "Functions of matrices", theorem 3.11 and section B.16.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

TERMS = 28
"""Of a Taylor series at the mean of points that lie within ``NEAR`` of each other: what is left out is below 1e-17."""

NEAR = 0.25
"""Points further apart than this, in units of the function's scale, can be divided by their difference."""


@dataclass(frozen=True)
class Analytic:
    """A function of one variable, f(s + z scale(s)) = size(s) sum_k taylor_k z^k.

    Attributes:
        value: The function.
        taylor: Coefficients taylor_k, the first of them unused.
        size, scale: Of the expansion about a point.
    """

    value: Callable[[Tensor], Tensor]
    taylor: tuple[float, ...]
    size: Callable[[Tensor], Tensor]
    scale: Callable[[Tensor], Tensor]


def _same(s: Tensor) -> Tensor:
    return s


ORDERS = range(1, TERMS + 4)
LOG = Analytic(torch.log, (0.0, *((-1) ** (k - 1) / k for k in ORDERS)), torch.ones_like, _same)
EXP = Analytic(torch.exp, (1.0, *(1 / math.factorial(k) for k in ORDERS)), torch.exp, torch.ones_like)
ROOT = Analytic(
    torch.sqrt,
    (1.0, *(math.prod((1.5 - j) / j for j in range(1, k + 1)) for k in ORDERS)),
    torch.sqrt,
    _same,
)


def symmetric_function(f: Analytic, m: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """f(M) of a symmetric matrix, differentiable twice: derivatives beyond come out as zero."""
    values, vectors = _decomposed(m)
    inner = torch.diag_embed(f.value(values))
    if m.requires_grad:
        # The value does not change: this is zero, with the derivatives that autograd shall find.
        step = vectors.mT @ _symmetric(m - m.detach()) @ vectors
        inner = inner + _first(f, values) * step + _second(f, values, step, step)
    return _symmetric(vectors @ inner @ vectors.mT)


def derivative(f: Analytic, m: Float[Tensor, "*b k k"], e: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """Derivative of f(M) along the symmetric E; differentiable in E, and once in M."""
    values, vectors = _decomposed(m)
    along = vectors.mT @ _symmetric(e) @ vectors
    inner = _first(f, values) * along
    if m.requires_grad:
        step = vectors.mT @ _symmetric(m - m.detach()) @ vectors
        inner = inner + _second(f, values, step, along) + _second(f, values, along, step)
    return _symmetric(vectors @ inner @ vectors.mT)


def divided_differences(f: Analytic, *points: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """f[p1, p2, …], by the series about the mean where the points are near each other, else by the recursion."""
    if len(points) == 1:
        return f.value(points[0])
    s = torch.stack(torch.broadcast_tensors(*points), -1).sort(-1).values
    mean = s.mean(-1)
    scale = f.scale(mean)
    width = s[..., -1] - s[..., 0]
    near = width <= NEAR * scale
    # Complete homogeneous symmetric polynomials of z, degree by degree; one more variable in each column.
    z = torch.where(near, 1.0, 0.0).unsqueeze(-1) * (s - mean.unsqueeze(-1)) / scale.unsqueeze(-1)
    columns = [torch.ones_like(mean) for _ in points]
    series = torch.zeros_like(mean)
    for degree in range(TERMS):
        series = series + f.taylor[degree + len(points) - 1] * columns[-1]
        columns[0] = z[..., 0] * columns[0]
        for index in range(1, len(points)):
            columns[index] = columns[index - 1] + z[..., index] * columns[index]
    series = f.size(mean) / scale ** (len(points) - 1) * series
    ordered = s.unbind(-1)
    rise = divided_differences(f, *ordered[1:]) - divided_differences(f, *ordered[:-1])
    return torch.where(near, series, rise / torch.where(near, 1.0, width))


def _symmetric(m: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    return 0.5 * (m + m.mT)


def _decomposed(m: Float[Tensor, "*b k k"]) -> tuple[Float[Tensor, "*b k"], Float[Tensor, "*b k k"]]:
    values, vectors = torch.linalg.eigh(_symmetric(m.detach()))
    return values, vectors


def _first(f: Analytic, values: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k k"]:
    return divided_differences(f, values.unsqueeze(-1), values.unsqueeze(-2))


def _second(
    f: Analytic, values: Float[Tensor, "*b k"], a: Float[Tensor, "*b k k"], b: Float[Tensor, "*b k k"]
) -> Float[Tensor, "*b k k"]:
    """Sum over k of f[i, k, j] a_ik b_kj."""
    bends = divided_differences(f, values[..., :, None, None], values[..., None, :, None], values[..., None, None, :])
    return torch.einsum("...ikj,...ik,...kj->...ij", bends, a, b)
