"""Symmetric functions of k numbers c_1 … c_k, computed from their elementary symmetric polynomials.

The numbers themselves are roots of chi(z) = prod (z - c_i) = z^k - e_1 z^(k-1) + … and have no derivatives where two of
them are equal; polynomials in them that are symmetric are polynomials in e_1 … e_k. Every function f of one variable is
here the vector of the k coefficients of f modulo chi, a polynomial that takes the value f(c_i) at each c_i.

With k functions, the determinant of their coefficients is det[f_a(c_j)] divided by Vandermonde's determinant, without a
singularity where numbers are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def remainder(e: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """Coefficients of z^k modulo chi, constant term first."""
    signs = torch.tensor([(-1.0) ** i for i in range(len(e))], dtype=e.dtype)
    return (e * signs[:, None]).flip(0)


def shifted(v: Float[Tensor, "k p"], rest: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """Z times v modulo chi, where ``rest`` is z^k."""
    return torch.cat([v[-1:] * rest[:1], v[:-1] + v[-1:] * rest[1:]])


def product(v: Float[Tensor, "k p"], w: Float[Tensor, "k p"], rest: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """V times w modulo chi."""
    out = v[-1:] * w
    for coefficient in v[:-1].flip(0):
        out = shifted(out, rest) + coefficient * w
    return out


def series(coefficients: Sequence[float], rest: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """The power series of these coefficients modulo chi."""
    one = torch.zeros_like(rest)
    one[0] = 1
    out = coefficients[-1] * one
    for coefficient in reversed(coefficients[:-1]):
        out = shifted(out, rest) + coefficient * one
    return out


def chebyshev(count: int, step: float, rest: Float[Tensor, "k p"]) -> Float[Tensor, "l k p"]:
    """``count`` functions f_0 = 1, f_1 = 1 + 2 step - … by f_(l+1) = 2 (1 - z) f_l - f_(l-1), modulo chi.

    Args:
        count: How many.
        step: f_1 is (1 - z) for 0, the cosines of l theta with z = 1 - cos theta; it is 3 - 2 z for 1, the quotients
            sin((l + 1/2) theta) / sin(theta / 2).
        rest: Coefficients of z^k.
    """
    one = torch.zeros_like(rest)
    one[0] = 1
    values = [one, (1 + step) * (one - shifted(one, rest)) + step * one]
    while len(values) < count:
        values.append(2 * (values[-1] - shifted(values[-1], rest)) - values[-2])
    return torch.stack(values[:count])


def power_sums(e: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """Sums of the first to the k-th powers, by Newton's identities."""
    sums: list[Tensor] = []
    for m in range(1, len(e) + 1):
        total = (-1.0) ** (m - 1) * m * e[m - 1]
        for i in range(1, m):
            total = total + (-1.0) ** (i - 1) * e[i - 1] * sums[m - i - 1]
        sums.append(total)
    return torch.stack(sums)


def elementary(sums: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """Elementary symmetric polynomials, from the sums of powers."""
    found = [torch.ones_like(sums[0])]
    for m in range(1, len(sums) + 1):
        terms = [(-1.0) ** (i - 1) * found[m - i] * sums[i - 1] for i in range(1, m + 1)]
        found.append(torch.stack(terms).sum(0) / m)
    return torch.stack(found[1:])


def trace(v: Float[Tensor, "k p"], sums: Float[Tensor, "k p"]) -> Float[Tensor, " p"]:
    """Sum of the values at all c_i, from the sums of powers."""
    return len(v) * v[0] + (v[1:] * sums[:-1]).sum(0)


def determinant(m: Float[Tensor, "*b k k p"]) -> Float[Tensor, "*b p"]:
    """Of small matrices, by minors: differentiable where it is zero, too."""
    size = m.shape[-2]
    if size == 1:
        return m[..., 0, 0, :]
    if size == 2:  # noqa: PLR2004
        return m[..., 0, 0, :] * m[..., 1, 1, :] - m[..., 0, 1, :] * m[..., 1, 0, :]
    columns = range(size)
    terms = [
        (-1.0) ** j * m[..., 0, j, :] * determinant(m[..., 1:, [i for i in columns if i != j], :]) for j in columns
    ]
    return torch.stack(terms).sum(0)
