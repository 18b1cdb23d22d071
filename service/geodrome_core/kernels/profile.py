"""Matérn kernels of one variable: a table for each smoothness and lengthscale, looked up."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.heat import HeatKernel
from geodrome_core.kernels.matern import Definition, grid, grid_steps, weights
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
    first = [(at[column], variables[column]) for column in (FIRST, BY_KAPPA, BY_NU) if column in at]
    return with_derivatives(at[VALUE], first, [(at[SECOND], w, w)] if SECOND in at else [])
