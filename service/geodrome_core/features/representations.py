"""Levels of SO(n), n >= 4: one irreducible representation each, or two that differ by a reflection.

A representation has the numbers l_1 > … > l_k, k = n // 2, whole for even n and halves of odd numbers for odd n. For
even n the last may be negative, and the two signs are one level here. Its zonal function is the character

    det[f_(l_i)(c_j)] / det[c_j^(i-1)]   over its value at the identity,

with the f_l and c_j of ``special_orthogonal_heat``; the dimension is the product over i < j of
(l_i^2 - l_j^2) / (rho_i^2 - rho_j^2), times that of the l_i / rho_i for odd n.

Source:
    Bröcker and tom Dieck 1985, "Representations of compact Lie groups", chapter VI.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from itertools import combinations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.features.levels import LEVELS, Levels, spectral_shares
from geodrome_core.geometry.special_orthogonal import haar
from geodrome_core.kernels.matern import LOG_LAST, steps_per_octave, weights
from geodrome_core.kernels.rotation_invariants import differentiable_invariants
from geodrome_core.kernels.special_orthogonal import group_grid
from geodrome_core.kernels.special_orthogonal_heat import characters
from geodrome_core.kernels.symmetric import determinant

LARGEST_NUMBER = {2: 37, 3: 19, 4: 16}
"""l_1 by k: the ball of this radius holds the first 512 levels."""

SAMPLES = 4096
"""Rotations over which fourth moments are averaged; they only decide how features are divided."""


class RepresentationLevels(Levels):
    """SO(n): D = d^2 matrix elements of a representation of dimension d, or of two.

    Args:
        size: n, from 4 to 9.
    """

    def __init__(self, size: int) -> None:
        self._size, self._group = size, characters(size)
        self._dim = size * (size - 1) // 2
        self.normals = size * size
        planes, half = size // 2, 0.5 if size % 2 else 0.0
        largest = LARGEST_NUMBER[planes]
        numbers = torch.tensor(list(combinations(range(largest, -1, -1), planes)))
        squares = (numbers + half) ** 2
        eigenvalue = squares.sum(-1)
        # Beyond this radius, some of the representations are not in the list.
        eigenvalue = torch.where(eigenvalue <= (largest + half) ** 2, eigenvalue, math.inf)
        order = torch.argsort(eigenvalue, stable=True)[:LEVELS]
        self._numbers, squares = numbers[order], squares[order].double()
        self.eigenvalues = eigenvalue[order].double() - squares[0].sum()
        dimension = torch.ones(LEVELS, dtype=torch.float64)
        for i, j in combinations(range(planes), 2):
            dimension *= (squares[:, i] - squares[:, j]) / (squares[0, i] - squares[0, j])
        if half:
            dimension *= torch.sqrt(squares / squares[0]).prod(-1)
        copies = torch.where(squares[:, -1] > 0, 2.0, 1.0) if not half else 1.0
        self.multiplicities = copies * torch.round(dimension) ** 2

    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """Characters of centre^T x, normalized."""
        e = torch.stack(differentiable_invariants(x.unsqueeze(-2), centres))
        return self._normalized(e, level)

    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """The orthogonal factor of a normal matrix."""
        return haar(normal.unflatten(-1, (self._size, self._size))).flatten(-2)

    def shares(self, nu: float, kappa: float) -> Float[Tensor, " l"]:
        """By the heat kernel where points coincide, as for all compact spaces."""
        if math.isinf(nu):
            u = torch.tensor([kappa**2 / 2, math.exp(LOG_LAST)], dtype=torch.float64)
            weight = torch.ones(1, dtype=torch.float64)
        else:
            on = group_grid(self._size, steps_per_octave(nu + self._dim / 2))
            u, weight = torch.exp(on.log_u[on.visible]), weights(on, nu, kappa)[0]
        return spectral_shares(self, self._dim, nu, kappa, log_peak=self._group.log_peak(u), weight=weight)

    @cached_property
    def fourth_moments(self) -> Float[Tensor, " l"]:
        """Means over random rotations."""
        normal = torch.randn(SAMPLES, self.normals, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        identity = torch.eye(self._size, dtype=torch.float64).flatten()
        e = torch.stack(differentiable_invariants(self.point(normal).unsqueeze(-2), identity))
        everywhere = [self._normalized(e, torch.tensor([level])) for level in range(LEVELS)]
        return self.multiplicities**2 * (torch.cat(everywhere, -1) ** 4).mean(0).clamp_min(0)

    def _normalized(self, e: Float[Tensor, "h *b k"], level: Int[Tensor, " k"]) -> Float[Tensor, "*b k"]:
        """Characters at elementary symmetric polynomials of the c_j, over those at the identity."""
        count = int(self._numbers[level].max()) + 1
        return self._characters(self._group.basis(e, count), level) / self._at_identity[level]

    def _characters(self, basis: Float[Tensor, "l h *b k"], level: Int[Tensor, " k"]) -> Float[Tensor, "*b k"]:
        columns = basis.movedim(-1, 1)  # the levels' columns, which are chosen together with their numbers
        place = torch.arange(len(level)) if columns.shape[1] > 1 else torch.zeros(len(level), dtype=torch.int64)
        rows = [columns[numbers, place].movedim(0, -1) for numbers in self._numbers[level].unbind(-1)]
        return determinant([row.unbind(0) for row in rows])

    @cached_property
    def _at_identity(self) -> Float[Tensor, " l"]:
        origin = torch.zeros(self._size // 2, LEVELS, dtype=torch.float64)
        basis = self._group.basis(origin, int(self._numbers.max()) + 1)
        return self._characters(basis, torch.arange(LEVELS))


@lru_cache
def representation_levels(size: int) -> RepresentationLevels:
    """Levels of SO(size)."""
    return RepresentationLevels(size)
