"""What every solver shares: the function in tangent coordinates, when to stop, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.acquisition import Objective
from geodrome_core.geometry.manifold import Manifold


@dataclass(frozen=True)
class Search:
    """Where the starts ended.

    Attributes:
        points: (b, d) the optima, in the domain.
        values: (b,) the function there.
        iterations: Batched iterations, all barriers together.
    """

    points: Tensor
    values: Tensor
    iterations: int


@dataclass(frozen=True)
class Tolerance:
    """When a start is done.

    Attributes:
        gradient: Norm of the Riemannian gradient, relative to 1 + that at the start.
        iterations: At most, for each barrier weight.
    """

    gradient: float = 1e-6
    iterations: int = 50


DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class Pullback:
    """A function near each of some points, in tangent coordinates there; minus infinity outside the domain.

    Attributes:
        objective: The function.
        manifold: Where it lives; gives retraction, basis and barrier.
        weight: (b,) weight of the barrier that is added, for each point; without effect where there is no border.
    """

    objective: Objective
    manifold: Manifold
    weight: Tensor

    def at(self, index: Int[Tensor, " k"]) -> Pullback:
        """For some of the starts."""
        return Pullback(self.objective, self.manifold, self.weight[index])

    def value(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Objective and barrier together."""
        if not self.manifold.has_border:
            return self.objective(x)
        barrier = self.manifold.barrier(x)
        outside = torch.isneginf(barrier)
        return torch.where(outside, -torch.inf, self.objective(x) + self.weight * torch.where(outside, 0.0, barrier))

    def gradient(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b m"]:
        """Gradient in tangent coordinates at ``x``."""
        xi, value = self._pulled_back(x)
        (gradient,) = torch.autograd.grad(value.sum(), xi)
        return gradient

    def slope(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Norm of the Riemannian gradient."""
        return self.gradient(x).norm(dim=-1)

    def expand(
        self, x: Float[Tensor, "b d"]
    ) -> tuple[Float[Tensor, " b"], Float[Tensor, "b m"], Float[Tensor, "b m m"]]:
        """Value, gradient and Hessian in tangent coordinates at ``x``."""
        xi, value = self._pulled_back(x)
        (gradient,) = torch.autograd.grad(value.sum(), xi, create_graph=True)
        # All rows of all Hessians in one vectorized backward pass.
        axes = torch.eye(self.manifold.dim, dtype=x.dtype).unsqueeze(1).expand(-1, len(x), -1)
        (rows,) = torch.autograd.grad(gradient, xi, axes, is_grads_batched=True)  # (m, b, m)
        hessian = rows.transpose(0, 1)
        return value.detach(), gradient.detach(), 0.5 * (hessian + hessian.mT)

    def _pulled_back(self, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b m"], Float[Tensor, " b"]]:
        xi = torch.zeros(len(x), self.manifold.dim, dtype=x.dtype, requires_grad=True)
        return xi, self.value(self.manifold.retract(x, self.manifold.tangent(x, xi)))
