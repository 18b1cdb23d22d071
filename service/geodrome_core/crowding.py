"""How crowded observations are: late in a run, most of them are near the best one."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold

NEAR = 0.05
"""Distance over which points count as one, relative to the domain's diameter."""

COUNTED, FEWEST, PAIRS = 300, 30, 1_000_000
"""Points among which neighbours are counted: of more, so many, and fewer where the pairs would be too many."""


def declustered(manifold: Manifold, X: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """How much each point counts: as much less as there are others near it, so that a crowd counts as one.

    Weighted by these, costs stand for the domain, and not for where the search has been most.

    Source:
        Isaaks and Srivastava 1989, "An introduction to applied geostatistics", chapter 10; here with a soft count.
    """
    count = len(X)
    counted = min(count, COUNTED, max(FEWEST, PAIRS // count))
    some = torch.linspace(0, count - 1, counted, dtype=torch.float64).round().long()
    near = torch.exp(-0.5 * (manifold.distance(X.unsqueeze(1), X[some]) / (NEAR * manifold.diameter)) ** 2)
    near[some, torch.arange(len(some))] = 0.0
    return 1 / (1 + near.sum(-1) * (count / len(some)))
