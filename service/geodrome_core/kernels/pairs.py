"""Products and squared distances of pairs of points, cheap to differentiate; distances are exact near coincidence."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import carried


def are_all_pairs(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> bool:
    """Whether the pairs are those of two sets, (*b n 1 d) and (*b 1 m d)."""
    return x.dim() > 2 and y.dim() > 2 and x.shape[-2] == 1 == y.shape[-3] and x.shape[:-3] == y.shape[:-3]


def squared_distance(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
    """|x - y|^2 of broadcast pairs, differentiable twice.

    For all pairs of two sets, (*b n 1 d) and (*b 1 m d), no array of all differences is kept: the value comes from
    differences, which lose no digits near coincidence, the derivatives from |x|^2 + |y|^2 - 2 <x, y>, a matrix product.
    """
    if not are_all_pairs(x, y):
        return ((x - y) ** 2).sum(-1)
    rows, columns = x.squeeze(-2), y.squeeze(-3)
    with torch.no_grad():
        value = torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    if not (rows.requires_grad or columns.requires_grad):
        return value
    product = (rows**2).sum(-1).unsqueeze(-1) + (columns**2).sum(-1).unsqueeze(-2) - 2 * rows @ columns.mT
    return carried(value, product)


def inner_product(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
    """<x, y> of broadcast pairs; for all pairs of two sets a matrix product."""
    if not are_all_pairs(x, y):
        return (x * y).sum(-1)
    return x.squeeze(-2) @ y.squeeze(-3).mT
