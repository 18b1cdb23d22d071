"""Axes of a tangent space: those along which observations spread most, and a basis that completes them."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold

NEGLIGIBLE = 1e-10
"""Part of the largest second moment below which an axis says nothing of the observations."""


def principal_axes(manifold: Manifold, x: Float[Tensor, " d"], observed: Float[Tensor, "n d"]) -> Float[Tensor, "a m"]:
    """Orthonormal coordinates, in the basis at ``x``, of the axes along which logarithms spread most about ``x``.

    The largest spread comes first; most observations lie ahead, where there is more than one dimension. There are fewer
    axes than ``m`` where the observations have fewer dimensions.

    Source:
        Fletcher, Lu, Pizer, Joshi 2004, "Principal geodesic analysis for the study of nonlinear statistics of shape";
        about a given point instead of the mean.
    """
    count, m = len(observed), manifold.dim
    logarithms = manifold.log(x.expand(count, -1), observed)
    xi = manifold.inner(
        x.expand(count, m, -1), logarithms.unsqueeze(1).expand(-1, m, -1), manifold.basis(x).expand(count, -1, -1)
    )  # (n, m)
    moments, vectors = torch.linalg.eigh(xi.mT @ xi)
    axes = vectors.mT.flip(0)[moments.flip(0) > NEGLIGIBLE * moments[-1]]
    # On a line, what is larger lies ahead, wherever the observations are.
    ahead = (xi @ axes.mT).sum(0).unsqueeze(-1) if m > 1 else axes
    return torch.where(ahead < 0, -axes, axes)


def completed(axes: Float[Tensor, "a m"]) -> Float[Tensor, "m m"]:
    """An orthonormal basis that begins with these axes; the others are as near to the coordinate axes as can be."""
    for _ in range(axes.shape[1] - len(axes)):
        rest = torch.eye(axes.shape[1], dtype=axes.dtype)
        for _again in range(2):  # once leaves rounding along the axes
            rest = rest - (rest @ axes.mT) @ axes
        lengths = torch.linalg.vector_norm(rest, dim=-1)
        farthest = int(lengths.argmax())
        axes = torch.cat([axes, (rest[farthest] / lengths[farthest]).unsqueeze(0)])
    return axes


def sine(axis: Float[Tensor, " m"], others: Float[Tensor, "a m"]) -> float:
    """Of the angle between a unit vector and the span of others."""
    rest = axis - (axis @ torch.linalg.pinv(others)) @ others
    return float(torch.linalg.vector_norm(rest))
