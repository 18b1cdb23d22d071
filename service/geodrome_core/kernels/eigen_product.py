"""A kernel of SPD(2) and SPD(3) by eigenvalues and eigenvectors, as a baseline: cheap to write down, and not smooth.

X = U diag(exp a) U^T is taken for the pair (a, U) in R^n x SO(n). Reordering the eigenvalues and turning eigenvectors
round gives other pairs of the same matrix; they differ by the group G of signed permutations of determinant 1, which
has 4 elements for n = 2 and 24 for n = 3. The kernel is the mean over G, normalized:

    K(X, Y) = sum over g in G of k_R(a, g b) k_SO(U, V g^-1),    k(X, Y) = K(X, Y) / sqrt(K(X, X) K(Y, Y)).

Source:
    Jaquier, Rozo, Calinon, Bürger 2019, for the product of eigenvalues and eigenvectors.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.heat import JacobiHeat, flat_heat, rotation_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.profile import profile


class EigenProductMatern(GeodesicKernel):
    """Product of the Matérn kernels of log-eigenvalues and of eigenvectors, one for all their orders and signs.

    Where two eigenvalues are equal, eigenvectors are arbitrary: the kernel jumps there and has no gradient, which
    autograd reports as NaN.

    Args:
        nu: Smoothness of both factors.
        kwargs: GPyTorch's, without ``ard_num_dims``: there are two lengthscales, that of the log-eigenvalues (the
            distance of commuting matrices) and that of the eigenvectors (an angle in radians).
    """

    def __init__(self, *, nu: float = 2.5, **kwargs: Any) -> None:
        super().__init__(nu=nu, ard_num_dims=2, **kwargs)
        # Two lengthscales, but not one for each number of a row, as GPyTorch would have it.
        self.ard_num_dims = None

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """The mean over signed permutations."""
        first, second = _eigen(x), _eigen(y)
        mean = self._mean(first, second, nu, kappa)
        return mean / torch.sqrt(self._mean(first, first, nu, kappa) * self._mean(second, second, nu, kappa))

    @staticmethod
    def _mean(
        first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        (a, u), (b, v) = first, second
        one = torch.ones((), dtype=torch.float64)
        turned = u.mT @ v
        heat = _eigenvector_heat(a.shape[-1])
        total = torch.zeros(turned.shape[:-2], dtype=torch.float64)
        for g in signed_permutations(a.shape[-1]):
            # |U - V g^-1|_F^2 / 4 is 1 - cos of the angle, for n = 2 and 3.
            angles = 0.25 * ((torch.eye(len(g), dtype=torch.float64) - turned @ g.mT) ** 2).sum((-1, -2))
            distances = ((a - b @ (g**2).mT) ** 2).sum(-1) / (2 * kappa[0] ** 2)
            total = total + profile(flat_heat(), nu, one, distances) * profile(heat, nu, kappa[1], angles)
        return total


@lru_cache
def signed_permutations(size: int) -> Float[Tensor, "g k k"]:
    """Those of determinant 1."""
    found = [
        torch.diag(torch.tensor(signs, dtype=torch.float64))[list(order)]
        for order in permutations(range(size))
        for signs in product((1.0, -1.0), repeat=size)
    ]
    return torch.stack([matrix for matrix in found if float(torch.linalg.det(matrix)) > 0])


def _eigen(x: Float[Tensor, "*b d"]) -> tuple[Float[Tensor, "*b n"], Float[Tensor, "*b n n"]]:
    """Log-eigenvalues, and a rotation whose columns are the eigenvectors."""
    size = math.isqrt(x.shape[-1])
    matrix = x.unflatten(-1, (size, size))
    values, vectors = torch.linalg.eigh(0.5 * (matrix + matrix.mT))
    sign = torch.where(torch.linalg.det(vectors.detach()) < 0, -1.0, 1.0)
    last = torch.arange(size) == size - 1
    return torch.log(values), vectors * torch.where(last, sign.unsqueeze(-1), 1.0).unsqueeze(-2)


def _eigenvector_heat(size: int) -> JacobiHeat:
    return sphere_heat(1) if size == 2 else rotation_heat()
