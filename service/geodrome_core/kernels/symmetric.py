"""Symmetric functions of k numbers c_1 … c_k, computed from their elementary symmetric polynomials e_1 … e_k.

The numbers themselves are roots of chi(z) = prod (z - c_i) = z^k - e_1 z^(k-1) + … and have no derivatives where two of
them are equal; polynomials in them that are symmetric are polynomials in the e_m. Every function f of one variable is
here the polynomial of degree k - 1 that takes the value f(c_i) at each c_i: f modulo chi.

With k functions, the determinant of their coefficients is det[f_a(c_j)] divided by Vandermonde's determinant, without a
singularity where numbers are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

Polynomial = Sequence[Tensor]
"""Coefficients, constant term first, each of shape (pairs,); or e_1 … e_k, or sums of powers, in that order."""


def remainder(e: Polynomial) -> Polynomial:
    """Z^k modulo chi."""
    return [value if index % 2 == 0 else -value for index, value in enumerate(e)][::-1]


def shifted(f: Polynomial, rest: Polynomial) -> Polynomial:
    """Z times f modulo chi, where ``rest`` is z^k; modulo chi^d for f of d digits (see ``jet``)."""
    out: list[Tensor] = []
    carried = None
    for digit in range(0, len(f), len(rest)):
        lower, top = f[digit : digit + len(rest) - 1], f[digit + len(rest) - 1]
        first = top * rest[0]
        out.append(first if carried is None else first + carried)
        out += [value + top * r for value, r in zip(lower, rest[1:], strict=True)]
        carried = top
    return out


def product(f: Polynomial, g: Polynomial, rest: Polynomial) -> Polynomial:
    """F times g modulo chi."""
    out = [f[-1] * value for value in g]
    for coefficient in reversed(f[:-1]):
        out = [up + coefficient * value for up, value in zip(shifted(out, rest), g, strict=True)]
    return out


def power_series(coefficients: Sequence[float], rest: Polynomial, *, digits: int = 1) -> Polynomial:
    """The series of these coefficients modulo chi, or modulo a power of it."""
    out: Polynomial = [torch.zeros_like(rest[0])] * (digits * len(rest))
    for coefficient in reversed(coefficients):
        first, *others = shifted(out, rest)
        out = [first + coefficient, *others]
    return out


def chebyshev(count: int, step: float, rest: Polynomial, *, digits: int = 1) -> list[Polynomial]:
    """``count`` functions f_0 = 1, f_1 = (1 + step) (1 - z) + step and f_(l+1) = 2 (1 - z) f_l - f_(l-1), modulo chi.

    With z = 1 - cos theta they are cos(l theta) for step 0, and sin((l + 1/2) theta) / sin(theta / 2) for step 1.
    """
    one = [torch.ones_like(rest[0])] + [torch.zeros_like(rest[0])] * (digits * len(rest) - 1)
    first = [(1 + step) * (a - b) + step * a for a, b in zip(one, shifted(one, rest), strict=True)]
    out: list[Polynomial] = [one, first]
    while len(out) < count:
        before, now = out[-2:]
        out.append([2 * (a - b) - c for a, b, c in zip(now, shifted(now, rest), before, strict=True)])
    return out[:count]


def jet(f: Polynomial, rest: Polynomial) -> list[Float[Tensor, "j *b"]]:
    """Coefficients of f modulo chi with their derivatives in the e_i, and in e_i and e_j for j <= i, in this order.

    ``f`` has three digits: it is given as a + b chi + c chi^2, the coefficients of a, b and c in this order. When chi
    becomes chi + d, the remainder a becomes a - (d b mod chi) + (d (d b div chi) + d^2 c mod chi) + …
    """
    k = len(rest)
    shifts = [f[k:]]  # z^m (b + c chi)
    while len(shifts) < k:
        shifts.append(shifted(shifts[-1], rest))
    slopes, bends = [], []
    for i in range(1, k + 1):
        # chi has the coefficient (-1)^i e_i at z^(k - i).
        slopes.append([value if i % 2 else -value for value in shifts[k - i][:k]])
        for j in range(1, i + 1):
            one, other = shifts[k - i][k:], shifts[k - j][k:]
            for _ in range(k - j):
                one = shifted(one, rest)
            for _ in range(k - i):
                other = shifted(other, rest)
            bends.append([a + b if (i + j) % 2 == 0 else -a - b for a, b in zip(one, other, strict=True)])
    return [torch.stack([f[m], *(d[m] for d in slopes), *(d[m] for d in bends)]) for m in range(k)]


def jet_product(a: Float[Tensor, "j *b"], b: Float[Tensor, "j *b"], *, k: int) -> Float[Tensor, "j *b"]:
    """Product of two functions of e_1 … e_k, with its derivatives in the order of ``jet``."""
    out = a[:1] * b
    out[1:].addcmul_(b[:1], a[1:])
    orders = [(i, j) for i in range(1, k + 1) for j in range(1, i + 1)]
    for bend, (i, j) in zip(out[k + 1 :], orders, strict=True):
        if i == j:
            bend.addcmul_(a[i], b[i], value=2)
        else:
            bend.addcmul_(a[i], b[j]).addcmul_(a[j], b[i])
    return out


def power_sums(e: Polynomial) -> Polynomial:
    """Sums of the first to the k-th powers of the numbers, by Newton's identities."""
    sums: list[Tensor] = []
    for m, value in enumerate(e, start=1):
        sums.append(_alternating([*(a * b for a, b in zip(e, reversed(sums), strict=False)), m * value]))
    return sums


def elementary(sums: Polynomial) -> Polynomial:
    """E_1 … e_k, from the sums of powers."""
    out = [torch.ones_like(sums[0])]
    for m in range(1, len(sums) + 1):
        terms = [a * b for a, b in zip(reversed(out), sums, strict=False)]
        out.append(_alternating(terms) / m)
    return out[1:]


def trace(f: Polynomial, sums: Polynomial) -> Float[Tensor, " p"]:
    """Sum of the values of f at all numbers, from the sums of their powers."""
    out = len(f) * f[0]
    for coefficient, power in zip(f[1:], sums[:-1], strict=True):
        out = out + coefficient * power
    return out


def determinant(
    rows: Sequence[Sequence[Float[Tensor, "*b"]]], *, times: Callable[[Tensor, Tensor], Tensor] = torch.mul
) -> Float[Tensor, "*b"]:
    """Of a small matrix of tensors, by minors of its last rows: differentiable where it is zero, too."""
    minors: dict[tuple[int, ...], Tensor] = {(j,): value for j, value in enumerate(rows[-1])}
    for order in range(2, len(rows) + 1):
        upper = rows[-order]
        minors = {
            columns: _alternating(
                [times(upper[j], minors[columns[:i] + columns[i + 1 :]]) for i, j in enumerate(columns)]
            )
            for columns in combinations(range(len(rows)), order)
        }
    return minors[tuple(range(len(rows)))]


def _alternating(terms: Sequence[Tensor]) -> Tensor:
    out = terms[0]
    for index, term in enumerate(terms[1:], start=1):
        out = out - term if index % 2 else out + term
    return out
