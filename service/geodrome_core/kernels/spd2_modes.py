"""The heat kernels of SPD(2), by those of the hyperbolic plane.

SPD(2) with the affine-invariant metric is isometric to R x H^2 with the hyperbolic metric doubled:

    distance^2 = s + 2 r^2,     h_u(X, Y) = exp(-s / 4u) h^{H2}_{u/2}(r),

    s = (log det X - log det Y)^2 / 2,     cosh r = tr(X^-1 Y) / (2 sqrt(det(X^-1 Y))).
"""

from __future__ import annotations

from functools import lru_cache

import torch

from geodrome_core.kernels.abel import plane_integral
from geodrome_core.kernels.heat_modes import HeatModes, node_times, peak_coefficients, reduced
from geodrome_core.kernels.shape import ShapePanels
from geodrome_core.kernels.shape_tables import fit

PANELS = 120
"""Up to r = 60, where every heat kernel is below 1e-11."""

NODES = 12
"""Of each panel; they leave 1e-15."""

MODES = 14
"""They leave 1e-13 of the bracket, the precision of the interpolation in time."""

GAP, DECAY = 0.125, 0.5


@lru_cache
def spd2_modes() -> HeatModes:
    """Heat kernels of SPD(2), computed at first use."""
    panels = ShapePanels([[NODES]] * PANELS, is_planar=False)
    shape = (NODES, 1)
    w = torch.cat([panels.nodes(panel, shape)[0].flatten() for panel in range(PANELS)])
    points = torch.cat([torch.zeros(1, dtype=torch.float64), w])
    integrals = torch.stack([plane_integral(points, float(u) / 2) for u in node_times()])
    functions, amplitude = reduced(integrals[:, 1:] / integrals[:, :1], MODES)
    r = 2 * torch.asinh(torch.sqrt(w / 2))
    values = torch.cat([functions, (2 * r**2 / w)[:, None], torch.zeros(len(w), 1, dtype=torch.float64)], -1).unflatten(
        0, (PANELS, *shape)
    )
    table = torch.cat([fit(panels, panel, values[panel]) for panel in range(PANELS)])
    return HeatModes(2, GAP, DECAY, panels, table, amplitude, peak_coefficients(torch.log(integrals[:, 0]), DECAY))
