"""Matérn kernels of SPD(2) and SPD(3) with the affine-invariant metric."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.spd2_modes import spd2_modes
from geodrome_core.kernels.spd3_table import spd3_modes
from geodrome_core.kernels.spd_pairs import invariants
from geodrome_core.kernels.spd_profile import spd_profile


class SPDMatern(GeodesicKernel):
    """Matérn kernel of SPD(2) or SPD(3), affine invariant; points are matrices, row by row."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """A mixture of heat kernels in the invariants of X^-1 Y."""
        modes = spd2_modes() if x.shape[-1] == 4 else spd3_modes()
        return spd_profile(modes, self.nu, kappa, invariants(x, y), definition=self.definition)

    def _symmetric(self, x: Float[Tensor, "n d"], kappa: Tensor) -> Float[Tensor, "n n"]:
        """Of all pairs: what they need of each point is found once, and half of them are looked up."""
        return self.covariance(x.unsqueeze(-2), x.unsqueeze(-3), kappa)
