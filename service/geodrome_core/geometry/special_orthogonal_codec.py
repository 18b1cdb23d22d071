"""JSON points of SO(n): matrices, whatever n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from geodrome_core.geometry.codec import BallCodec, Reading, orthogonal
from geodrome_core.geometry.reading import matrix
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal


@dataclass(frozen=True)
class SpecialOrthogonalCodec(BallCodec):
    """Rotations as matrices."""

    manifold: SpecialOrthogonal

    def read(self, value: Any) -> Reading:
        """A matrix of n rows, orthogonal to three decimals."""
        row, corrections = orthogonal(self.manifold, matrix(value, self.manifold.size))
        return self._placed(self.write(row), corrections)

    def row(self, point: Any) -> Tensor:
        """The entries, row by row."""
        return torch.tensor(point, dtype=torch.float64).flatten()

    def write(self, row: Tensor) -> Any:
        """Matrix rows."""
        return row.unflatten(-1, (self.manifold.size, self.manifold.size)).tolist()
