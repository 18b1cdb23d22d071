"""Matérn kernels of tori: that of the product manifold, and the product of the circles' kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.torus import wrapped
from geodrome_core.kernels.cosine_products import CosineProducts
from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.heat import flat_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.matern import Grid, grid_times, steps_per_octave, weights
from geodrome_core.kernels.profile import BY_KAPPA, BY_NU, FIRST, SECOND, VALUE, profile
from geodrome_core.kernels.split_times import early_table, late_groups, make_exact

BORDER_TIME = 0.05
"""Below it, images at full turns are below 1e-17 of any weight; from it on, thirty levels make a heat kernel."""

LAST_TIME = 45.0
"""From here on the heat kernel of a circle is 1 to rounding."""


class CirclesMatern(GeodesicKernel):
    """Product of the Matérn kernels of circles, with ``ard_num_dims`` a lengthscale for each; points are angles."""

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Each of 1 - cos(angle between) = 2 sin^2 of its half."""
        out = torch.ones((), dtype=torch.float64)
        for angle, scale in zip((x - y).unbind(-1), kappa.expand(x.shape[-1]), strict=True):
            out = out * profile(sphere_heat(1), self.nu, scale, 2 * torch.sin(angle / 2) ** 2)
        return out


class TorusMatern(GeodesicKernel):
    """Matérn kernel of T^m, spectrum (2 nu / kappa^2 + |k|^2)^(-nu - m/2) over k in Z^m; points are angles.

    The heat kernel is the product of the circles'. For short times, where no way round counts, that is the Gaussian of
    the distance: all short times together are one function of it. The others are summed, each as a product of cosine
    series.
    """

    def covariance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], kappa: Tensor) -> Float[Tensor, "*#b"]:
        """Of the angles between; for the SE kernel, the product of the circles'."""
        between = wrapped(x - y)
        if math.isinf(self.nu.item()):
            c = 2 * torch.sin(between / 2) ** 2
            return torch.stack([profile(sphere_heat(1), self.nu, kappa, each) for each in c.unbind(-1)]).prod(0)
        return mixture(between, self.nu, kappa)


@dataclass(frozen=True)
class _Components:
    """A kernel's parts for one nu and kappa; three lines each: the kernel, and its derivatives in kappa and nu.

    Attributes:
        early: Table over panels in half the squared distance of all times below ``BORDER_TIME``.
        late: Sum over the later times.
        even: (3,) weights of the times at which heat has become even.
    """

    early: Tensor
    late: CosineProducts
    even: Tensor


def mixture(between: Float[Tensor, "*b d"], nu: Tensor, kappa: Tensor) -> Float[Tensor, "*b"]:
    """The kernel at angles ``between``, differentiable twice in them and once in ``kappa`` and ``nu``."""
    parts = _components(between.shape[-1], nu.item(), kappa.item())
    w = 0.5 * (between**2).sum(-1)
    with torch.no_grad():
        panels = flat_heat().panels
        early = panels.evaluate_all(parts.early, w.detach()).unbind(-1)
        late = parts.late.values(between)
        even = parts.even.reshape(3, *w.dim() * (1,))
        value, by_kappa, by_nu = torch.stack([early[VALUE], early[BY_KAPPA], early[BY_NU]]) + late + even
        make_exact(panels, w, value, by_kappa, by_nu)
    value = with_derivatives(value, [(early[FIRST], w), (by_kappa, kappa), (by_nu, nu)], [(early[SECOND], w, w)])
    if between.requires_grad:
        sum_of_late = parts.late.attached(late[0], between)
        value = value + (sum_of_late - late[0])
    return value


@lru_cache(maxsize=16)
def _components(dim: int, nu: float, kappa: float) -> _Components:
    on = torus_grid(dim, steps_per_octave(nu + dim / 2))
    weight = torch.stack(weights(on, nu, kappa))  # (3, times)
    u = torch.exp(on.log_u[on.visible])
    late = [
        (_series(u[kept], start), weight[:, kept].contiguous())
        for start, kept in late_groups(u, weight[0], first=BORDER_TIME, last=LAST_TIME)
    ]
    early = early_table(flat_heat().panels, weight[:, u < BORDER_TIME], on.heat)
    return _Components(early, CosineProducts(late), weight[:, u >= LAST_TIME].sum(-1))


def _series(u: Float[Tensor, " t"], first: float) -> Float[Tensor, "t l"]:
    """Coefficients of the normalized heat kernel of a circle at times from ``first`` on."""
    terms = torch.exp(-u[:, None] * torch.arange(math.ceil(math.sqrt(LAST_TIME / first)) + 1, dtype=torch.float64) ** 2)
    terms[:, 1:] *= 2
    return terms / terms.sum(-1, keepdim=True)


@lru_cache(maxsize=8)
def torus_grid(dim: int, steps: int) -> Grid:
    """The times of T^dim; the heat kernels are those of the early times, in half the squared distance."""
    log_u, first = grid_times(steps)
    u = torch.exp(log_u)
    # log(sqrt(u) p_u(0)) of a circle, which is constant as long as no way round counts.
    late = u.clamp_min(BORDER_TIME)
    level = torch.arange(math.ceil(math.sqrt(LAST_TIME / BORDER_TIME)) + 1, dtype=torch.float64)
    terms = torch.exp(-late[:, None] * level**2)
    peak = torch.log(2 * terms.sum(-1) - 1) + 0.5 * torch.log(late / math.pi)
    early = u[first:][u[first:] < BORDER_TIME]
    log_peak = dim * torch.where(u < BORDER_TIME, 0.0, peak)
    return Grid(log_u, slice(first, None), log_peak, gap=0.0, is_compact=True, heat=flat_heat().at(early))
