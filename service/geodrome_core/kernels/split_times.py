"""Mixtures of heat kernels that are split in time.

Before the border all heat kernels are functions of one variable, and one table holds them together; after it each is a
sum of few terms, as many as the first time of its group needs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.kernels.panels import Panels
from geodrome_core.kernels.short_time import Heat

NEGLIGIBLE = 1e-18
"""Heat times of smaller weight are left out."""


def early_table(panels: Panels, weight: Float[Tensor, "3 t"], heat: Heat) -> Float[Tensor, "k 5"]:
    """A table with the columns of a profile; the lines of ``weight`` are weights and their derivatives in kappa, nu."""
    value, by_kappa, by_nu = weight
    rows = [value @ heat.h, -value @ heat.q, value @ heat.q2, by_kappa @ heat.h, by_nu @ heat.h]
    return panels.coefficients(torch.stack(rows))


def late_groups(
    u: Float[Tensor, " t"], weight: Float[Tensor, " t"], *, first: float, last: float
) -> Iterator[tuple[float, Bool[Tensor, " t"]]]:
    """Times from ``first`` to ``last``, two octaves at once: their lower end, and which of the ``u`` count."""
    while first < last:
        kept = (u >= first) & (u < min(4 * first, last)) & (weight > NEGLIGIBLE)
        if bool(kept.any()):
            yield first, kept
        first *= 4


def make_exact(
    panels: Panels, w: Float[Tensor, "*b"], value: Float[Tensor, "*b"], *derivatives: Float[Tensor, "*b"]
) -> None:
    """Corrects a kernel, and its derivatives in kappa and nu, in place where ``w`` lies below the first panel.

    At coincident points they are 1 and 0; between them and the panel they have the shape of the most cusped kernel.
    """
    below = w < panels.smallest
    fade = torch.sqrt(w[below].clamp_min(0) / panels.smallest)
    value[below] = 1 - (1 - value[below]) * fade
    for derivative in derivatives:
        derivative[below] *= fade
