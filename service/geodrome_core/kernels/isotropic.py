"""Kernels that depend on one variable: flat spaces, spheres, rotations, hyperbolic spaces."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.hyperbolic import excess, lifted
from geodrome_core.kernels.derivatives import carried
from geodrome_core.kernels.heat import flat_heat, hyperbolic_heat, rotation_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.pairs import inner_product, squared_distance
from geodrome_core.kernels.profile import profile


class EuclideanMatern(GeodesicKernel):
    """Matérn kernel of R^n; with ``ard_num_dims`` a lengthscale for each coordinate."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of w = |x - y|^2 / (2 kappa^2), with one table for all lengthscales."""
        w = squared_distance(x / kappa, y / kappa) / 2 if kappa.dim() else squared_distance(x, y) / (2 * kappa**2)
        return profile(flat_heat(), self.nu, torch.ones((), dtype=torch.float64), w)


class SphereMatern(GeodesicKernel):
    """Matérn kernel of the sphere S^m, spectrum (2 nu / kappa^2 + l (l + m - 1))^(-nu - m/2)."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of w = 1 - cos = |x - y|^2 / 2: differences keep the digits that 1 - <x, y> loses."""
        w = 0.5 * squared_distance(x, y)
        return profile(sphere_heat(x.shape[-1] - 1), self.nu, kappa, w)


class RotationMatern(GeodesicKernel):
    """Matérn kernel of SO(3), spectrum (2 nu / kappa^2 + l (l + 1))^(-nu - 3/2); points are matrices, row by row."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of w = 1 - cos(rotation angle) = |X - Y|_F^2 / 4."""
        w = 0.25 * squared_distance(x, y)
        return profile(rotation_heat(), self.nu, kappa, w)


class HyperbolicMatern(GeodesicKernel):
    """Matérn kernel of H^m, a mixture of normalized heat kernels; points are Lorentz rows."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of w = cosh(distance) - 1."""
        with torch.no_grad():
            w = excess(x, y)
        if x.requires_grad or y.requires_grad:
            # The digits of near points come from differences, derivatives from a matrix product over all pairs.
            left, right = lifted(x[..., 1:]), lifted(y[..., 1:])
            w = carried(w, inner_product(torch.cat([left[..., :1], -left[..., 1:]], -1), right))
        return profile(hyperbolic_heat(x.shape[-1] - 1), self.nu, kappa, w, definition=self.definition)
