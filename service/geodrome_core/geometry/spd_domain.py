"""Symmetric positive definite matrices as rows, and the domain that bounds on their eigenvalues make."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.euclidean import FLOAT32_ROUNDING
from geodrome_core.geometry.manifold import Manifold


class EigenvalueBox(Manifold):
    """SPD(n) without its metric: n*n numbers row by row, all eigenvalues within bounds.

    Args:
        size: n, rows of the matrices.
        eigenvalues: Lowest and highest eigenvalue of the domain; None for no bounds.

    Attributes:
        axes: (m, n, n) orthonormal basis of the symmetric matrices.
    """

    def __init__(self, size: int, *, eigenvalues: tuple[float, float] | None = None) -> None:
        self.size = size
        self.dim = size * (size + 1) // 2
        self.width = size * size
        self.eigenvalues = eigenvalues
        self.is_bounded = self.has_border = eigenvalues is not None
        low, high = eigenvalues or (1 / math.e, math.e)
        self.diameter = math.sqrt(size) * math.log(high / low)
        # Factors of X in the two slacks.
        self._shares = torch.tensor([1 / low, -1 / high], dtype=torch.float64)[:, None, None]
        symmetric = []
        for i, j in combinations_with_replacement(range(size), 2):
            e = torch.zeros(size, size, dtype=torch.float64)
            e[i, j] = e[j, i] = 1.0 if i == j else math.sqrt(0.5)
            symmetric.append(e)
        self.axes = torch.stack(symmetric)

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The symmetric part."""
        m = self._matrix(v)
        return (0.5 * (m + m.mT)).flatten(-2)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The symmetric part. Lost definiteness is never repaired here: that would be another matrix."""
        return self.project(v, v)

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Eigenvalues log-uniform within the bounds, eigenvectors uniform; without bounds, log-normal eigenvalues."""
        shape = (count, self.size)
        if self.eigenvalues is None:
            logs = torch.randn(shape, generator=generator, dtype=torch.float64)
        else:
            low, high = (math.log(value) for value in self.eigenvalues)
            logs = low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)
        normal = torch.randn(count, self.size, self.size, generator=generator, dtype=torch.float64)
        vectors = torch.linalg.qr(normal).Q
        return self.nearest(((vectors * torch.exp(logs).unsqueeze(-2)) @ vectors.mT).flatten(-2))

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether all eigenvalues lie within the bounds."""
        values = torch.linalg.eigvalsh(self._matrix(x))
        low, high = self.eigenvalues or (0.0, math.inf)
        return (values[..., 0] >= low) & (values[..., -1] <= high)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """X / low - I and I - X / high."""
        if self.eigenvalues is None:
            return []
        low, high = self.eigenvalues
        eye = torch.eye(self.size, dtype=x.dtype)
        m = self._matrix(x)
        return [torch.stack([m / low - eye, eye - m / high], -3)]

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Eigenvalues moved to the bounds, less what rounding the entries to float32 can change."""
        if self.eigenvalues is None:
            return x
        low, high = self.eigenvalues
        ratio = (high / low) ** margin
        low, high = low * ratio, high / ratio
        values, vectors = torch.linalg.eigh(self._matrix(x))
        values = values.clamp(max=high * (1 - self.size * FLOAT32_ROUNDING))
        # Entries round by at most half of 2^-23 of the largest eigenvalue, and n of them add up.
        values = torch.maximum(values, low + self.size * FLOAT32_ROUNDING * values.amax(-1, keepdim=True))
        return self.nearest(((vectors * values.unsqueeze(-2)) @ vectors.mT).flatten(-2))

    def _matrix(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k k"]:
        return x.unflatten(-1, (self.size, self.size))
