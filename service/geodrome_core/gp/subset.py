"""Which observations a model keeps when there are too many for linear algebra."""

from __future__ import annotations

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.kernels.parts import cross

LARGEST = 1500
"""Distinct points that an exact model takes: a fit of them takes some seconds."""

NEAR_BEST = 500
"""Of these, the ones of least cost; the others are spread over the space."""


def informative(kernel: Kernel, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"]) -> Int[Tensor, " k"]:
    """Rows of the ``NEAR_BEST`` least costs, and of others that the kernel tells most apart; in their order.

    After those of least cost, each is the one whose value the ones before determine least: the pivots of a Cholesky
    factorization, which spread over the space as a greedy maximin design does.

    Source:
        Harbrecht, Peters, Schneider 2012, "On the low-rank approximation by the pivoted Cholesky decomposition".
    """
    best = Y.argsort(stable=True)[:NEAR_BEST]
    factor = torch.zeros(len(X), LARGEST, dtype=X.dtype)
    left = torch.ones(len(X), dtype=X.dtype)  # prior variances, less what is determined
    chosen: list[int] = []
    with torch.no_grad():
        for step in range(LARGEST):
            pivot = int(best[step]) if step < len(best) else int(left.argmax())
            chosen.append(pivot)
            row = cross(kernel, X[pivot : pivot + 1], X).squeeze(0)
            row = (row - factor[:, :step] @ factor[pivot, :step]) / left[pivot].clamp_min(PIVOT).sqrt()
            factor[:, step] = row
            left = (left - row**2).clamp_min(0)
            left[chosen] = -1.0
    return torch.tensor(sorted(chosen))


PIVOT = 1e-10
"""Least pivot that is divided by: below it, a point of least cost coincides with another."""
