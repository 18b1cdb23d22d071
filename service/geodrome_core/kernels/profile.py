"""Matérn kernels of one variable: a table for each smoothness and lengthscale, looked up."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.expansion import Expansion, composed
from geodrome_core.kernels.heat import HeatKernel
from geodrome_core.kernels.matern import Definition, grid, grid_steps, weights
from geodrome_core.kernels.of_scales import OfScales, Scaled
from geodrome_core.kernels.split_times import make_exact

VALUE, FIRST, SECOND, BY_KAPPA, BY_NU = range(5)
"""Columns of a profile's table."""


@lru_cache(maxsize=64)
def profile_table(heat: HeatKernel, nu: float, kappa: float, definition: Definition) -> Float[Tensor, "k c"]:
    """The kernel's table: value, first and second derivative in w, derivatives in kappa and nu (zero for SE)."""
    if math.isinf(nu):
        at = heat.at(torch.tensor([kappa**2 / 2], dtype=torch.float64))
        rows = torch.cat([at.h, -at.q, at.q2, kappa * heat.time_derivative(at), torch.zeros_like(at.h)])
    else:
        on = grid(heat, grid_steps(heat, nu, definition))
        weight, by_kappa, by_nu = weights(on, nu, kappa, definition)
        rows = torch.stack(
            [weight @ on.heat.h, -weight @ on.heat.q, weight @ on.heat.q2, by_kappa @ on.heat.h, by_nu @ on.heat.h]
        )
    return heat.panels.coefficients(rows)


def is_cusped(nu: float) -> bool:
    """Whether the slope in w, half the squared distance, is infinite where points coincide."""
    return nu <= 1


def profile(
    heat: HeatKernel, nu: Tensor, kappa: Tensor, w: Float[Tensor, "*b"], *, definition: Definition = "paper"
) -> Float[Tensor, "*b"]:
    """Matérn kernel of one lengthscale at ``w``, differentiable twice in ``w``, once in ``kappa`` and ``nu``.

    Args:
        heat: The space's heat kernels.
        nu: Smoothness, a tensor of one number; infinite for the SE kernel.
        kappa: Lengthscale, a tensor of one number.
        w: The space's variable, at least 0.
        definition: Which kernel is meant on non-compact spaces.
    """
    panels = heat.panels
    variables = {FIRST: w, SECOND: w, BY_KAPPA: kappa, BY_NU: nu}
    with torch.no_grad():
        bare = w.detach()
        table = profile_table(heat, nu.item(), kappa.item(), definition)
        columns = [VALUE, *(column for column, variable in variables.items() if variable.requires_grad)]
        found = panels.evaluate_all(table[:, columns].contiguous(), bare)
        at = dict(zip(columns, found.unbind(-1), strict=True))
        make_exact(panels, bare, at[VALUE], *(at[column] for column in (BY_KAPPA, BY_NU) if column in at))
        if FIRST in at and is_cusped(nu.item()):
            # The distance has no gradient where points coincide, to which rounding would lend one.
            for column in (FIRST, SECOND):
                at[column] = torch.where(bare < panels.smallest, 0.0, at[column])
    first = [(at[column], variables[column]) for column in (FIRST, BY_KAPPA, BY_NU) if column in at]
    return with_derivatives(at[VALUE], first, [(at[SECOND], w, w)] if SECOND in at else [])


def profile_around(
    heat: HeatKernel, nu: Tensor, kappa: Tensor, variable: Expansion, *, definition: Definition = "paper"
) -> Expansion:
    """The kernel to second order, where ``variable`` is the expansion of w; other arguments as for ``profile``."""
    panels, smoothness = heat.panels, nu.item()
    table = profile_table(heat, smoothness, kappa.item(), definition)
    w = variable.value
    with torch.no_grad():
        value, first, second = panels.evaluate_all(table[:, [VALUE, FIRST, SECOND]].contiguous(), w).unbind(-1)
        value, first = value.contiguous(), first.contiguous()
        make_exact(panels, w, value)
        if is_cusped(smoothness):
            first, second = (torch.where(w < panels.smallest, 0.0, part) for part in (first, second))
    return composed(value, [first], [[second]], [variable])


def profile_of_scales(heat: HeatKernel, w: Float[Tensor, " p"], definition: Definition) -> OfScales:
    """The kernel at fixed ``w``, as a function of nu and one lengthscale."""
    panels = heat.panels
    located = panels.at(w)

    def at(nu: float, kappa: Tensor) -> Scaled:
        table = profile_table(heat, nu, kappa.item(), definition)
        columns = located.evaluate(table[:, [VALUE, BY_KAPPA, BY_NU]].contiguous()).mT.contiguous()
        value, by_kappa, by_nu = columns
        make_exact(panels, w, value, by_kappa, by_nu)
        return Scaled(value, by_kappa.unsqueeze(0), by_nu)

    return at


def profile_and_slopes(
    heat: HeatKernel, nu: float, kappa: float, w: Float[Tensor, " p"], *, definition: Definition
) -> Float[Tensor, "3 p"]:
    """The kernel at ``w``, and its derivatives in w and nu."""
    table = profile_table(heat, nu, kappa, definition)
    found = heat.panels.evaluate(table[:, [VALUE, FIRST, BY_NU]].contiguous(), w).mT.contiguous()
    make_exact(heat.panels, w, found[0], found[2])
    return found
