"""What a search and a fit need of a whole kernel, from its factors' parts."""

from __future__ import annotations

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels import expansion, of_scales
from geodrome_core.kernels.kernel import GeodesicKernel


def parts_of(kernel: Kernel) -> list[GeodesicKernel]:
    """The kernels of the factors, in their order."""
    return [part for part in kernel.modules() if isinstance(part, GeodesicKernel)]


def around(kernel: Kernel, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> expansion.Expansion | None:
    """Covariances with fixed points, to second order in the coordinates of the product's basis at ``x``.

    None where a part's are known to autograd only.
    """
    found = []
    with torch.no_grad():
        for part in parts_of(kernel):
            one = part.around(*_columns(part, x, y))
            if one is None:
                return None
            found.append(one)
    return expansion.product(found)


def scaling(kernel: Kernel, x: Float[Tensor, "n d"]) -> of_scales.OfScales:
    """Covariances of all pairs of points as functions of nu and all lengthscales, part by part."""
    parts = parts_of(kernel)
    with torch.no_grad():
        each = [part.of_scales(*_columns(part, x)) for part in parts]
    return of_scales.product(each, [part.lengthscale.numel() for part in parts])


def _columns(part: GeodesicKernel, *points: Tensor) -> list[Tensor]:
    """The numbers of each point that the part looks at."""
    return [x if part.active_dims is None else x.index_select(-1, part.active_dims) for x in points]
