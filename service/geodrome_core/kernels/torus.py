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
from geodrome_core.kernels.expansion import Expansion
from geodrome_core.kernels.expansion import product as product_of_expansions
from geodrome_core.kernels.heat import flat_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.matern import Grid, grid_times, steps_per_octave, weights
from geodrome_core.kernels.of_scales import OfScales, Scaled
from geodrome_core.kernels.of_scales import product as product_of_scales
from geodrome_core.kernels.profile import (
    BY_KAPPA,
    BY_NU,
    FIRST,
    SECOND,
    VALUE,
    is_cusped,
    profile,
    profile_around,
    profile_of_scales,
)
from geodrome_core.kernels.split_times import early_table, late_groups, make_exact

BORDER_TIME = 0.05
"""Below it, images at full turns are below 1e-17 of any weight; from it on, thirty levels make a heat kernel."""

LAST_TIME = 45.0
"""From here on the heat kernel of a circle is 1 to rounding."""


class CirclesMatern(GeodesicKernel):
    """Product of the Matérn kernels of circles, with ``ard_num_dims`` a lengthscale for each; points are angles."""

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Each of 1 - cos(angle between) = 2 sin^2 of its half."""
        out = torch.ones((), dtype=torch.float64)
        for angle, scale in zip((x - y).unbind(-1), kappa.expand(x.shape[-1]), strict=True):
            out = out * profile(sphere_heat(1), nu, scale, _half_turns(angle))
        return out

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """A product of functions of one lengthscale each; of a common one, their derivatives are added."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        return _circles_of_scales(_half_turns(x[i] - x[j]), is_ard=self.lengthscale.numel() > 1)

    def around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """A product of functions of one angle each."""
        return _circles_around(x.unsqueeze(-2) - y, self.nu, self.lengthscale.detach().flatten())


class TorusMatern(GeodesicKernel):
    """Matérn kernel of T^m, spectrum (2 nu / kappa^2 + |k|^2)^(-nu - m/2) over k in Z^m; points are angles.

    The heat kernel is the product of the circles'. For short times, where no way round counts, that is the Gaussian of
    the distance: all short times together are one function of it. The others are summed, each as a product of cosine
    series.
    """

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Of the angles between; for the SE kernel, the product of the circles'."""
        between = wrapped(x - y)
        if math.isinf(nu.item()):
            c = _half_turns(between)
            return torch.stack([profile(sphere_heat(1), nu, kappa, each) for each in c.unbind(-1)]).prod(0)
        return mixture(between, nu, kappa)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """The heat kernels of the late times are found once; nu and the lengthscale are in their weights only."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        between = wrapped(x[i] - x[j])
        circles = _circles_of_scales(_half_turns(between), is_ard=False)
        by_steps: dict[int, OfScales] = {}

        def at(nu: float, kappa: Tensor) -> Scaled:
            if math.isinf(nu):
                return circles(nu, kappa)
            steps = steps_per_octave(nu + x.shape[-1] / 2)
            if steps not in by_steps:
                by_steps[steps] = _mixture_of_scales(between, steps)
            return by_steps[steps](nu, kappa)

        return at

    def around(self, x: Float[Tensor, "b d"], y: Float[Tensor, "n d"]) -> Expansion:
        """Of the angles between."""
        between = wrapped(x.unsqueeze(-2) - y)
        kappa = self.lengthscale.detach().flatten()
        if math.isinf(self.nu.item()):
            return _circles_around(between, self.nu, kappa)
        return mixture_around(between, self.nu.item(), kappa.item())


def _half_turns(angle: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """1 - cos = 2 sin^2 of the half."""
    return 2 * torch.sin(angle / 2) ** 2


def _circles_of_scales(c: Float[Tensor, "p d"], *, is_ard: bool) -> OfScales:
    """The product of the circles' kernels, of 1 - cos of the angles."""
    parts = [profile_of_scales(sphere_heat(1), each.contiguous(), "paper") for each in c.unbind(-1)]
    together = product_of_scales(parts, [1] * len(parts))

    def at(nu: float, kappa: Tensor) -> Scaled:
        found = together(nu, kappa.expand(len(parts)))
        return found if is_ard else Scaled(found.value, found.by_kappa.sum(0, keepdim=True), found.by_nu)

    return at


def _circle_around(angle: Float[Tensor, "b n"]) -> Expansion:
    """1 - cos of an angle, to second order in it."""
    cosine = torch.cos(angle)
    return Expansion(_half_turns(angle), torch.sin(angle).unsqueeze(-2), lambda c: (c * cosine).sum(-1)[:, None, None])


def _circles_around(between: Float[Tensor, "b n d"], nu: Tensor, kappa: Float[Tensor, " k"]) -> Expansion:
    """The product of the circles' kernels, to second order in the angles."""
    dim = between.shape[-1]
    parts = [
        profile_around(sphere_heat(1), nu, scale, _circle_around(angle))
        for angle, scale in zip(between.unbind(-1), kappa.expand(dim), strict=True)
    ]
    return product_of_expansions(parts)


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


def mixture_around(between: Float[Tensor, "b n d"], nu: float, kappa: float) -> Expansion:
    """The kernel to second order in the angles."""
    parts = _components(between.shape[-1], nu, kappa)
    panels = flat_heat().panels
    w = 0.5 * (between**2).sum(-1)
    early, first, second = panels.evaluate_all(parts.early[:, [VALUE, FIRST, SECOND]].contiguous(), w).unbind(-1)
    late = parts.late.around(between)
    value = early + late.value + parts.even[0]
    make_exact(panels, w, value)
    if is_cusped(nu):
        first, second = (torch.where(w < panels.smallest, 0.0, part) for part in (first, second))
    along = between.mT
    eye = torch.eye(between.shape[-1], dtype=between.dtype)

    def bend(c: Tensor) -> Tensor:
        straight = along @ ((c * second).unsqueeze(-2) * along).mT
        return straight + (c * first).sum(-1)[:, None, None] * eye + late.bend(c)

    return Expansion(value, first.unsqueeze(-2) * along + late.slope, bend)


def _mixture_of_scales(between: Float[Tensor, "p d"], steps: int) -> OfScales:
    """The kernel of fixed angles; all its times are those of one grid."""
    on = torus_grid(between.shape[-1], steps)
    panels = flat_heat().panels
    w = 0.5 * (between**2).sum(-1)
    located = panels.at(w)
    u = torch.exp(on.log_u[on.visible])
    is_early, is_even = u < BORDER_TIME, u >= LAST_TIME
    is_late = ~(is_early | is_even)
    groups = [(_series(u[kept], start), kept) for start, kept in late_groups(u, u, first=BORDER_TIME, last=LAST_TIME)]
    late = CosineProducts([(series, torch.eye(len(series), dtype=u.dtype)) for series, _ in groups]).each(between)

    def at(nu: float, kappa: Tensor) -> Scaled:
        weight = torch.stack(weights(on, nu, kappa.item()))  # (3, times)
        table = panels.coefficients(weight[:, is_early] @ on.heat.h)
        found = located.evaluate(table).mT + weight[:, is_late] @ late + weight[:, is_even].sum(-1, keepdim=True)
        value, by_kappa, by_nu = found.contiguous()
        make_exact(panels, w, value, by_kappa, by_nu)
        return Scaled(value, by_kappa.unsqueeze(0), by_nu)

    return at


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
