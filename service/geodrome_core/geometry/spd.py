"""Symmetric positive definite matrices under the affine-invariant metric."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.matrix_functions import EXP, LOG, ROOT, symmetric_function
from geodrome_core.geometry.slack import Slack
from geodrome_core.geometry.spd_domain import EigenvalueBox


class SPD(EigenvalueBox):
    """SPD(n), n*n numbers row by row, with <U, V> = trace(X^-1 U X^-1 V).

    The distance is the root of the sum of the squared logarithms of the eigenvalues of X^-1 Y; it does not change when
    both points become A X A^T.

    Args:
        size: n, rows of the matrices.
        eigenvalues: Lowest and highest eigenvalue of the domain; None for no bounds.

    Source:
        Pennec, Fillard, Ayache 2006, "A Riemannian framework for tensor computing".
    """

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Trace of X^-1 U X^-1 V."""
        factor = self._factor(x)
        return (self._whiten(factor, u) * self._whiten(factor, v)).sum((-1, -2))

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """L expm(L^-1 U L^-T) L^T with X = L L^T."""
        # Not torch.linalg.matrix_exp: of a single matrix of norm 0.05 it knows 10 digits only (torch 2.13).
        factor = self._factor(x)
        return self._color(factor, symmetric_function(EXP, self._whiten(factor, u)))

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """L logm(L^-1 Y L^-T) L^T with X = L L^T."""
        factor = self._factor(x)
        return self._color(factor, symmetric_function(LOG, self._whiten(factor, y)))

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Root of the sum of squared log-eigenvalues of X^-1 Y."""
        # As a norm of the whole logarithm: eigenvalues alone have infinite second derivatives where they are equal.
        return torch.linalg.matrix_norm(symmetric_function(LOG, self._whiten(self._factor(x), y)))

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """X + U + U X^-1 U / 2 = L (I + S + S^2/2) L^T: second order, and always positive definite."""
        factor = self._factor(x)
        s = self._whiten(factor, u)
        return self._color(factor, torch.eye(self.size, dtype=x.dtype) + s + 0.5 * s @ s)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """E U E^T with E = (Y X^-1)^(1/2)."""
        factor = self._factor(x)
        root = symmetric_function(ROOT, self._whiten(factor, y))
        return self._color(factor, root @ self._whiten(factor, u) @ root)

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """L E_k L^T for the orthonormal symmetric matrices E_k."""
        factor = self._factor(x).unsqueeze(-3)
        return self._color(factor, self.axes.expand(*x.shape[:-1], -1, -1, -1))

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """X moves to L (I + S + S^2 / 2) L^T."""
        if self.eigenvalues is None:
            return []
        factor = self._factor(x)
        tangents = self._matrix(self.basis(x))
        products = torch.einsum("kij,ljh->klih", self.axes, self.axes)
        halves = (0.5 * (products + products.transpose(0, 1))).flatten(-2)

        def bend(c: Tensor) -> Tensor:
            inner = factor.mT @ (self._shares * c).sum(-3) @ factor
            return (halves @ inner.flatten(-2).mT).movedim(-1, 0)

        return [Slack(self.slacks(x)[0], self._shares * tangents.unsqueeze(-3), bend)]

    def _factor(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k k"]:
        return torch.linalg.cholesky(self._matrix(x))

    def _whiten(self, factor: Float[Tensor, "*#b k k"], u: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b k k"]:
        """L^-1 U L^-T, symmetric."""
        half = torch.linalg.solve_triangular(factor, self._matrix(u), upper=False)
        full = torch.linalg.solve_triangular(factor, half.mT, upper=False)
        return 0.5 * (full + full.mT)

    @staticmethod
    def _color(factor: Float[Tensor, "*#b k k"], s: Float[Tensor, "*#b k k"]) -> Float[Tensor, "*#b d"]:
        """L S L^T as a row, symmetric."""
        full = factor @ s @ factor.mT
        return (0.5 * (full + full.mT)).flatten(-2)


class EigenProductSPD(SPD):
    """The same manifold; costs are modelled by eigenvalues and eigenvectors apart, see ``EigenProductMatern``."""
