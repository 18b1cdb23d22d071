"""Keeping away from points that nobody wants again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import Space
from geodrome_core.kernels.expansion import Around
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.parts import around, cross
from geodrome_core.search.objective import ByAutograd, Expanded

REACH = 0.05
"""Of a point's repulsion, relative to each factor's diameter: one such distance away, improvement counts a third."""

CLOSEST = 1 - 1e-12
"""Largest kernel value that is told from 1."""


@dataclass(frozen=True)
class Repulsion:
    """Sum of log(1 - k(x, a)) over the points a: nothing far from all of them, minus infinity at each.

    Attributes:
        points: The points to keep away from.
        kernel: A heat kernel of short lengthscale.
        manifold: Where they live.
    """

    points: Float[Tensor, "n d"]
    kernel: Kernel
    manifold: Manifold

    @classmethod
    def of(cls, space: Space, points: Float[Tensor, "n d"]) -> Repulsion:
        """With the reach that fits the space."""
        reaches = {name: REACH * factor.diameter for name, factor in space.factors.items()}
        kernel = for_space(space, nu=float("inf"), lengthscale=reaches)
        return cls(points, kernel.requires_grad_(requires_grad=False), space.manifold)

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values; differentiable twice."""
        return torch.log1p(-cross(self.kernel, x, self.points).clamp_max(CLOSEST)).sum(-1)

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians."""
        if self._around is None:
            return ByAutograd(self, self.manifold).expand(x)
        k = self._around(x)
        left = 1 - k.value.clamp_max(CLOSEST)
        pull = torch.where(k.value > CLOSEST, 0.0, -1 / left)
        gradient = (k.slope @ pull.unsqueeze(-1)).squeeze(-1)
        hessian = k.bend(pull) - (k.slope * (pull**2).unsqueeze(-2)) @ k.slope.mT
        return Expanded(torch.log(left).sum(-1), gradient, hessian)

    @cached_property
    def _around(self) -> Around | None:
        return around(self.kernel, self.points)
