"""Matérn kernels of SPD(n) under its flat metrics: those of R^m, in the coordinates that make the metric Euclidean."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any

from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.flat_spd import CholeskySPD, FlatSPD, LogEuclideanSPD
from geodrome_core.kernels.expansion import Around
from geodrome_core.kernels.isotropic import EuclideanMatern
from geodrome_core.kernels.of_scales import OfScales


class MaternOfCoordinates(EuclideanMatern):
    """Matérn kernel of R^m, of coordinates that are functions of a point."""

    @abstractmethod
    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """The coordinates of points."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, last_dim_is_batch: bool = False, **params: Any
    ) -> Tensor:
        """As ever, with the coordinates of each point found once and not for each pair."""
        first = self.coordinates(x1)
        second = first if x1 is x2 else self.coordinates(x2)
        return super().forward(first, second, diag=diag, last_dim_is_batch=last_dim_is_batch, **params)

    def cross(self, x: Float[Tensor, "*b n d"], y: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
        """Of the coordinates."""
        return super().cross(self.coordinates(x), self.coordinates(y))

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """Of the coordinates."""
        return super().of_scales(self.coordinates(x))

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """Unknown: the coordinates' axes need not be those of the basis."""
        del y
        return None


class FlatSPDMatern(MaternOfCoordinates):
    """Matérn kernel in coordinates; points are matrices, row by row, the lengthscale is a distance of their metric."""

    @staticmethod
    @abstractmethod
    def manifold(size: int) -> FlatSPD:
        """The manifold of matrices of ``size`` rows."""

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """In the coordinates, along whose axes lies the basis."""
        of_coordinates = EuclideanMatern.around(self, self.coordinates(y))
        return None if of_coordinates is None else lambda x: of_coordinates(self.coordinates(x))

    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """Those of the manifold."""
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
