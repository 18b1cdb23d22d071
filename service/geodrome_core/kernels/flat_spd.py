"""Matérn kernels of SPD(n) under its flat metrics: those of R^m, in the coordinates that make the metric Euclidean."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any

from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.flat_spd import CholeskySPD, FlatSPD, LogEuclideanSPD
from geodrome_core.kernels.expansion import Expansion
from geodrome_core.kernels.isotropic import EuclideanMatern
from geodrome_core.kernels.of_scales import OfScales


class FlatSPDMatern(EuclideanMatern):
    """Matérn kernel in coordinates; points are matrices, row by row, the lengthscale is a distance of their metric."""

    @staticmethod
    @abstractmethod
    def manifold(size: int) -> FlatSPD:
        """The manifold of matrices of ``size`` rows."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, last_dim_is_batch: bool = False, **params: Any
    ) -> Tensor:
        """As ever, with the coordinates of each point found once and not for each pair."""
        first = self._coordinates(x1)
        second = first if x1 is x2 else self._coordinates(x2)
        return super().forward(first, second, diag=diag, last_dim_is_batch=last_dim_is_batch, **params)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """Of the coordinates."""
        return super().of_scales(self._coordinates(x))

    def around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """In the coordinates, along whose axes lies the basis."""
        return super().around(self._coordinates(x), self._coordinates(y))

    def _coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        return self.manifold(math.isqrt(x.shape[-1])).coordinates(x.double())


class LogEuclideanMatern(FlatSPDMatern):
    """Matérn kernel of SPD(n), log-Euclidean metric: of |log X - log Y|_F."""

    @staticmethod
    @lru_cache
    def manifold(size: int) -> FlatSPD:
        """Log-Euclidean."""
        return LogEuclideanSPD(size)


class CholeskyMatern(FlatSPDMatern):
    """Matérn kernel of SPD(n), log-Cholesky metric."""

    @staticmethod
    @lru_cache
    def manifold(size: int) -> FlatSPD:
        """Log-Cholesky."""
        return CholeskySPD(size)
