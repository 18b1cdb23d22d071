"""Symmetric functions of k numbers c_1 … c_k, computed from their elementary symmetric polynomials e_1 … e_k.

The numbers themselves are roots of chi(z) = prod (z - c_i) = z^k - e_1 z^(k-1) + … and have no derivatives where two of
them are equal; polynomials in them that are symmetric are polynomials in the e_m. Every function f of one variable is
here the polynomial of degree k - 1 that takes the value f(c_i) at each c_i: f modulo chi. Its coefficients stand along
the first dimension of a tensor, the constant term first.

With k functions, the determinant of their coefficients is det[f_a(c_j)] divided by Vandermonde's determinant, without a
singularity where numbers are equal.

A polynomial of d digits, a + b chi + c chi^2 …, is f modulo chi^d: the coefficients of a, b and c one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor


def remainder(e: Float[Tensor, "k *b"]) -> Float[Tensor, "k *b"]:
    """Z^k modulo chi."""
    return torch.stack([value if index % 2 == 0 else -value for index, value in enumerate(e)][::-1])


def shifted(f: Float[Tensor, "m *#b"], rest: Float[Tensor, "k *#b"]) -> Float[Tensor, "m *#b"]:
    """Z times f modulo chi^d for f of d digits, where ``rest`` is z^k modulo chi."""
    digits = f.unflatten(0, (-1, len(rest)))
    top = digits[:, -1:]
    out = top * rest
    out[:, 1:] += digits[:, :-1]
    out[1:, 0] += top[:-1, 0]
    return out.flatten(0, 1)


def product(f: Float[Tensor, "k *b"], g: Float[Tensor, "k *b"], rest: Float[Tensor, "k *b"]) -> Float[Tensor, "k *b"]:
    """F times g modulo chi."""
    out = f[-1] * g
    for coefficient in f[:-1].flip(0):
        out = shifted(out, rest) + coefficient * g
    return out


def power_series(
    coefficients: Sequence[float], rest: Float[Tensor, "k *b"], *, digits: int = 1
) -> Float[Tensor, "m *b"]:
    """The series of these coefficients modulo chi, or modulo a power of it."""
    out = rest.new_zeros(digits * len(rest), *rest.shape[1:])
    for coefficient in reversed(coefficients):
        out = shifted(out, rest)
        out[0] += coefficient
    return out


def chebyshev(
    count: int, step: float, rest: Float[Tensor, "k *b"], *, digits: int = 1
) -> Float[Tensor, "{count} m *b"]:
    """Functions f_0 = 1, f_1 = (1 + step) (1 - z) + step and f_(l+1) = 2 (1 - z) f_l - f_(l-1), modulo chi.

    With z = 1 - cos theta they are cos(l theta) for step 0, and sin((l + 1/2) theta) / sin(theta / 2) for step 1.
    """
    one = rest.new_zeros(digits * len(rest), *rest.shape[1:])
    one[0] = 1
    out = [one, (1 + step) * (one - shifted(one, rest)) + step * one]
    while len(out) < count:
        out.append((out[-1] - shifted(out[-1], rest)).mul_(2).sub_(out[-2]))
    return torch.stack(out[:count])


def power_sums(e: Float[Tensor, "k *b"]) -> Float[Tensor, "k *b"]:
    """Sums of the first to the k-th powers of the numbers, by Newton's identities."""
    sums: list[Tensor] = []
    for m, value in enumerate(e, start=1):
        sums.append(_alternating([*(a * b for a, b in zip(e, reversed(sums), strict=False)), m * value]))
    return torch.stack(sums)


def elementary(sums: Float[Tensor, "k *b"]) -> Float[Tensor, "k *b"]:
    """E_1 … e_k, from the sums of powers."""
    out = [torch.ones_like(sums[0])]
    for m in range(1, len(sums) + 1):
        out.append(_alternating([a * b for a, b in zip(reversed(out), sums, strict=False)]) / m)
    return torch.stack(out[1:])


def trace(f: Float[Tensor, "k *b"], sums: Float[Tensor, "k *b"]) -> Float[Tensor, "*b"]:
    """Sum of the values of f at all numbers, from the sums of their powers."""
    return len(f) * f[0] + (f[1:] * sums[:-1]).sum(0)


def jet(f: Float[Tensor, "m *#b"], rest: Float[Tensor, "k *#b"]) -> Float[Tensor, "j k *#b"]:
    """Coefficients of f modulo chi with their derivatives in the e_i, and in e_i and e_j for j <= i, in this order.

    ``f`` has three digits, a + b chi + c chi^2. When chi becomes chi + d, the remainder a becomes
    a - (d b mod chi) + (d (d b div chi) + d^2 c mod chi) + …
    """
    k = len(rest)
    shifts = [f[k:]]  # z^m (b + c chi)
    while len(shifts) < k:
        shifts.append(shifted(shifts[-1], rest))
    slopes, bends = [], []
    for i in range(1, k + 1):
        # chi has the coefficient (-1)^i e_i at z^(k - i).
        slope = shifts[k - i][:k]
        slopes.append(slope if i % 2 else -slope)
        for j in range(1, i + 1):
            one, other = shifts[k - i][k:], shifts[k - j][k:]
            for _ in range(k - j):
                one = shifted(one, rest)
            for _ in range(k - i):
                other = shifted(other, rest)
            bends.append(one + other if (i + j) % 2 == 0 else -(one + other))
    return torch.stack([f[:k], *slopes, *bends])


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
