"""The one door to a kernel's features."""

from __future__ import annotations

import torch
from gpytorch.kernels import Kernel, ProductKernel
from torch import Tensor

from geodrome_core.features.affine import MinorLaw
from geodrome_core.features.compact import CompactLaw, level_list, missing_share
from geodrome_core.features.feature_map import Drawn, Features, Kept
from geodrome_core.features.flat import PlaneLaw
from geodrome_core.features.hyperbolic import HorocyclicLaw
from geodrome_core.features.lattice import MOST_JOINTS, lattice_shares
from geodrome_core.features.levels import Levels, angle_levels, rotation_levels, sphere_levels
from geodrome_core.features.representations import representation_levels
from geodrome_core.features.torus import LatticeLaw
from geodrome_core.features.waves import WaveLaw, even_points
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import FlatSPD
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.space import Space
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.geometry.torus import Torus
from geodrome_core.kernels.factory import matern
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.torus import TorusMatern

NEGLIGIBLE = 1e-14
"""Shares of the variance below this, which is rounding, are not worth a feature."""


def features_for(space: Space, kernel: Kernel, *, count: int, generator: torch.Generator) -> Features:
    """Features of a kernel that ``for_space`` has made, at its hyperparameters as they are now.

    On spheres, rotations, tori of at most three joints and their products, whole levels are kept while that lessens the
    error, and random zonal functions stand for the others. With any other factor, all are products of random waves.

    Args:
        space: The space.
        kernel: Its kernel, with one set of hyperparameters; a scale is the caller's.
        count: Features, at least 2: an upper bound, since waves come as cosine and sine.
        generator: For all that is random.

    Raises:
        ValueError: ``count`` is too small, or the kernel has a batch of hyperparameters.
        TypeError: The kernel is none of the space, or has no features.
    """
    if count < 2:
        raise ValueError(f"count is {count}; it must be at least 2")
    compact: list[tuple[Levels, slice]] = []
    shares: list[Tensor] = []
    laws: list[tuple[WaveLaw, slice]] = []
    kernels = list(kernel.kernels) if isinstance(kernel, ProductKernel) else [kernel]
    for (name, factor), part in zip(space.factors.items(), kernels, strict=True):
        columns = space.manifold.columns[name]
        _check(factor, part)
        levels = _levels(factor)
        if levels is not None:
            compact.append((levels, columns))
            shares.append(levels.shares(part.nu.item(), part.lengthscale.item()))
        elif isinstance(factor, Torus) and factor.dim <= MOST_JOINTS:
            joints = range(columns.start, columns.stop)
            compact += [(angle_levels(), slice(joint, joint + 1)) for joint in joints]
            shares += _torus_shares(factor, part)
        else:
            laws.append((_law(factor, part), columns))
    if not compact:
        return Features(None, _drawn(laws, count // 2, 2, generator), 0.0)
    listed = level_list(compact, shares)
    whole = slice(0, space.manifold.width)
    if laws:
        draws = count // 2
        law = CompactLaw(listed, listed.head(listed.fitting(draws), generator))
        return Features(None, _drawn([(law, whole), *laws], draws, 2, generator), missing_share(listed))
    kept = listed.best_split(count)
    head = listed.head(kept, generator)
    scale = torch.sqrt(listed.shares[head.owner])
    exact = Kept(head, scale) if head.count else None
    rest = float(listed.shares[kept:].sum())
    if head.count == count or rest < NEGLIGIBLE:
        return Features(exact, None, missing_share(listed) + rest)
    law = CompactLaw(listed, listed.head(0, generator), first=kept)
    return Features(exact, _drawn([(law, whole)], count - head.count, 1, generator), missing_share(listed))


def _drawn(laws: list[tuple[WaveLaw, slice]], draws: int, width: int, generator: torch.Generator) -> Drawn:
    """Waves of all laws, from points that are even in all their coordinates together."""
    sizes = [law.coordinates for law, _ in laws]
    points = even_points(draws, sum(sizes), generator).split(sizes, -1)
    parts = [(law.draw(part, generator), columns) for (law, columns), part in zip(laws, points, strict=True)]
    return Drawn(parts, draws, width)


def _check(manifold: Manifold, kernel: Kernel) -> None:
    expected = matern(manifold, nu=2.5, ard_num_dims=kernel.ard_num_dims)
    if not isinstance(kernel, GeodesicKernel) or type(kernel) is not type(expected):
        raise TypeError(f"{type(kernel).__name__} is not the Matérn kernel of {type(manifold).__name__}")
    if kernel.batch_shape.numel() != 1:
        raise ValueError(f"the kernel has hyperparameters of shape {tuple(kernel.batch_shape)}; there must be one set")


def _torus_shares(manifold: Torus, kernel: GeodesicKernel) -> list[Tensor]:
    """Of the torus's own kernel, for all joints together; of the product of circles, for each joint."""
    nu, kappa = kernel.nu.item(), kernel.lengthscale.detach().flatten().tolist()
    if isinstance(kernel, TorusMatern):
        return [lattice_shares(manifold.dim, nu, kappa[0])]
    scales = kappa if len(kappa) > 1 else manifold.dim * kappa
    return [angle_levels().shares(nu, scale) for scale in scales]


def _levels(manifold: Manifold) -> Levels | None:
    """Levels of a compact manifold whose zonal functions are known."""
    match manifold:
        case Sphere():
            return sphere_levels(manifold.dim)
        case Rotation():
            return rotation_levels()
        case SpecialOrthogonal(size=2):
            return rotation_levels(2)
        case SpecialOrthogonal(size=size):
            return representation_levels(size)
        case _:
            return None


def _law(manifold: Manifold, kernel: GeodesicKernel) -> WaveLaw:
    """Waves of a manifold that has no list of levels."""
    nu, kappa = kernel.nu.item(), kernel.lengthscale.detach().flatten()
    match manifold:
        case Euclidean():
            return PlaneLaw(manifold.dim, nu=nu, kappa=kappa, coordinates=_rows)
        case Torus():
            return LatticeLaw(manifold.dim, nu=nu, kappa=kappa)
        case FlatSPD():
            return PlaneLaw(manifold.dim, nu=nu, kappa=kappa, coordinates=manifold.coordinates)
        case Hyperbolic():
            return HorocyclicLaw(manifold.dim, nu=nu, kappa=kappa.item(), definition=kernel.definition)
        case SPD() if not isinstance(manifold, EigenProductSPD):
            return MinorLaw(manifold.size, nu=nu, kappa=kappa.item(), definition=kernel.definition)
        case _:
            raise TypeError(f"no features are known for {type(manifold).__name__} of dimension {manifold.dim}")


def _rows(x: Tensor) -> Tensor:
    return x
