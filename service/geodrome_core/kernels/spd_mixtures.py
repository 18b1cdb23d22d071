"""Of one nu and kappa on SPD(2) or SPD(3): the flat mixtures M_0 and M_r, of which few are needed.

    M_0(y) = sum over j of w_j exp(-y / 4 u_j),    M_r(y) = sum over j of w_j a_r(u_j) exp(-y / 4 u_j)

are mixtures of the flat heat kernels, which are tabulated for a lengthscale of 1: in x = y / 2 kappa^2, at times
u / kappa^2. Lengthscales that see little of the curvature need few combinations of the M_r; a singular value
decomposition finds them.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.kernels.heat import flat_heat
from geodrome_core.kernels.heat_modes import HeatModes
from geodrome_core.kernels.matern import Definition, Times, grid, steps_per_octave, weights
from geodrome_core.kernels.panels import NODES

NEGLIGIBLE = 5e-12
"""Singular values of the M_r that are left out; the f_r, orthonormal on thousands of nodes, are below 0.2."""

NEGLIGIBLE_WEIGHT = 1e-19
"""Of a heat time."""

VALUE, BY_X, BY_XX, BY_KAPPA, BY_NU = range(5)
"""Tables of a mixture: value, derivatives in x, and in kappa and nu at the same y."""


def rotated_mixtures(
    modes: HeatModes, nu: float, kappa: float, definition: Definition
) -> tuple[Float[Tensor, "k 5 c"], Float[Tensor, "modes r"]]:
    """Tables of M_0 and of the rotated M_r, and the rotation of the f_r that belongs to them."""
    mixtures = _mixtures(modes, nu, kappa, definition)
    panels = flat_heat().panels
    # One knot of each panel tells which combinations of the f_r are needed.
    knots = slice(NODES // 2, None, NODES)
    x = panels.knots[knots]
    sizes = [torch.ones_like(x), x, x**2, torch.full_like(x, kappa), torch.ones_like(x)]
    samples = [
        size[:, None] * (rows[:, knots].mT @ weight[:, 1:])
        for size, (weight, rows) in zip(sizes, mixtures, strict=True)
    ]
    _, singular, right = torch.linalg.svd(torch.cat(samples), full_matrices=False)
    rotation = right[singular > NEGLIGIBLE].mT  # (modes, r)
    values = [torch.cat([weight[:, :1], weight[:, 1:] @ rotation], -1).mT @ rows for weight, rows in mixtures]
    flat = panels.coefficients(torch.cat(values)).unflatten(-1, (len(values), -1))
    return flat, rotation


def mixture_table(
    modes: HeatModes, nu: float, kappa: float, definition: Definition, panels: Int[Tensor, " u"]
) -> Float[Tensor, "k c"]:
    """M_0 and all M_r, then their derivatives in kappa and in nu: a table on some of the flat panels, in y / 2.

    Made anew for each lengthscale of a fit: of the times, only the weights depend on it.
    """
    flat = flat_heat()
    columns = flat.panels.columns(panels)
    if math.isinf(nu):
        u = torch.tensor([kappa**2 / 2], dtype=torch.float64)
        heat = flat.at(u)
        one = torch.ones(1, 1, dtype=torch.float64)
        factors, slopes = torch.cat([one, modes.amplitudes(u)], -1), torch.cat([0 * one, modes.slopes(u)], -1)
        by_kappa = kappa * (slopes.mT @ heat.h + factors.mT @ flat.time_derivative(heat))
        rows = [factors.mT @ heat.h, by_kappa, torch.zeros_like(by_kappa)]
        return flat.panels.coefficients(torch.cat(rows)[:, columns], panels)
    times, heats, factors = _fixed_times(modes, steps_per_octave(nu if definition == "paper" else nu + modes.dim / 2))
    found = weights(times, nu, kappa, definition)
    kept = found[0] > NEGLIGIBLE_WEIGHT
    factors, heats = factors[kept], heats.index_select(1, columns)[kept]
    rows = [(part[kept, None] * factors).mT @ heats for part in found]
    return flat.panels.coefficients(torch.cat(rows), panels)


@lru_cache(maxsize=8)
def _fixed_times(modes: HeatModes, steps: int) -> tuple[Times, Float[Tensor, "t k"], Float[Tensor, "t r"]]:
    """Times that serve every lengthscale, the flat heat kernels there, and the factors 1 and a_r."""
    on = grid(flat_heat(), steps)
    u = torch.exp(on.log_u)
    times = Times(on.log_u, on.visible, modes.log_peak(u), modes.gap, is_compact=False)
    amplitudes = modes.amplitudes(u[on.visible])
    return times, on.heat.h, torch.cat([torch.ones_like(amplitudes[:, :1]), amplitudes], -1)


def _mixtures(
    modes: HeatModes, nu: float, kappa: float, definition: Definition
) -> list[tuple[Float[Tensor, "t r"], Float[Tensor, "t k"]]]:
    """For each table: the weights of 1 and of the a_r at some times, and the flat heat kernels there."""
    flat = flat_heat()
    one, zero = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64)
    if math.isinf(nu):
        heat = flat.at(torch.tensor([0.5], dtype=torch.float64))
        u = torch.tensor([kappa**2 / 2], dtype=torch.float64)
        weight = torch.cat([one, modes.amplitudes(u)], -1)
        slope = torch.cat([zero, modes.slopes(u)], -1)
        by_kappa = torch.cat([kappa * slope, 2 / kappa * weight])
        both = torch.cat([heat.h, flat.panels.knots * heat.h])
        return [(weight, heat.h), (weight, -heat.q), (weight, heat.q2), (by_kappa, both), (0 * weight, heat.h)]
    on = grid(flat, steps_per_octave(nu if definition == "paper" else nu + modes.dim / 2))
    log_u = on.log_u + 2 * math.log(kappa)
    times = Times(log_u, on.visible, modes.log_peak(torch.exp(log_u)), modes.gap, is_compact=False)
    found = weights(times, nu, kappa, definition)
    kept = found[0] > NEGLIGIBLE_WEIGHT
    amplitudes = modes.amplitudes(torch.exp(log_u[on.visible][kept]))
    factors = torch.cat([one.expand(len(amplitudes), 1), amplitudes], -1)
    weight, by_kappa, by_nu = (part[kept, None] * factors for part in found)
    h, q, q2 = on.heat.h[kept], on.heat.q[kept], on.heat.q2[kept]
    return [(weight, h), (weight, -q), (weight, q2), (by_kappa, h), (by_nu, h)]
