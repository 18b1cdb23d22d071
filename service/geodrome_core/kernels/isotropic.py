"""Kernels that depend on one variable: flat spaces, spheres, rotations, hyperbolic spaces."""

from __future__ import annotations

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.hyperbolic import Hyperbolic, excess, lifted
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.kernels.derivatives import carried
from geodrome_core.kernels.expansion import Around, Expansion
from geodrome_core.kernels.heat import HeatKernel, flat_heat, hyperbolic_heat, rotation_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.of_scales import OfScales, Scaled
from geodrome_core.kernels.pairs import inner_product, squared_distance
from geodrome_core.kernels.profile import profile, profile_and_slopes, profile_around, profile_of_scales


class OneVariableKernel(GeodesicKernel):
    """A kernel that is a function of one variable w of each pair of points."""

    @abstractmethod
    def heat(self, width: int) -> HeatKernel:
        """The heat kernels of the space whose rows have ``width`` numbers."""

    @abstractmethod
    def variable(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """The w of broadcast pairs of points, differentiable twice."""

    @abstractmethod
    def variable_around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """The w of all pairs of two sets, to second order in the coordinates of the manifold's basis at ``x``."""

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Looked up at w."""
        return profile(self.heat(x.shape[-1]), nu, kappa, self.variable(x, y), definition=self.definition)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """The w of all pairs are found once."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        with torch.no_grad():
            w = self.variable(x[i], x[j])
        return profile_of_scales(self.heat(x.shape[-1]), w, self.definition)

    def around(self, y: Float[Tensor, "n d"]) -> Around:
        """By the chain rule."""
        heat, kappa = self.heat(y.shape[-1]), self.lengthscale.detach().reshape(())
        return lambda x: profile_around(heat, self.nu, kappa, self.variable_around(x, y), definition=self.definition)


class EuclideanMatern(GeodesicKernel):
    """Matérn kernel of R^n; with ``ard_num_dims`` a lengthscale for each coordinate."""

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Of w = |x - y|^2 / (2 kappa^2), with one table for all lengthscales."""
        w = squared_distance(x / kappa, y / kappa) / 2 if kappa.dim() else squared_distance(x, y) / (2 * kappa**2)
        return profile(flat_heat(), nu, torch.ones((), dtype=torch.float64), w)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """With one lengthscale, of |x - y|^2 / 2; with several, that is divided by their squares each time."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        if self.lengthscale.numel() == 1:
            return profile_of_scales(flat_heat(), 0.5 * squared_distance(x[i], x[j]), self.definition)
        half_squares = (0.5 * (x[i] - x[j]) ** 2).mT  # (k, p)

        def at(nu: float, kappa: Tensor) -> Scaled:
            parts = half_squares / kappa.unsqueeze(-1) ** 2
            value, slope, by_nu = profile_and_slopes(flat_heat(), nu, 1.0, parts.sum(0), definition=self.definition)
            return Scaled(value, -2 * slope * parts / kappa.unsqueeze(-1), by_nu)

        return at

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """Of w = |x - y|^2 / (2 kappa^2)."""
        square = (self.lengthscale.detach().flatten() ** 2).unsqueeze(-1)  # (1 or m, 1)
        steepest = torch.diag((1 / square).squeeze(-1).expand(y.shape[-1]))
        one = torch.ones((), dtype=torch.float64)

        def at(x: Tensor) -> Expansion:
            slope = (x.unsqueeze(-1) - y.mT) / square  # (b, m, n)
            w = 0.5 * (slope**2 * square).sum(-2)
            variable = Expansion(w, slope, lambda c: c.sum(-1)[:, None, None] * steepest)
            return profile_around(flat_heat(), self.nu, one, variable, definition=self.definition)

        return at


class SphereMatern(OneVariableKernel):
    """Matérn kernel of the sphere S^m, spectrum (2 nu / kappa^2 + l (l + m - 1))^(-nu - m/2)."""

    def heat(self, width: int) -> HeatKernel:
        """Of S^(width - 1)."""
        return sphere_heat(width - 1)

    def variable(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """1 - cos = |x - y|^2 / 2: differences keep the digits that 1 - <x, y> loses."""
        return 0.5 * squared_distance(x, y)

    def variable_around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """1 - <x, y>, and the geodesic's acceleration is -x."""
        w = self.variable(x.unsqueeze(-2), y.unsqueeze(-3))
        slope = -Sphere(x.shape[-1] - 1).basis(x) @ y.mT

        def bend(c: Tensor) -> Tensor:
            return (x * (c @ y)).sum(-1)[:, None, None] * torch.eye(x.shape[-1] - 1, dtype=x.dtype)

        return Expansion(w, slope, bend)


class RotationMatern(OneVariableKernel):
    """Matérn kernel of SO(3), spectrum (2 nu / kappa^2 + l (l + 1))^(-nu - 3/2); points are matrices, row by row."""

    def heat(self, width: int) -> HeatKernel:
        """Of SO(3)."""
        del width
        return rotation_heat()

    def variable(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """1 - cos(rotation angle) = |X - Y|_F^2 / 4."""
        return 0.25 * squared_distance(x, y)

    def variable_around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """(3 - tr X^T Y) / 2, and exp(A) = 1 + A + A^2 / 2 + … with A^2 = a a^T - |a|^2."""
        w = self.variable(x.unsqueeze(-2), y.unsqueeze(-3))
        slope = -0.5 * Rotation().basis(x) @ y.mT

        def bend(c: Tensor) -> Tensor:
            turned = x.unflatten(-1, (3, 3)).mT @ (c @ y).unflatten(-1, (3, 3))
            trace = turned.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None, None]
            return 0.5 * trace * torch.eye(3, dtype=x.dtype) - 0.25 * (turned + turned.mT)

        return Expansion(w, slope, bend)


class HyperbolicMatern(OneVariableKernel):
    """Matérn kernel of H^m, a mixture of normalized heat kernels; points are Lorentz rows."""

    def heat(self, width: int) -> HeatKernel:
        """Of H^(width - 1)."""
        return hyperbolic_heat(width - 1)

    def variable(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Cosh(distance) - 1."""
        with torch.no_grad():
            w = excess(x, y)
        if not (x.requires_grad or y.requires_grad):
            return w
        # The digits of near points come from differences, derivatives from a matrix product over all pairs.
        left, right = lifted(x[..., 1:]), lifted(y[..., 1:])
        return carried(w, inner_product(torch.cat([left[..., :1], -left[..., 1:]], -1), right))

    def variable_around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """-<x, y> - 1 with the Lorentz product, and the geodesic's acceleration is x."""
        w = excess(x.unsqueeze(-2), y.unsqueeze(-3))
        dual = torch.cat([y[:, :1], -y[:, 1:]], -1)
        slope = Hyperbolic(x.shape[-1] - 1).basis(x) @ dual.mT

        def bend(c: Tensor) -> Tensor:
            return (x * (c @ dual)).sum(-1)[:, None, None] * torch.eye(x.shape[-1] - 1, dtype=x.dtype)

        return Expansion(w, slope, bend)
