"""Chebyshev polynomials: nodes, coefficients, values."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


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
    """The Chebyshev polynomials of degree less than ``count``. No gradients."""
    out = x.new_empty(count, *x.shape)
    rows = out.unbind(0)
    rows[0].fill_(1)
    if count > 1:
        rows[1].copy_(x)
    twice = 2 * x
    for below, here, above in zip(rows, rows[1:], rows[2:], strict=False):
        torch.mul(twice, here, out=above).sub_(below)
    return out
