"""The contract of a manifold, and the notation of this room.

=========  =======================================================================================================
``*b``     leading batch dimensions; every function takes any number of them
``d``      width of a row: the ambient numbers that stand for a point (4 for S^3, 9 for a rotation matrix)
``m``      dimension of the manifold (3 for both)
``x, y``   points, rows of width ``d``
``u, v``   tangent vectors at the first argument, in the same ambient coordinates
``xi``     coordinates of a tangent vector in the orthonormal basis of ``basis(x)``
=========  =======================================================================================================

The base point comes first, always. Matrices are rows too: row by row, n*n numbers. Everything is float64.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.slack import Slack, barrier


class Manifold(ABC):
    """A Riemannian manifold with a domain on it: where suggestions may lie.

    Attributes:
        dim: Dimension of the manifold, ``m``.
        width: Numbers in a row, ``d``.
        diameter: Largest geodesic distance within the domain; for an unbounded one, the scale of ordinary data.
        injectivity_radius: Geodesics shorter than this are shortest, and their end determines them.
        is_bounded: Whether the domain is bounded.
        has_border: Whether the domain has a border, where ``barrier`` falls.
    """

    dim: int
    width: int
    diameter: float
    injectivity_radius: float = math.inf
    is_bounded: bool = True
    has_border: bool = False

    @abstractmethod
    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Riemannian inner product of two tangent vectors at ``x``."""

    @abstractmethod
    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Point reached from ``x`` by the geodesic of initial velocity ``u`` in unit time."""

    @abstractmethod
    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """Shortest tangent vector at ``x`` that ``exp`` carries to ``y``; at the cut locus, one of them."""

    @abstractmethod
    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Geodesic distance."""

    @abstractmethod
    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Tangent vector at ``x`` nearest to the ambient vector ``v``."""

    @abstractmethod
    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Point of the manifold nearest to the ambient ``v``: removes what rounding has left."""

    @abstractmethod
    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Point near ``exp(x, u)``, equal to second order and cheaper: Hessians pulled back by it are Riemannian."""

    @abstractmethod
    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """The tangent vector ``u`` at ``x`` moved in parallel along the geodesic to ``y``."""

    @abstractmethod
    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """Orthonormal basis of the tangent space at ``x``."""

    @abstractmethod
    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """``count`` points spread over the domain."""

    def norm(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """Length of a tangent vector."""
        return torch.sqrt(self.inner(x, u, u).clamp_min(0))

    def tangent(self, x: Float[Tensor, "*b d"], xi: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """Tangent vector at ``x`` with coordinates ``xi`` in ``basis(x)``."""
        return (xi.unsqueeze(-2) @ self.basis(x)).squeeze(-2)

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the points lie in the domain."""
        return torch.ones(x.shape[:-1], dtype=torch.bool)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """What is left to the borders of the domain: matrices, positive definite inside; none without a border.

        Smooth functions of the point, scaled so that they are of the order of 1.
        """
        del x
        return []

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack] | None:
        """The slacks to second order in the coordinates of ``basis(x)``; None where autograd must find it."""
        del x
        return None if self.has_border else []

    def barrier(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """Smooth function that falls to minus infinity at the border of the domain; zero without one."""
        return barrier(self.slacks(x), x.shape[:-1])

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Nearest point of the domain that stays inside it when it is rounded to float32.

        Args:
            x: Points of the manifold.
            margin: Part of the domain's width, below 1/2, to keep free at every border.
        """
        return x
