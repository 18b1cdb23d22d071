"""The shipped table of SPD(3)'s heat kernels: loaded at first use, made by ``python -m geodrome_core.kernels.spd3_table``.

Making it takes some ten minutes of quadrature; it has no random part.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.heat_modes import HeatModes, node_times, peak_coefficients, reduced
from geodrome_core.kernels.chebyshev import chebyshev_transform
from geodrome_core.kernels.shape import Degrees, ShapePanels
from geodrome_core.kernels.shape_tables import fit
from geodrome_core.kernels.spd3_heat import integrals, log_eigenvalues

FILE = Path(__file__).with_name("spd3_table.npz")

PANELS = 40
"""Up to log(1 + v) = 19.75, where log-eigenvalues differ by 60 and every heat kernel is below 1e-10."""

MODES = 13
"""They leave 2e-13 of the bracket, the precision of the interpolation in time."""

NEGLIGIBLE = 1e-14
"""Polynomials that change the kernel by less are left out."""

GAP, DECAY = 0.5, 1.5


@lru_cache
def spd3_modes() -> HeatModes:
    """Heat kernels of SPD(3)."""
    with np.load(FILE) as file:
        degrees = [[int(count) for count in counts if count] for counts in file["degrees"]]
        table, amplitude, peak = (torch.from_numpy(file[name]) for name in ("table", "amplitude", "peak"))
    return HeatModes(3, GAP, DECAY, ShapePanels(degrees, is_planar=True), table, amplitude, peak)


def main() -> None:
    """Make the table anew."""
    full = [_full_degrees(panel) for panel in range(PANELS)]
    panels = ShapePanels(full, is_planar=True)
    shapes = [_node_shape(panel) for panel in range(PANELS)]
    origin = integrals(torch.zeros(1, 3, dtype=torch.float64), node_times())
    quotients, ratios = [], []
    for panel, shape in enumerate(shapes):
        m, delta = (part.flatten() for part in panels.nodes(panel, shape))
        eta = log_eigenvalues(m, torch.sqrt(delta))
        quotients.append(integrals(eta, node_times()) / origin)
        ratios.append((eta**2).sum(-1) / m)
    save(panels, shapes, torch.cat(quotients, 1), torch.cat(ratios), torch.log(origin[:, 0]))


def save(
    panels: ShapePanels,
    shapes: list[tuple[int, int]],
    quotient: Float[Tensor, "q n"],
    ratio: Float[Tensor, " n"],
    log_integral: Float[Tensor, " q"],
) -> None:
    """Reduce what was found at the nodes, and write the file."""
    functions, amplitude = reduced(quotient, MODES)
    weights = torch.linalg.vector_norm(amplitude, dim=0)
    degrees, rows = [], []
    start = 0
    for panel, shape in enumerate(shapes):
        nodes = slice(start, start + shape[0] * shape[1])
        start = nodes.stop
        values = torch.cat([functions[nodes], ratio[nodes, None]], -1).unflatten(0, shape)
        table = fit(panels, panel, values)
        # An error of R^2 / 4u counts as much as the kernel's value there, at most quotient exp(-1).
        scale = torch.cat([weights, quotient[:, nodes].max() / ratio[nodes].max()[None]])
        counts, kept = _significant(panels.degrees[panel], (table * scale).abs().amax(-1))
        degrees.append(counts + [0] * (MOST_DEGREES - len(counts)))
        rows.append(table[kept])
    np.savez_compressed(
        FILE,
        degrees=np.array(degrees, dtype=np.int8),
        table=torch.cat(rows).numpy(),
        amplitude=amplitude.numpy(),
        peak=peak_coefficients(log_integral, DECAY).numpy(),
    )


def _significant(counts: list[int], sizes: Float[Tensor, " k"]) -> tuple[list[int], Tensor]:
    """How many polynomials in x each T_j(z) needs, never more for a higher j; and their rows."""
    found: list[int] = []
    kept = torch.zeros(len(sizes), dtype=torch.bool)
    ends = np.cumsum(counts)
    for count, end in zip(reversed(counts), reversed(ends), strict=True):
        large = torch.nonzero(sizes[end - count : end] > NEGLIGIBLE)
        most = max(int(large[-1]) + 1 if len(large) else 0, found[0] if found else 0)
        kept[end - count : end - count + most] = True
        if most:
            found.insert(0, most)
    return found, kept


def _node_shape(panel: int) -> tuple[int, int]:
    """Nodes along and across a panel."""
    if panel == 0:
        return 16, 7
    along = 12 if panel <= 10 else 10 if panel <= 20 else 8
    return along, min(panel + 9, 17) if panel <= 12 else 16 if panel <= 20 else 12


def _full_degrees(panel: int) -> list[int]:
    """All polynomials that the nodes can tell apart; in the first panel, where they fill no square, far fewer."""
    along, across = _node_shape(panel)
    return [13, 10, 7, 4, 2] if panel == 0 else [along] * across


MOST_DEGREES = 17

if __name__ == "__main__":
    main()
