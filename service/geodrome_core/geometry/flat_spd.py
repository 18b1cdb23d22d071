"""Symmetric positive definite matrices under the two flat metrics: log-Euclidean and log-Cholesky."""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.matrix_functions import EXP, LOG, derivative, symmetric_function
from geodrome_core.geometry.slack import Slack
from geodrome_core.geometry.spd_domain import EigenvalueBox

LONGEST_RETRACTION = 6.0
"""No retraction goes further: one of length 100 would leave no positive eigenvalue in the digits of a double."""


SINGULAR = 1e-14
"""Ratio of eigenvalues below which rounding decides whether the least is positive."""


class FlatSPD(EigenvalueBox):
    """SPD(n) with the metric of R^(n(n+1)/2), carried over by coordinates that cover it all."""

    @abstractmethod
    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """The isometry to R^m."""

    @abstractmethod
    def point(self, c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """The matrix of coordinates ``c``."""

    @abstractmethod
    def flat(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """Derivative of ``coordinates`` at ``x`` along ``u``."""

    @abstractmethod
    def curved(self, x: Float[Tensor, "*b d"], c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """The tangent vector at ``x`` that ``flat`` maps to ``c``."""

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Dot product of the coordinates' derivatives."""
        return (self.flat(x, u) * self.flat(x, v)).sum(-1)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Straight on in coordinates."""
        return self.point(self.coordinates(x) + self.flat(x, u))

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """The difference of the coordinates."""
        return self.curved(x, self.coordinates(y) - self.coordinates(x))

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Length of the difference of the coordinates."""
        return torch.linalg.vector_norm(self.coordinates(y) - self.coordinates(x), dim=-1)

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``exp`` of ``u``, shortened in fifth order so that its length stays below ``LONGEST_RETRACTION``."""
        c = self.flat(x, u)
        square = (c * c).sum(-1, keepdim=True) / LONGEST_RETRACTION**2
        return self.point(self.coordinates(x) + c / (1 + square**2) ** 0.25)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """The same coordinates, along every path."""
        return self.curved(y, self.flat(x, u))

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """The tangents along the axes of the coordinates."""
        axes = torch.eye(self.dim, dtype=x.dtype).expand(*x.shape[:-1], -1, -1)
        return self.curved(x.unsqueeze(-2).expand(*x.shape[:-1], self.dim, -1), axes)


class LogEuclideanSPD(FlatSPD):
    """SPD(n) with distance |log X - log Y|_F: unchanged by rotations X -> R X R^T, scaling and inversion.

    Coordinates are those of log X in an orthonormal basis of the symmetric matrices.

    Source:
        Arsigny, Fillard, Pennec, Ayache 2007, "Geometric means in a novel vector space structure on symmetric
        positive-definite matrices".
    """

    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """Mandel vector of log X."""
        return self._vector(symmetric_function(LOG, self._matrix(x)))

    def point(self, c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """The matrix exponential."""
        return symmetric_function(EXP, self._symmetric_matrix(c)).flatten(-2)

    def flat(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """Derivative of log at X along U."""
        return self._vector(derivative(LOG, self._matrix(x), self._matrix(u)))

    def curved(self, x: Float[Tensor, "*b d"], c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """Derivative of exp at log X along the matrix of ``c``."""
        return derivative(EXP, symmetric_function(LOG, self._matrix(x)), self._symmetric_matrix(c)).flatten(-2)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """Log X - log low I and log high I - log X, relative to log(high / low): straight in coordinates."""
        if self.eigenvalues is None:
            return []
        low, high = (math.log(bound) for bound in self.eigenvalues)
        m, eye = self._matrix(x), torch.eye(self.size, dtype=x.dtype)
        # What is not positive definite, as far as rounding lets one see, has no logarithm, and is outside anyhow.
        values = torch.linalg.eigvalsh(m.detach())
        fails = (values[..., 0] <= SINGULAR * values[..., -1])[..., None, None]
        log = symmetric_function(LOG, torch.where(fails, eye, m))
        slacks = torch.stack([log - low * eye, high * eye - log], -3) / (high - low)
        return [torch.where(fails.unsqueeze(-1), -eye, slacks)]

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """Straight."""
        if self.eigenvalues is None:
            return []
        low, high = (math.log(bound) for bound in self.eigenvalues)
        slope = torch.stack([self.axes, -self.axes], 1) / (high - low)
        flat = torch.zeros(len(x), self.dim, self.dim, dtype=x.dtype)
        return [Slack(self.slacks(x)[0], slope.expand(len(x), -1, -1, -1, -1), lambda _: flat)]

    def _vector(self, m: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b m"]:
        return m.flatten(-2) @ self.axes.flatten(-2).mT

    def _symmetric_matrix(self, c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b k k"]:
        return (c @ self.axes.flatten(-2)).unflatten(-1, (self.size, self.size))


class CholeskySPD(FlatSPD):
    """SPD(n) with the metric of the Cholesky factor L, its diagonal measured in logarithms.

    Distance^2 is the sum of squared differences of L_ij below the diagonal and of log L_ii on it. It is
    unchanged by the Cholesky group's product with a fixed factor (add below the diagonals, multiply on them) and by
    changes of sign of rows and columns; the order of the rows counts, and below the diagonal the unit too.

    Source:
        Lin 2019, "Riemannian geometry of symmetric positive definite matrices via Cholesky decomposition".
    """

    def __init__(self, size: int, *, eigenvalues: tuple[float, float] | None = None) -> None:
        super().__init__(size, eigenvalues=eigenvalues)
        low, high = eigenvalues or (1 / math.e, math.e)
        # A bound: diagonals differ by half the log ratio; each row has at most this length below the diagonal, by
        # Wielandt's inequality for X_ii - 1 / (X^-1)_ii.
        row = math.sqrt(high) - math.sqrt(low)
        self.diameter = math.hypot(self.diameter / 2, 2 * math.sqrt(size - 1) * row)
        self._below = torch.tril_indices(size, size, -1)
        # (entries below the diagonal, n*n): where each of them stands in a row
        self._places = torch.eye(self.width, dtype=torch.float64)[self._below[0] * size + self._below[1]]

    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """L below the diagonal, then the logarithms on it."""
        factor = self._factor(x)
        return self._joined(factor, torch.log(torch.diagonal(factor, dim1=-2, dim2=-1)))

    def point(self, c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """L L^T."""
        below, logs = c[..., : -self.size], c[..., -self.size :]
        factor = self._lower(below, torch.exp(logs))
        return (factor @ factor.mT).flatten(-2)

    def flat(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """From dL = L (half the diagonal, and all below it, of L^-1 U L^-T)."""
        factor = self._factor(x)
        u = self._matrix(u)
        half = torch.linalg.solve_triangular(factor, 0.5 * (u + u.mT), upper=False)
        white = torch.linalg.solve_triangular(factor, half.mT, upper=False)
        step = factor @ (white.tril(-1) + 0.5 * torch.diag_embed(torch.diagonal(white, dim1=-2, dim2=-1)))
        diagonals = (torch.diagonal(each, dim1=-2, dim2=-1) for each in (step, factor))
        return self._joined(step, torch.div(*diagonals))

    def curved(self, x: Float[Tensor, "*b d"], c: Float[Tensor, "*b m"]) -> Float[Tensor, "*b d"]:
        """The derivative of L L^T."""
        factor = self._factor(x)
        diagonal = torch.diagonal(factor, dim1=-2, dim2=-1) * c[..., -self.size :]
        half = self._lower(c[..., : -self.size], diagonal) @ factor.mT
        return (half + half.mT).flatten(-2)

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """X moves to (L + B)(L + B)^T, where B is linear below the diagonal, and an exponential on it."""
        if self.eigenvalues is None:
            return []
        factor = self._factor(x)
        axes = torch.eye(self.dim, dtype=x.dtype).expand(len(x), -1, -1)
        diagonals = torch.diagonal(factor, dim1=-2, dim2=-1).unsqueeze(-2) * axes[..., -self.size :]
        steps = self._lower(axes[..., : -self.size], diagonals)  # (b, m, k, k)
        halves = steps @ factor.mT.unsqueeze(-3)

        def bend(c: Tensor) -> Tensor:
            inner = (self._shares * c).sum(-3).unsqueeze(-3)  # (b, 1, k, k)
            twice = 2 * steps.flatten(-2)
            # Only what stands on the diagonal curves.
            curved = (twice @ (inner @ factor.unsqueeze(-3)).flatten(-2).mT).squeeze(-1)
            curved = torch.cat([torch.zeros_like(curved[:, : -self.size]), curved[:, -self.size :]], -1)
            return twice @ (inner @ steps).flatten(-2).mT + torch.diag_embed(curved)

        return [Slack(self.slacks(x)[0], self._shares * (halves + halves.mT).unsqueeze(-3), bend)]

    def _factor(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k k"]:
        return torch.linalg.cholesky(self._matrix(x))

    def _joined(self, m: Float[Tensor, "*b k k"], diagonal: Float[Tensor, "*b k"]) -> Float[Tensor, "*b m"]:
        return torch.cat([m[..., self._below[0], self._below[1]], diagonal], -1)

    def _lower(self, below: Float[Tensor, "*b l"], diagonal: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k k"]:
        return (below @ self._places).unflatten(-1, (self.size, self.size)) + torch.diag_embed(diagonal)
