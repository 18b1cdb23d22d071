"""Kernels to compare with: of the geodesic distance, of the numbers of a point, of Cholesky factors, of flat charts.

One more, of eigenvalues and eigenvectors, is in ``eigen_product``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, assert_never

import torch
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel, ProductKernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.hyperbolic import Hyperbolic, to_poincare
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import Space
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.spd_domain import EigenvalueBox
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.kernels.eigen_product import EigenProductMatern
from geodrome_core.kernels.expansion import Around
from geodrome_core.kernels.factory import matern
from geodrome_core.kernels.flat_spd import CholeskyMatern, LogEuclideanMatern, MaternOfCoordinates
from geodrome_core.kernels.isotropic import EuclideanMatern
from geodrome_core.kernels.kernel import GeodesicKernel

Baseline = Literal["flat_matern", "geodesic_se", "euclidean_matern", "cholesky_matern", "eigen_product"]
"""Their names."""


class GeodesicSE(GeodesicKernel):
    """exp(-beta d^2) with the geodesic distance d: no positive definite function, unless the lengthscale is short.

    The lengthscale kappa, beta = 1 / (2 kappa^2), is kept below that of ``least_beta``, where Gram matrices of random
    points were found to be positive definite. That is an observation, not a proof. Where nobody has looked, it may be
    any, and a Gram matrix may have no Cholesky factor.

    Args:
        manifold: The manifold.
        kwargs: GPyTorch's, without ``lengthscale_constraint``.

    Source:
        Jaquier, Rozo, Calinon, Bürger 2019, "Bayesian optimization meets Riemannian manifolds in robot learning".
    """

    def __init__(self, manifold: Manifold, **kwargs: Any) -> None:
        beta = least_beta(manifold)
        if beta is None:
            super().__init__(nu=math.inf, **kwargs)
        else:
            # Where the authors' code starts: softplus(0) = log 2 above the bound.
            start = 1 / math.sqrt(2 * (beta + math.log(2)))
            longest = 1 / math.sqrt(2 * beta)
            super().__init__(nu=math.inf, lengthscale_constraint=Interval(0.0, longest, initial_value=start), **kwargs)
            self.longest = longest
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


def least_beta(manifold: Manifold) -> float | None:
    """The least beta at which exp(-beta d^2) was found to be positive definite; None where nobody has looked."""
    match manifold:
        case Sphere(dim=dim) if 2 <= dim <= SPHERE_BETA[-1][0]:
            return next(beta for largest, beta in SPHERE_BETA if dim <= largest)
        case SPD(size=size) if size in SPD_BETA:
            return SPD_BETA[size]
        case _:
            return None


class AmbientMatern(MaternOfCoordinates):
    """The Matérn kernel of R^d on the numbers of a row as they are.

    Args:
        unit: What they are measured in.
        kwargs: As of every kernel.
    """

    def __init__(self, *, unit: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unit = unit

    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The numbers."""
        return x.double() / self.unit


class PoincareMatern(AmbientMatern):
    """The same on the numbers of Poincaré's ball; rows are points of the hyperboloid.

    The numbers of the hyperboloid grow as exp(d) with the distance d from its origin, and no flat kernel fits them.
    """

    def coordinates(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """The numbers in the ball."""
        return super().coordinates(to_poincare(x.double()))


class AmbientCholesky(CholeskyMatern):
    """The Matérn kernel of Cholesky factors, on SPD(n) of any metric."""

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """Unknown: the basis is that of the other metric."""
        del y
        return None


class AmbientLogarithm(LogEuclideanMatern):
    """The Matérn kernel of logarithms, on SPD(n) with its affine-invariant metric."""

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """Unknown: the basis is that of the other metric."""
        del y
        return None


def ambient_unit(manifold: Manifold) -> float:
    """How much longer chords are than geodesics, at most: with it, lengthscales are about as long as ever."""
    match manifold:
        case EigenvalueBox(eigenvalues=(low, high)):
            return (high - low) * math.sqrt(manifold.size) / manifold.diameter
        case Hyperbolic(radius=float(radius)):
            return math.tanh(radius / 2) / radius
        case _:
            return 1.0


def baseline_for(space: Space, kind: Baseline, *, nu: float = 2.5, **kwargs: Any) -> Kernel:
    """The kernel to compare with; on a product, the product of its factors'.

    Args:
        space: The space; its rows are the kernel's inputs.
        kind: ``geodesic_se``, or ``euclidean_matern``: the Matérn kernel of R^d on the rows as they are. Rows of
            symmetric matrices are as far apart as their Mandel vectors; rotations are matrices, not quaternions;
            hyperbolic points are those of Poincaré's ball, whichever model the space has. Or
            ``cholesky_matern``: that of the Cholesky factors of SPD(n), and other factors' own kernels. Or
            ``flat_matern``: that of a flat chart of the factors that are curved without an end, which is Poincaré's
            ball for hyperbolic points, and the logarithm for SPD(n) with its affine-invariant metric; other factors
            have their own kernels. Or ``eigen_product``, for SPD(2) and SPD(3): see ``EigenProductMatern``.
        nu: Smoothness of all but ``geodesic_se``.
        kwargs: Of every factor's kernel, such as ``learn_nu``.

    Raises:
        ValueError: No factor is SPD(n), for ``cholesky_matern``; or none is hyperbolic or SPD(n) with its
            affine-invariant metric, for ``flat_matern``; or one is not SPD(2) or SPD(3) with that metric, for
            ``eigen_product``.
    """
    if kind == "flat_matern" and not any(map(has_flat_chart, space.factors.values())):
        raise ValueError("flat_matern is for hyperbolic points and affine-invariant matrices, and there are none")
    if kind == "cholesky_matern" and not any(isinstance(factor, EigenvalueBox) for factor in space.factors.values()):
        raise ValueError("cholesky_matern is for spaces with positive definite matrices, and there are none")
    kernels: list[GeodesicKernel] = []
    for name, factor in space.factors.items():
        columns = space.manifold.columns[name]
        active = tuple(range(columns.start, columns.stop))
        kernels.append(_baseline(factor, kind, nu=nu, active_dims=active, **kwargs))
        if kernels[0].learns_nu:
            kernels[-1].raw_nu = kernels[0].raw_nu
    return kernels[0] if len(kernels) == 1 else ProductKernel(*kernels)


def has_flat_chart(factor: Manifold) -> bool:
    """Whether ``flat_matern`` is another kernel than the factor's own."""
    return isinstance(factor, Hyperbolic) or (isinstance(factor, SPD) and not isinstance(factor, EigenProductSPD))


def _baseline(factor: Manifold, kind: Baseline, *, nu: float, **kwargs: Any) -> GeodesicKernel:
    """The kernel of one factor."""
    match kind:
        case "flat_matern":
            return _of_flat_chart(factor, nu=nu, **kwargs)
        case "geodesic_se":
            return GeodesicSE(factor, **kwargs)
        case "eigen_product":
            if not isinstance(factor, SPD) or factor.size not in EIGEN_PRODUCT_SIZES:
                raise ValueError(f"eigen_product is for SPD(2) and SPD(3), not for {type(factor).__name__}")
            return EigenProductMatern(nu=nu, **kwargs)
        case "cholesky_matern":
            kernel = AmbientCholesky if isinstance(factor, EigenvalueBox) else partial(matern, factor)
            return kernel(nu=nu, **kwargs)
        case "euclidean_matern":
            return _of_numbers(factor, nu=nu, **kwargs)
        case _:
            assert_never(kind)


def _of_flat_chart(factor: Manifold, **kwargs: Any) -> GeodesicKernel:
    if not has_flat_chart(factor):
        return matern(factor, **kwargs)
    return _of_numbers(factor, **kwargs) if isinstance(factor, Hyperbolic) else AmbientLogarithm(**kwargs)


def _of_numbers(factor: Manifold, **kwargs: Any) -> GeodesicKernel:
    if isinstance(factor, Euclidean):
        return EuclideanMatern(**kwargs)
    of_numbers = PoincareMatern if isinstance(factor, Hyperbolic) else AmbientMatern
    return of_numbers(unit=ambient_unit(factor), **kwargs)


EIGEN_PRODUCT_SIZES = (2, 3)

SPHERE_BETA = ((2, 6.5), (3, 2.0), (4, 1.2), (5, 1.0), (10, 0.6), (15, 0.42), (50, 0.35), (160, 0.21))
"""Up to which dimension of the sphere which least beta holds."""

SPD_BETA = {2: 0.6, 3: 0.5, 5: 0.25, 7: 0.22, 10: 0.2, 12: 0.16}
"""By the rows of the matrices."""
