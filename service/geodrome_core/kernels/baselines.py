"""Kernels to compare with: the squared exponential of the geodesic distance, and the ambient Matérn kernel.

The third, of eigenvalues and eigenvectors, is in ``eigen_product``.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel, ProductKernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import Space
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.kernels.eigen_product import EigenProductMatern
from geodrome_core.kernels.isotropic import EuclideanMatern
from geodrome_core.kernels.kernel import GeodesicKernel


class GeodesicSE(GeodesicKernel):
    """exp(-beta d^2) with the geodesic distance d: no positive definite function, unless the lengthscale is short.

    The lengthscale kappa, beta = 1 / (2 kappa^2), is kept below that of ``least_beta``, where Gram matrices of random
    points were found to be positive definite. That is an observation, not a proof.

    Args:
        manifold: A sphere or SPD(n) with its affine-invariant metric.
        kwargs: GPyTorch's, without ``lengthscale_constraint``.

    Source:
        Jaquier, Rozo, Calinon, Bürger 2019, "Bayesian optimization meets Riemannian manifolds in robot learning".
    """

    def __init__(self, manifold: Manifold, **kwargs: Any) -> None:
        beta = least_beta(manifold)
        # Where the authors' code starts: softplus(0) = log 2 above the bound.
        start = 1 / math.sqrt(2 * (beta + math.log(2)))
        longest = 1 / math.sqrt(2 * beta)
        super().__init__(nu=math.inf, lengthscale_constraint=Interval(0.0, longest, initial_value=start), **kwargs)
        self.manifold = manifold

    @property
    def beta(self) -> Tensor:
        """Factor of the squared distance."""
        return 0.5 / self.lengthscale**2

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Of the squared length of the logarithm, which unlike the distance is smooth where points coincide."""
        del nu
        x, y = torch.broadcast_tensors(x, y)
        u = self.manifold.log(x, y)
        return torch.exp(-self.manifold.inner(x, u, u) / (2 * kappa**2))


def least_beta(manifold: Manifold) -> float:
    """The least beta at which exp(-beta d^2) was found to be positive definite.

    Raises:
        ValueError: It is known for no such manifold.
    """
    match manifold:
        case Sphere(dim=dim) if 2 <= dim <= SPHERE_BETA[-1][0]:
            return next(beta for largest, beta in SPHERE_BETA if dim <= largest)
        case SPD(size=size) if size in SPD_BETA:
            return SPD_BETA[size]
    raise ValueError(f"no least beta is known for {type(manifold).__name__} of dimension {manifold.dim}")


def baseline_for(
    space: Space, kind: Literal["geodesic_se", "euclidean_matern", "eigen_product"], *, nu: float = 2.5
) -> Kernel:
    """The kernel to compare with; on a product, the product of its factors'.

    Args:
        space: The space; its rows are the kernel's inputs.
        kind: ``geodesic_se``, or ``euclidean_matern``: the Matérn kernel of R^d on the rows as they are. Rows of
            symmetric matrices are as far apart as their Mandel vectors; rotations are matrices, not quaternions. Or
            ``eigen_product``, for SPD(2) and SPD(3): see ``EigenProductMatern``.
        nu: Smoothness of ``euclidean_matern`` and ``eigen_product``.

    Raises:
        ValueError: A factor is no sphere and no SPD(n) for which ``geodesic_se`` has a bound; or, for
            ``eigen_product``, is not SPD(2) or SPD(3) with its affine-invariant metric.
    """
    kernels: list[GeodesicKernel] = []
    for name, factor in space.factors.items():
        columns = space.manifold.columns[name]
        active = tuple(range(columns.start, columns.stop))
        if kind == "geodesic_se":
            kernels.append(GeodesicSE(factor, active_dims=active))
        elif kind == "eigen_product":
            if not isinstance(factor, SPD) or factor.size not in EIGEN_PRODUCT_SIZES:
                raise ValueError(f"eigen_product is for SPD(2) and SPD(3), not for {type(factor).__name__}")
            kernels.append(EigenProductMatern(nu=nu, active_dims=active))
        else:
            kernels.append(EuclideanMatern(nu=nu, active_dims=active))
    return kernels[0] if len(kernels) == 1 else ProductKernel(*kernels)


EIGEN_PRODUCT_SIZES = (2, 3)

SPHERE_BETA = ((2, 6.5), (3, 2.0), (4, 1.2), (5, 1.0), (10, 0.6), (15, 0.42), (50, 0.35), (160, 0.21))
"""Up to which dimension of the sphere which least beta holds."""

SPD_BETA = {2: 0.6, 3: 0.5, 5: 0.25, 7: 0.22, 10: 0.2, 12: 0.16}
"""By the rows of the matrices."""
