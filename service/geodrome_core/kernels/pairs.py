"""Squared distances of pairs of points: exact near coincidence, and cheap to differentiate."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def squared_distance(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
    """|x - y|^2 of broadcast pairs, differentiable twice.

    For all pairs of two sets, (*b n 1 d) and (*b 1 m d), no array of all differences is kept: the value comes from
    differences, which lose no digits near coincidence, the derivatives from |x|^2 + |y|^2 - 2 <x, y>, a matrix product.
    """
    if x.dim() < 3 or y.dim() < 3 or x.shape[-2] != 1 or y.shape[-3] != 1 or x.shape[:-3] != y.shape[:-3]:
        return ((x - y) ** 2).sum(-1)
    rows, columns = x.squeeze(-2), y.squeeze(-3)
    with torch.no_grad():
        value = torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    if not (rows.requires_grad or columns.requires_grad):
        return value
    product = (rows**2).sum(-1).unsqueeze(-1) + (columns**2).sum(-1).unsqueeze(-2) - 2 * rows @ columns.mT
    return value + (product - product.detach())
