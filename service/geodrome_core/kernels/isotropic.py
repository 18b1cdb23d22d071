"""Kernels that depend on one variable: flat spaces, spheres, rotations; the last layer towards GPyTorch."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any

import torch
from gpytorch.kernels import Kernel
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.hyperbolic import excess
from geodrome_core.kernels.heat import HeatKernel, flat_heat, hyperbolic_heat, rotation_heat, sphere_heat
from geodrome_core.kernels.matern import grid, steps_per_octave, weights
from geodrome_core.kernels.pairs import squared_distance

SMALLEST_NU, LARGEST_NU = 0.1, 200.0
"""Kernels are exact to 1e-14 between them; above, the mixture is narrower than the grid of heat times."""


@lru_cache(maxsize=64)
def profile_table(heat: HeatKernel, nu: float, kappa: float) -> Float[Tensor, "k 4"]:
    """The kernel's table: its value, first and second derivative in w, and derivative in kappa."""
    if math.isinf(nu):
        at = heat.at(torch.tensor([kappa**2 / 2], dtype=torch.float64))
        rows = torch.cat([at.h, -at.q, at.q2, kappa * heat.time_derivative(at)])
    else:
        on = grid(heat, steps_per_octave(nu + (heat.dim / 2 if heat.is_compact else 0)))
        weight, derivative = weights(on, nu, kappa)
        rows = torch.stack([weight @ on.heat.h, -weight @ on.heat.q, weight @ on.heat.q2, derivative @ on.heat.h])
    return heat.panels.coefficients(rows)


def profile(heat: HeatKernel, nu: float, kappa: Tensor, w: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Matérn kernel of one lengthscale at ``w``, differentiable twice in ``w`` and once in ``kappa``.

    Args:
        heat: The space's heat kernels.
        nu: Smoothness; ``math.inf`` for the SE kernel.
        kappa: Lengthscale, a tensor of one number.
        w: The space's variable, at least 0.
    """
    panels = heat.panels
    with torch.no_grad():
        flat = w.detach().flatten()
        table = profile_table(heat, nu, kappa.item())
        # exact at coincident points; between them and the first panel, the shape of the most cusped kernel
        below = flat < panels.smallest
        fade = torch.where(below, torch.sqrt(flat.clamp_min(0) / panels.smallest), 1.0)
        value, first, second, scale = (column.reshape(w.shape) for column in panels.evaluate(table, flat).unbind(-1))
        fade = fade.reshape(w.shape)
        value = 1 - (1 - value) * fade
        scale = scale * fade
    return with_derivatives(value, [(first, w), (scale, kappa)], [(second, w, w)])


def with_derivatives(
    value: Tensor, first: list[tuple[Tensor, Tensor]], second: list[tuple[Tensor, Tensor, Tensor]]
) -> Tensor:
    """``value`` with known derivatives attached: a Taylor polynomial about the variables' own values.

    The polynomial equals ``value`` exactly, and autograd finds in it the first and second derivatives that are given.
    Derivatives beyond those, mixed ones that are not listed included, come out as zero.

    Args:
        value: The function's value, without a graph.
        first: Pairs (derivative, variable).
        second: Triples (second derivative, variable, variable); a mixed one is listed once.
    """
    steps = {id(variable): variable - variable.detach() for _, variable in first if variable.requires_grad}
    for derivative, variable in first:
        if variable.requires_grad:
            value = value + derivative * steps[id(variable)]
    for derivative, one, other in second:
        if one.requires_grad and other.requires_grad:
            factor = 0.5 if one is other else 1.0
            value = value + factor * derivative * steps[id(one)] * steps[id(other)]
    return value


class GeodesicKernel(Kernel):  # type: ignore[misc]
    """A normalized Matérn kernel with one lengthscale, in the unit of geodesic distance.

    Args:
        nu: Smoothness, from 0.1 to 200; ``math.inf`` for the SE (heat) kernel.
        kwargs: GPyTorch's: ``batch_shape``, ``active_dims``, ``lengthscale_prior``, ``lengthscale_constraint``.
    """

    has_lengthscale = True

    def __init__(self, *, nu: float = 2.5, **kwargs: Any) -> None:
        if not (SMALLEST_NU <= nu <= LARGEST_NU or nu == math.inf):
            raise ValueError(f"nu is {nu}; it must lie from {SMALLEST_NU} to {LARGEST_NU:g}, or be infinite")
        super().__init__(**kwargs)
        self.nu = nu
        self.double()

    @abstractmethod
    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Kernel of broadcast pairs of points, for one lengthscale."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, last_dim_is_batch: bool = False, **params: Any
    ) -> Tensor:
        """Covariances (*b, n, m), or with ``diag`` those of matching points (*b, n)."""
        del params
        if last_dim_is_batch:
            raise ValueError("a manifold's row cannot be split into one kernel for each number")
        x1, x2 = x1.double(), x2.double()
        lengthscale = self.lengthscale
        # Only without gradients: of two arguments that happen to be equal, each has derivatives of its own.
        is_plain = (
            not diag and lengthscale.numel() == 1 and x1.dim() == 2 and not (x1.requires_grad or x2.requires_grad)
        )
        if is_plain and torch.equal(x1, x2):
            return self._symmetric(x1, lengthscale.reshape(()))
        if not diag:
            x1, x2 = x1.unsqueeze(-2), x2.unsqueeze(-3)
        if lengthscale.numel() == 1:
            return self.covariance(x1, x2, lengthscale.reshape(()))
        scales = lengthscale.reshape(self.batch_shape)
        pairs = 1 if diag else 2
        shape = torch.broadcast_shapes(x1.shape[:-1], x2.shape[:-1])
        batch = torch.broadcast_shapes(shape[:-pairs], self.batch_shape)
        x1, x2 = (x.expand(*batch, *x.shape[-pairs - 1 :]) for x in (x1, x2))
        each = scales.expand(batch).flatten()
        parts = [
            self.covariance(a, b, kappa)
            for a, b, kappa in zip(
                x1.reshape(-1, *x1.shape[len(batch) :]), x2.reshape(-1, *x2.shape[len(batch) :]), each, strict=True
            )
        ]
        return torch.stack(parts).reshape(*batch, *parts[0].shape)

    def _symmetric(self, x: Float[Tensor, "n d"], kappa: Tensor) -> Float[Tensor, "n n"]:
        """Covariances of all pairs, half of them computed."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        upper = self.covariance(x[i], x[j], kappa)
        out = torch.eye(len(x), dtype=x.dtype)
        return out.index_put((i, j), upper).index_put((j, i), upper)


class EuclideanMatern(GeodesicKernel):
    """Matérn kernel of R^n."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of w = |x - y|^2 / (2 kappa^2), with one table for all lengthscales."""
        w = squared_distance(x, y) / (2 * kappa**2)
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
        return profile(hyperbolic_heat(x.shape[-1] - 1), self.nu, kappa, excess(x, y))
