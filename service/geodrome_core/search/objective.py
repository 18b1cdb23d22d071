"""What a search maximizes: a function of points that can tell its gradient and Hessian in tangent coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold

STEP = 2e-6
"""To the points where gradients are compared, relative to the manifold's diameter."""


@dataclass(frozen=True)
class Expanded:
    """A function at some points, with the gradient and Hessian of its pullback by the manifold's retraction.

    Attributes:
        value: At each point.
        gradient: In the coordinates of the manifold's basis there.
        hessian: Symmetric.
    """

    value: Float[Tensor, " b"]
    gradient: Float[Tensor, "b m"]
    hessian: Float[Tensor, "b m m"]

    def __add__(self, other: Expanded) -> Expanded:
        return Expanded(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def times(self, factor: Float[Tensor, " b"]) -> Expanded:
        """Each point's function times a number of its own."""
        return Expanded(factor * self.value, factor.unsqueeze(-1) * self.gradient, factor[:, None, None] * self.hessian)

    def along(self, coordinates: Int[Tensor, " k"]) -> Expanded:
        """The part in some of the coordinates."""
        rows = self.hessian.index_select(-2, coordinates).index_select(-1, coordinates)
        return Expanded(self.value, self.gradient.index_select(-1, coordinates), rows)

    def some(self, index: Int[Tensor, " k"]) -> Expanded:
        """At some of the points."""
        return Expanded(self.value[index], self.gradient[index], self.hessian[index])

    def with_some(self, index: Int[Tensor, " k"], new: Expanded) -> Expanded:
        """With the values at some of the points replaced."""
        return Expanded(
            self.value.index_copy(0, index, new.value),
            self.gradient.index_copy(0, index, new.gradient),
            self.hessian.index_copy(0, index, new.hessian),
        )


@runtime_checkable
class Objective(Protocol):
    """A function of points; large is good."""

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values."""

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians."""


@dataclass(frozen=True)
class ByAutograd:
    """Any function that autograd can differentiate twice.

    Attributes:
        function: From points (b, d) to values (b,), each of its own point.
        manifold: Gives basis and retraction.
    """

    function: Callable[[Tensor], Tensor]
    manifold: Manifold

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values."""
        return self.function(x)

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """By one backward pass for the gradient and one vectorized pass for all rows of all Hessians."""
        with torch.enable_grad():
            xi = torch.zeros(len(x), self.manifold.dim, dtype=x.dtype, requires_grad=True)
            value = self.function(self.manifold.retract(x, self.manifold.tangent(x, xi)))
            (gradient,) = torch.autograd.grad(value.sum(), xi, create_graph=True, materialize_grads=True)
            if not gradient.requires_grad:
                return Expanded(value.detach(), gradient, gradient.new_zeros(*gradient.shape, gradient.shape[-1]))
            axes = torch.eye(self.manifold.dim, dtype=x.dtype).unsqueeze(1).expand(-1, len(x), -1)
            (rows,) = torch.autograd.grad(
                gradient, xi, axes, is_grads_batched=True, materialize_grads=True
            )  # (m, b, m)
        hessian = rows.transpose(0, 1)
        return Expanded(value.detach(), gradient.detach(), 0.5 * (hessian + hessian.mT))


@dataclass(frozen=True)
class ByDifferences(ByAutograd):
    """A function of many parts: gradients by autograd, and Hessians by their differences.

    That is several times cheaper than autograd's own Hessians, and as good for Newton's method: seven digits are right.
    """

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """By one backward pass, at the points and on both sides of them along every axis."""
        dim, step = self.manifold.dim, STEP * self.manifold.diameter
        axes = step * torch.eye(dim, dtype=x.dtype)
        axes = torch.cat([torch.zeros(1, dim, dtype=x.dtype), axes, -axes])
        with torch.enable_grad():
            xi = axes.unsqueeze(1).repeat(1, len(x), 1).requires_grad_()  # (1 + 2m, b, m)
            here = x.expand(len(axes), *x.shape)
            value = self.function(self.manifold.retract(here, self.manifold.tangent(here, xi)).flatten(0, 1))
            (gradient,) = torch.autograd.grad(value.sum(), xi, materialize_grads=True)
        ahead, behind = gradient[1 : 1 + dim], gradient[1 + dim :]
        hessian = ((ahead - behind) / (2 * step)).transpose(0, 1)
        return Expanded(value[: len(x)].detach(), gradient[0], 0.5 * (hessian + hessian.mT))


@dataclass(frozen=True)
class Sum:
    """The sum of several objectives."""

    terms: Sequence[Objective]

    def __call__(self, x: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
        """Values."""
        first, *rest = self.terms
        out = first(x)
        for term in rest:
            out = out + term(x)
        return out

    def expand(self, x: Float[Tensor, "b d"]) -> Expanded:
        """Values, gradients and Hessians."""
        first, *rest = self.terms
        out = first.expand(x)
        for term in rest:
            out = out + term.expand(x)
        return out
