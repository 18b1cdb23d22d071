"""Space-filling points: what is asked before there is a model, or where it cannot be used."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold

CANDIDATES = 32
"""Drawn for each point. More would push points to the border of a box, where most of its far places are."""


def space_filling(
    manifold: Manifold, count: int, *, taken: Float[Tensor, "n d"], generator: torch.Generator
) -> Float[Tensor, "k d"]:
    """``count`` points, each the candidate farthest from all points before it and from those in ``taken``.

    Works on any manifold, and with any points that others have chosen or are running.

    Source:
        Mitchell 1991, "Spectrally optimal sampling for distribution ray tracing" (best candidate).
    """
    points = taken
    for _ in range(count):
        candidates = manifold.random(CANDIDATES, generator)
        if len(points):
            gaps = manifold.distance(candidates.unsqueeze(1), points.unsqueeze(0))  # (candidates, points)
            chosen = candidates[gaps.amin(-1).argmax()]
        else:
            chosen = candidates[0]
        points = torch.cat([points, chosen.unsqueeze(0)])
    return points[len(taken) :]
