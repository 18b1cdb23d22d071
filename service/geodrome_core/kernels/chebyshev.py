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
    """The Chebyshev polynomials of degree less than ``count``."""
    out = [torch.ones_like(x)[None], x[None]]
    known = 2
    while known < count:
        # T_(m+i) = 2 T_m T_i - T_(m-i): each step knows almost twice as many.
        all_known = torch.cat(out)
        m, more = known - 1, min(known - 1, count - known)
        out.append(2 * all_known[m] * all_known[1 : more + 1] - all_known[m - more : m].flip(0))
        known += more
    return torch.cat(out)[:count]
