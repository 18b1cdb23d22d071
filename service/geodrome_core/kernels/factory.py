"""The one door to a space's kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from gpytorch.kernels import Kernel, ProductKernel

from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.space import Space
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.geometry.torus import Torus
from geodrome_core.kernels.eigen_product import EigenProductMatern
from geodrome_core.kernels.flat_spd import CholeskyMatern, LogEuclideanMatern
from geodrome_core.kernels.isotropic import EuclideanMatern, HyperbolicMatern, RotationMatern, SphereMatern
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.matern import Definition
from geodrome_core.kernels.spd import SPDMatern
from geodrome_core.kernels.special_orthogonal import SpecialOrthogonalMatern
from geodrome_core.kernels.torus import CirclesMatern, TorusMatern


def for_space(
    space: Space,
    *,
    nu: float = 2.5,
    lengthscale: float | Mapping[str, float] | None = None,
    learn_nu: bool = False,
    ard: bool = False,
    definition: Definition = "paper",
    **kwargs: Any,
) -> Kernel:
    """Matérn kernel of a space, normalized to 1 at coincident points; on a product, the product of its factors'.

    Args:
        space: The space; its rows are the kernel's inputs.
        nu: Smoothness, from 0.1 to 200; ``math.inf`` for the SE (heat) kernel.
        lengthscale: Start value of all lengthscales, or of each by factor name; else a quarter of each diameter.
        learn_nu: Whether ``nu`` is a parameter, one for all factors, that starts at the given value.
        ard: Whether vectors of reals and angles have a lengthscale for each coordinate, and not one together. On a
            torus the kernel is then the product of the circles' kernels, and not that of the torus.
        definition: Which kernel is meant on hyperbolic spaces and SPD(n) with its affine-invariant metric.
        kwargs: Of every factor's kernel: ``batch_shape``, ``lengthscale_prior``, ``lengthscale_constraint``,
            ``nu_prior``, ``nu_constraint``.

    Raises:
        ValueError: ``nu`` is out of range, a lengthscale is not positive, or belongs to no factor.
    """
    if isinstance(lengthscale, Mapping) and (strangers := set(lengthscale) - set(space.factors)):
        raise ValueError(f"lengthscales are given for {sorted(strangers)}; the factors are {list(space.factors)}")
    kernels: list[GeodesicKernel] = []
    for name, factor in space.factors.items():
        columns = space.manifold.columns[name]
        kernel = matern(
            factor,
            nu=nu,
            learn_nu=learn_nu,
            ard_num_dims=factor.dim if ard and isinstance(factor, Euclidean | Torus) else None,
            definition=definition,
            active_dims=tuple(range(columns.start, columns.stop)),
            **kwargs,
        )
        start = lengthscale.get(name) if isinstance(lengthscale, Mapping) else lengthscale
        if start is None:
            start = factor.diameter / 4
        if not (start > 0 and math.isfinite(start)):
            raise ValueError(f"lengthscale is {start}; it must be positive")
        kernel.lengthscale = torch.full_like(kernel.lengthscale, start)
        if learn_nu and kernels:
            kernel.raw_nu = kernels[0].raw_nu
        # The first kernel's prior counts for all.
        kwargs.pop("nu_prior", None)
        kernels.append(kernel)
    return kernels[0] if len(kernels) == 1 else ProductKernel(*kernels)


def matern(manifold: Manifold, *, nu: float, **kwargs: Any) -> GeodesicKernel:  # noqa: PLR0911 - a case for each
    """Matérn kernel of one manifold; ``kwargs`` are GPyTorch's."""
    match manifold:
        case Euclidean():
            return EuclideanMatern(nu=nu, **kwargs)
        case Torus():
            return CirclesMatern(nu=nu, **kwargs) if kwargs.get("ard_num_dims") else TorusMatern(nu=nu, **kwargs)
        case Sphere():
            return SphereMatern(nu=nu, **kwargs)
        case Rotation():
            return RotationMatern(nu=nu, **kwargs)
        case SpecialOrthogonal():
            return SpecialOrthogonalMatern(nu=nu, **kwargs)
        case EigenProductSPD(size=2 | 3):
            return EigenProductMatern(
                nu=nu, **{name: value for name, value in kwargs.items() if name != "ard_num_dims"}
            )
        case SPD(size=2 | 3):
            return SPDMatern(nu=nu, **kwargs)
        case LogEuclideanSPD():
            return LogEuclideanMatern(nu=nu, **kwargs)
        case CholeskySPD():
            return CholeskyMatern(nu=nu, **kwargs)
        case Hyperbolic():
            return HyperbolicMatern(nu=nu, **kwargs)
        case _:
            raise TypeError(f"no Matérn kernel is known for {type(manifold).__name__} of dimension {manifold.dim}")
