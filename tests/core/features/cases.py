"""What the tests of feature maps measure: errors against the exact kernels, over pairs of points and over draws."""

from __future__ import annotations

import math

import torch
from geodrome_core.features import Features, features_for
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.space import Space
from gpytorch.kernels import Kernel
from torch import Tensor

from tests.strategies import generator


def near_rows(space: Space, count: int, seed: int = 0) -> Tensor:
    """Points about half a unit from one point; on hyperbolic spaces from the origin, where waves vary least."""
    stream = generator(seed)
    x = space.manifold.random(1, generator(0))
    if any(isinstance(factor, Hyperbolic) for factor in space.factors.values()):
        x = torch.eye(space.manifold.width, dtype=torch.float64)[:1]
    x = x.expand(count, -1)
    xi = torch.randn(count, space.manifold.dim, generator=stream, dtype=torch.float64)
    return space.manifold.exp(x, space.manifold.tangent(x, 0.5 / math.sqrt(space.manifold.dim) * xi))


def products(features: Features, x: Tensor, y: Tensor) -> Tensor:
    """<phi(x), phi(y)> of matching rows."""
    return (features.evaluate(x) * features.evaluate(y)).sum(-1)


def exact(kernel: Kernel, x: Tensor, y: Tensor) -> Tensor:
    """The kernel of matching rows."""
    return torch.diagonal(kernel(x, y).to_dense().detach())


def many_products(
    space: Space, kernel: Kernel, x: Tensor, y: Tensor, *, count: int, draws: int, seed: int = 0
) -> Tensor:
    """<phi(x), phi(y)> for independent draws, (draws, n)."""
    stream = generator(seed)
    found = [products(features_for(space, kernel, count=count, generator=stream), x, y) for _ in range(draws)]
    return torch.stack(found)


def deviations(found: Tensor, expected: Tensor) -> Tensor:
    """How many standard errors the mean over draws is away from what it should be."""
    return (found.mean(0) - expected) / (found.std(0) / math.sqrt(len(found))).clamp_min(1e-12)
