"""Matérn kernels of product-like spaces, as mixtures over the heat time of products of heat kernels.

SPD(2) with the affine-invariant metric is isometric to R x H^2 with the hyperbolic metric doubled:

    X = (x11 x12; x12 x22)  ->  l = log(det X) / sqrt 2  in R,   (x12, sqrt(det X)) / x11  in the upper half-plane,
    distance^2 = (l - l')^2 + 2 d_H^2,     h_u(X, Y) = exp(-(l - l')^2 / 4u) h^{H2}_{u/2}(d_H).

A Matérn kernel is no product of Matérn kernels, but a mixture of these products.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.heat import hyperbolic_plane_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.matern import grid, steps_per_octave, weights
from geodrome_core.kernels.pairs import squared_distance
from geodrome_core.kernels.profile import profile

CHUNK = 16_384
"""Pairs evaluated at once: 20 MB of intermediate values at 80 heat times."""

NEGLIGIBLE = 1e-17
"""Heat times of smaller weight are left out."""

FINEST = 1e-6
"""Distances below this part of the lengthscale are not resolved: their heat times are lumped into one."""


class SPD2Matern(GeodesicKernel):
    """Matérn kernel of SPD(2), affine invariant; points are matrices, row by row."""

    def covariance(self, x: Float[Tensor, "*#b 4"], y: Float[Tensor, "*#b 4"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """A mixture of heat kernels in s = (l - l')^2 and w = cosh d_H - 1."""
        x_flat, x_plane = half_plane(x)
        y_flat, y_plane = half_plane(y)
        s = squared_distance(x_flat.unsqueeze(-1), y_flat.unsqueeze(-1))
        w = squared_distance(x_plane, y_plane) / (2 * x_plane[..., 1] * y_plane[..., 1])
        if math.isinf(self.nu.item()):
            return torch.exp(-s / (2 * kappa**2)) * profile(hyperbolic_plane_heat(), self.nu, kappa / math.sqrt(2), w)
        return mixture(self.nu, kappa, s, w)


def half_plane(x: Float[Tensor, "*b 4"]) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b 2"]]:
    """The isometry: l, and the point of the upper half-plane (its second coordinate is the height)."""
    a, b, c = x[..., 0], 0.5 * (x[..., 1] + x[..., 2]), x[..., 3]
    determinant = a * c - b * b
    return torch.log(determinant) / math.sqrt(2), torch.stack([b, torch.sqrt(determinant)], -1) / a.unsqueeze(-1)


@dataclass(frozen=True)
class _Components:
    """The heat times that count for one nu and kappa.

    Attributes:
        rate: (times,) 1 / 4u.
        h, q, q2: Tables (k, times) of the hyperbolic heat kernels at u / 2.
        weight, by_kappa, by_nu: (times,) weights, and their derivatives.
    """

    rate: Tensor
    h: Tensor
    q: Tensor
    q2: Tensor
    weight: Tensor
    by_kappa: Tensor
    by_nu: Tensor


@lru_cache(maxsize=4)
def _tables(steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Panel tables (k, times) of h, q, q2 at all visible times of the grid."""
    heat = hyperbolic_plane_heat()
    on = grid(heat, steps)
    h, q, q2 = (heat.panels.coefficients(rows) for rows in (on.heat.h, on.heat.q, on.heat.q2))
    return h, q, q2


@lru_cache(maxsize=16)
def _components(nu: float, kappa: float) -> _Components:
    steps = steps_per_octave(nu)
    on = grid(hyperbolic_plane_heat(), steps)
    weight, by_kappa, by_nu = weights(on, nu, kappa)
    u = torch.exp(on.log_u[on.visible])
    # Half the time is ``steps`` rows earlier; the first rows have no earlier one, and are lumped below.
    fine = u < max((FINEST * kappa) ** 2 / 160, float(u[steps]))
    kept = torch.nonzero(~fine & (weight > NEGLIGIBLE)).flatten()
    lumped = 1 - float(weight[kept].sum())
    weight, by_kappa, by_nu = weight[kept].clone(), by_kappa[kept].clone(), by_nu[kept].clone()
    weight[0] += lumped
    by_kappa[0] -= by_kappa.sum()
    by_nu[0] -= by_nu.sum()
    h, q, q2 = (table[:, kept - steps].contiguous() for table in _tables(steps))
    return _Components(0.25 / u[kept], h, q, q2, weight, by_kappa, by_nu)


def mixture(nu: Tensor, kappa: Tensor, s: Float[Tensor, "*#b"], w: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """The Matérn kernel of SPD(2) at ``s`` and ``w``, differentiable twice in both and once in ``kappa``."""
    with torch.no_grad():
        parts = _components(nu.item(), kappa.item())
        shape = torch.broadcast_shapes(s.shape, w.shape)
        pairs = torch.stack([s.detach().expand(shape).flatten(), w.detach().expand(shape).flatten()], -1)
        curved = s.requires_grad or w.requires_grad
        values = torch.cat([_evaluate(parts, chunk, curved=curved) for chunk in pairs.split(CHUNK)])
        k, by_kappa, by_nu, by_s, by_w, by_ss, by_sw, by_ww = (column.reshape(shape) for column in values.unbind(-1))
    return with_derivatives(
        k, [(by_s, s), (by_w, w), (by_kappa, kappa), (by_nu, nu)], [(by_ss, s, s), (by_sw, s, w), (by_ww, w, w)]
    )


def _evaluate(parts: _Components, pairs: Float[Tensor, "p 2"], *, curved: bool) -> Float[Tensor, "p 8"]:
    """Value; derivatives in kappa, nu, s, w, ss, sw, ww (those in s and w are zero unless ``curved``)."""
    s, w = pairs.unbind(-1)
    panels = hyperbolic_plane_heat().panels
    out = torch.zeros(len(pairs), 8, dtype=torch.float64)
    gauss = torch.exp(-parts.rate * s[:, None])  # (p, times)
    h = panels.evaluate(parts.h, w)
    h[w < panels.smallest] = 1
    slope = -parts.weight * parts.rate
    columns = torch.stack([parts.weight, parts.by_kappa, parts.by_nu, slope, -slope * parts.rate], -1)
    out[:, [0, 1, 2, 3, 5]] = (gauss * h) @ columns
    if curved:
        out[:, [4, 6]] = (gauss * panels.evaluate(parts.q, w)) @ -columns[:, [0, 3]]
        out[:, 7] = (gauss * panels.evaluate(parts.q2, w)) @ parts.weight
    return out
