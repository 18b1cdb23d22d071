"""What a search and a fit need of a whole kernel, from its factors' parts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels import expansion, of_scales
from geodrome_core.kernels.kernel import GeodesicKernel


def parts_of(kernel: Kernel) -> list[GeodesicKernel]:
    """The kernels of the factors, in their order."""
    return [part for part in kernel.modules() if isinstance(part, GeodesicKernel)]


def around(kernel: Kernel, y: Float[Tensor, "n d"]) -> expansion.Around | None:
    """Covariances with the fixed points ``y``, to second order in the coordinates of the product's basis at others.

    None where a part's are known to autograd only.
    """
    found: list[tuple[GeodesicKernel, expansion.Around]] = []
    with torch.no_grad():
        for part in parts_of(kernel):
            one = part.around(*_columns(part, y))
            if one is None:
                return None
            found.append((part, one))

    def at(x: Tensor) -> expansion.Expansion:
        with torch.no_grad():
            return expansion.product([one(*_columns(part, x)) for part, one in found])

    return at


def cross(kernel: Kernel, x: Float[Tensor, "*b n d"], y: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
    """Covariances of two sets of points, without GPyTorch's wrapping; differentiable twice in both."""
    return prod_of(part.cross(*_columns(part, x, y)) for part in parts_of(kernel))


def scaling(kernel: Kernel, x: Float[Tensor, "n d"]) -> of_scales.OfScales:
    """Covariances of all pairs of points as functions of nu and all lengthscales, part by part."""
    parts = parts_of(kernel)
    with torch.no_grad():
        each = [part.of_scales(*_columns(part, x)) for part in parts]
    return of_scales.product(each, [part.lengthscale.numel() for part in parts])


def prod_of(terms: Iterable[Tensor]) -> Tensor:
    """The product of one tensor at least."""
    return reduce(torch.mul, terms)


def _columns(part: GeodesicKernel, *points: Tensor) -> list[Tensor]:
    """The numbers of each point that the part looks at."""
    return [x if part.active_dims is None else x.index_select(-1, part.active_dims) for x in points]
