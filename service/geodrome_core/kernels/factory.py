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
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.kernels.flat_spd import CholeskyMatern, LogEuclideanMatern
from geodrome_core.kernels.isotropic import (
    EuclideanMatern,
    GeodesicKernel,
    HyperbolicMatern,
    RotationMatern,
    SphereMatern,
)
from geodrome_core.kernels.mixture import SPD2Matern


def kernel_for(space: Space, *, nu: float = 2.5, lengthscale: float | Mapping[str, float] | None = None) -> Kernel:
    """Matérn kernel of a space, normalized to 1 at coincident points; on a product, the product of its factors'.

    Args:
        space: The space; its rows are the kernel's inputs.
        nu: Smoothness, from 0.1 to 200; ``math.inf`` for the SE (heat) kernel.
        lengthscale: Start value of all lengthscales, or of each by factor name; else a quarter of each diameter.

    Raises:
        ValueError: ``nu`` is out of range, a lengthscale is not positive, or belongs to no factor.
    """
    if isinstance(lengthscale, Mapping) and (strangers := set(lengthscale) - set(space.factors)):
        raise ValueError(f"lengthscales are given for {sorted(strangers)}; the factors are {list(space.factors)}")
    kernels = []
    for name, factor in space.factors.items():
        columns = space.manifold.columns[name]
        kernel = matern(factor, nu=nu, active_dims=tuple(range(columns.start, columns.stop)))
        start = lengthscale.get(name) if isinstance(lengthscale, Mapping) else lengthscale
        if start is None:
            start = factor.diameter / 4
        if not (start > 0 and math.isfinite(start)):
            raise ValueError(f"lengthscale is {start}; it must be positive")
        kernel.lengthscale = torch.tensor(start, dtype=torch.float64)
        kernels.append(kernel)
    return kernels[0] if len(kernels) == 1 else ProductKernel(*kernels)


def matern(manifold: Manifold, *, nu: float, **kwargs: Any) -> GeodesicKernel:  # noqa: PLR0911 - a case for each
    """Matérn kernel of one manifold; ``kwargs`` are GPyTorch's."""
    match manifold:
        case Euclidean():
            return EuclideanMatern(nu=nu, **kwargs)
        case Sphere():
            return SphereMatern(nu=nu, **kwargs)
        case Rotation():
            return RotationMatern(nu=nu, **kwargs)
        case SPD(size=2):
            return SPD2Matern(nu=nu, **kwargs)
        case LogEuclideanSPD():
            return LogEuclideanMatern(nu=nu, **kwargs)
        case CholeskySPD():
            return CholeskyMatern(nu=nu, **kwargs)
        case Hyperbolic():
            return HyperbolicMatern(nu=nu, **kwargs)
        case _:
            raise TypeError(f"no Matérn kernel is known for {type(manifold).__name__} of dimension {manifold.dim}")
