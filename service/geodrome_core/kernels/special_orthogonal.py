"""Matérn kernels of SO(n), n other than 3, by all their representations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.heat import HeatKernel, flat_heat, rotation_heat, sphere_heat
from geodrome_core.kernels.kernel import GeodesicKernel
from geodrome_core.kernels.matern import Grid, grid_times, steps_per_octave, weights
from geodrome_core.kernels.of_scales import OfScales, Scaled
from geodrome_core.kernels.pairs import are_all_pairs, squared_distance
from geodrome_core.kernels.profile import BY_KAPPA, BY_NU, FIRST, SECOND, VALUE, profile, profile_of_scales
from geodrome_core.kernels.rotation_invariants import differentiable_invariants, invariants
from geodrome_core.kernels.special_orthogonal_heat import (
    BORDER_TIME,
    REACH,
    Characters,
    characters,
    kernel_determinant,
    kernel_determinant_jet,
    short_time,
)
from geodrome_core.kernels.split_times import early_table, late_groups, make_exact

CHUNK, CURVED_CHUNK = 16_384, 4096
"""Pairs evaluated at once, without and with derivatives in the points: some 10 MB of intermediate values for SO(4)."""


class SpecialOrthogonalMatern(GeodesicKernel):
    """Matérn kernel of SO(n), spectrum (2 nu / kappa^2 + lambda)^(-nu - dim/2); points are matrices, row by row."""

    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """A circle's for n = 2; a function of 1 - cos of all angles for n > 3."""
        size = math.isqrt(x.shape[-1])
        if size in ONE_PLANE:
            return profile(ONE_PLANE[size](), nu, kappa, 0.25 * squared_distance(x, y))
        return mixture(x, y, nu, kappa)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """The invariants of all pairs are found once."""
        size = math.isqrt(x.shape[-1])
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        if size in ONE_PLANE:
            return profile_of_scales(ONE_PLANE[size](), 0.25 * squared_distance(x[i], x[j]), self.definition)
        e = invariants(x[i], x[j])

        def at(nu: float, kappa: Tensor) -> Scaled:
            parts = _components(size, nu, kappa.item())
            found = [_evaluate(parts, size, some, curved=False) for some in e.split(CHUNK, -1)]
            value, by_kappa, by_nu = torch.cat(found, -1)
            return Scaled(value, by_kappa.unsqueeze(0), by_nu)

        return at


ONE_PLANE: dict[int, Callable[[], HeatKernel]] = {2: lambda: sphere_heat(1), 3: rotation_heat}
"""Where there is one angle only, and kernels are functions of one variable."""


@dataclass(frozen=True)
class _Components:
    """A kernel's parts for one nu and kappa; three lines each: the kernel, and its derivatives in kappa and nu.

    Attributes:
        early: Table over panels in |theta|^2 / 2 of all times below ``BORDER_TIME``, with the columns of a profile.
        late: Some times at once: coefficients (times, k, levels) and weights (3, times) of their determinants.
        even: (3, 1) weights of the times at which heat has become even.
    """

    early: Tensor
    late: list[tuple[Tensor, Tensor]]
    even: Tensor


def mixture(x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor) -> Float[Tensor, "*#b"]:
    """The kernel of broadcast pairs, differentiable twice in the points and once in ``kappa`` and ``nu``."""
    size = math.isqrt(x.shape[-1])
    shape = torch.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    curved = x.requires_grad or y.requires_grad
    with torch.no_grad():
        parts = _components(size, nu.item(), kappa.item())
        left, right = (z.detach().expand(*shape, -1) for z in (x, y))
        # Of all pairs of one set, half are computed.
        is_symmetric = are_all_pairs(x, y) and x.dim() == 3 and torch.equal(x[:, 0], y[0])
        pairs = torch.triu_indices(*shape) if is_symmetric else _places(shape)
        found = left.new_empty(3 + (derivative_count(size) if curved else 0), *shape)
        for places in zip(*(each.split(CURVED_CHUNK if curved else CHUNK) for each in pairs), strict=True):
            values = _evaluate(parts, size, invariants(left[places], right[places]), curved=curved)
            found[:, *places] = values
            if is_symmetric:
                found[:, *places[::-1]] = values
    k, by_kappa, by_nu, *by_points = found
    variables = differentiable_invariants(x, y) if curved else []
    orders = [(i, j) for i in range(len(variables)) for j in range(i + 1)]
    first, second = by_points[: len(variables)], by_points[len(variables) :]
    return with_derivatives(
        k,
        [(by_kappa, kappa), (by_nu, nu), *zip(first, variables, strict=True)],
        [(value, variables[i], variables[j]) for value, (i, j) in zip(second, orders, strict=True)],
    )


def _places(shape: torch.Size) -> tuple[Tensor, ...]:
    """Indices of all places, one after the other."""
    return torch.unravel_index(torch.arange(shape.numel()), shape)


def derivative_count(size: int) -> int:
    """How many first and second derivatives a function of e_1 … e_k has."""
    planes = size // 2
    return planes * (planes + 3) // 2


def _evaluate(parts: _Components, size: int, e: Float[Tensor, "k p"], *, curved: bool) -> Float[Tensor, "c p"]:
    """Value; derivatives in kappa and nu; with ``curved`` those in e_1 … e_k, and in e_i, e_j for j <= i."""
    out = e[0].new_zeros(3 + (derivative_count(size) if curved else 0), len(e[0]))
    out[:3] = parts.even
    if parts.late:
        count = max(rows.shape[-1] for rows, _ in parts.late)
        basis = characters(size).basis(e, count, digits=3 if curved else 1)
        for rows, weight in parts.late:
            some = basis[: rows.shape[-1]]
            if not curved:
                out += weight @ kernel_determinant(rows, some)
                continue
            values = kernel_determinant_jet(rows, some, e)
            out[:3] += weight @ values[0]
            out[3:] += torch.einsum("t,jtp->jp", weight[0], values[1:])
    near = torch.nonzero(e[0] < REACH).flatten()
    early, w = _early(parts, size, e[:, near], curved=curved)
    together = out[:, near] + early
    make_exact(flat_heat().panels, w, *together[:3])
    out[:, near] = together
    return out


def _early(
    parts: _Components, size: int, e: Float[Tensor, "k p"], *, curved: bool
) -> tuple[Float[Tensor, "c p"], Float[Tensor, " p"]]:
    """The part of all times below ``BORDER_TIME``, and |theta|^2 / 2."""
    variables = [value.detach().requires_grad_(curved) for value in e]
    with torch.set_grad_enabled(curved):
        squared_angle, jacobian = short_time(torch.stack(variables), is_odd=size % 2 == 1)
        w = squared_angle / 2
        at = flat_heat().panels.evaluate(parts.early, w.detach()).unbind(-1)
        value = jacobian * with_derivatives(at[VALUE], [(at[FIRST], w)], [(at[SECOND], w, w)])
        out = [value.detach(), jacobian.detach() * at[BY_KAPPA], jacobian.detach() * at[BY_NU]]
        if curved:
            slopes = torch.autograd.grad(value.sum(), variables, create_graph=True)
            out += [slope.detach() for slope in slopes]
            for i, slope in enumerate(slopes):
                out += torch.autograd.grad(slope.sum(), variables[: i + 1], retain_graph=True)
    return torch.stack(out), w.detach()


@lru_cache(maxsize=16)
def _components(size: int, nu: float, kappa: float) -> _Components:
    if math.isinf(nu):
        return _heat_components(size, kappa)
    group = characters(size)
    on = group_grid(size, steps_per_octave(nu + size * (size - 1) / 4))
    weight = torch.stack(weights(on, nu, kappa))  # (3, times)
    u = torch.exp(on.log_u[on.visible])
    even = weight[:, u >= group.last_time].sum(-1, keepdim=True)
    late: list[tuple[Tensor, Tensor]] = []
    for start, kept in late_groups(u, weight[0], first=BORDER_TIME, last=group.last_time):
        rows = group.rows(u[kept], group.levels(start))
        late.append((rows, weight[:, kept] / group.peak(rows)))
    return _Components(early_table(flat_heat().panels, weight[:, u < BORDER_TIME], on.heat), late, even)


def _heat_components(size: int, kappa: float) -> _Components:
    """Of the SE kernel: one time."""
    group, u = characters(size), kappa**2 / 2
    time = torch.tensor([u], dtype=torch.float64)
    heat = flat_heat().at(time)
    table = torch.cat([heat.h, -heat.q, heat.q2, kappa * flat_heat().time_derivative(heat), torch.zeros_like(heat.h)])
    late: list[tuple[Tensor, Tensor]] = []
    if BORDER_TIME <= u < group.last_time:
        late = [_heat_and_derivative(group, time, kappa)]
    is_early, is_even = float(u < BORDER_TIME), float(u >= group.last_time)
    even = torch.tensor([[is_even], [0], [0]], dtype=torch.float64)
    return _Components(flat_heat().panels.coefficients(is_early * table), late, even)


def _heat_and_derivative(group: Characters, time: Float[Tensor, " 1"], kappa: float) -> tuple[Tensor, Tensor]:
    """The derivative of a determinant is the sum of those with one row derived: they are added as if times."""
    count = group.levels(float(time))
    rows, slopes = group.rows(time, count), group.slopes(time, count)
    mask = torch.eye(group.planes, dtype=torch.bool)[:, :, None]
    together = torch.cat([rows, torch.where(mask, slopes, rows)])  # (1 + k, k, levels)
    peak = group.peak(together)
    weight = torch.zeros(3, len(together), dtype=torch.float64)
    weight[0, 0] = 1 / peak[0]
    weight[1, 0] = -kappa * peak[1:].sum() / peak[0] ** 2
    weight[1, 1:] = kappa / peak[0]
    return together, weight


@lru_cache(maxsize=8)
def group_grid(size: int, steps: int) -> Grid:
    """The times of SO(size); the heat kernels are those of the early times, in |theta|^2 / 2 and without J."""
    log_u, first = grid_times(steps)
    u = torch.exp(log_u)
    dim = size * (size - 1) // 2
    log_peak = characters(size).log_peak(u) + dim / 2 * log_u
    early = u[first:][u[first:] < BORDER_TIME]
    return Grid(log_u, slice(first, None), log_peak, gap=0.0, is_compact=True, heat=flat_heat().at(early))
