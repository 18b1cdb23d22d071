"""Matérn kernels of SPD(2) and SPD(3) with the affine-invariant metric."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.expansion import Around
from geodrome_core.kernels.heat_modes import HeatModes
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.of_scales import OfScales
from geodrome_core.kernels.spd2_modes import spd2_modes
from geodrome_core.kernels.spd3_table import spd3_modes
from geodrome_core.kernels.spd_pairs import Points, invariants, invariants_around
from geodrome_core.kernels.spd_profile import spd_around, spd_of_scales, spd_profile


class SPDMatern(GeodesicKernel):
    """Matérn kernel of SPD(2) or SPD(3), affine invariant; points are matrices, row by row."""

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """A mixture of heat kernels in the invariants of X^-1 Y."""
        return spd_profile(_modes(x.shape[-1]), nu, kappa, invariants(x, y), definition=self.definition)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """The invariants of all pairs, and the functions of their shape, are found once."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        with torch.no_grad():
            s, m, d = (part[i, j] for part in invariants(x.unsqueeze(-2), x.unsqueeze(-3)))
        return spd_of_scales(_modes(x.shape[-1]), (s, m, d), self.definition)

    def around(self, y: Float[Tensor, "n d"]) -> Around:
        """By the chain rule."""
        kappa, modes, points = self.lengthscale.detach().reshape(()), _modes(y.shape[-1]), Points.of(y)
        return lambda x: spd_around(modes, self.nu, kappa, invariants_around(x, points), definition=self.definition)

    def _symmetric(self, x: Float[Tensor, "n d"], kappa: Tensor) -> Float[Tensor, "n n"]:
        """Of all pairs: what they need of each point is found once, and half of them are looked up."""
        return self.covariance(x.unsqueeze(-2), x.unsqueeze(-3), self.nu, kappa)


def _modes(width: int) -> HeatModes:
    return spd2_modes() if width == SPD2_WIDTH else spd3_modes()


SPD2_WIDTH = 4
