"""The shipped table of SPD(3)'s heat kernels: loaded at first use.

It is made by ``python -m geodrome_core.kernels.spd3_table``: ten minutes of quadrature, without a random part.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.heat_modes import HeatModes, node_times, peak_coefficients, reduced
from geodrome_core.kernels.shape import ShapePanels
from geodrome_core.kernels.shape_tables import basis_at_nodes, fit
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
        of_modes = fit(panels, panel, functions[nodes].unflatten(0, shape))
        of_square = fit_square(panels, panel, ratio[nodes].reshape(shape))
        table = torch.cat([of_modes, of_square], -1)
        # An error of R^2 / 4u counts as much as the kernel's value there, at most quotient exp(-1).
        scale = torch.cat([weights, (quotient[:, nodes].max() / ratio[nodes].max()).expand(2)])
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


def fit_square(panels: ShapePanels, panel: int, ratio: Float[Tensor, "nx nz"]) -> Float[Tensor, "k 2"]:
    """A and B in R^2 = m A + delta B, from R^2 / m at a panel's nodes.

    In the first panel R^2 = 2 m - m^2 / 6 - delta / 30 + …: no multiple of m, but zero where both are. Hence B, there a
    function of delta alone, and zero in the other panels.
    """
    shape = (ratio.shape[0], ratio.shape[1])
    if panel:
        by_m = fit(panels, panel, ratio.unsqueeze(-1))
        return torch.cat([by_m, torch.zeros_like(by_m)], -1)
    polynomials = basis_at_nodes(panels, panel, shape)
    m, delta = (part.flatten() for part in panels.nodes(panel, shape))
    starts = torch.tensor([0, *panels.degrees[0][:-1]]).cumsum(0)  # rows of T_0(x) T_j(z)
    design = torch.cat([polynomials, (delta / m)[:, None] * polynomials[:, starts]], -1)
    solution = torch.linalg.lstsq(design, ratio.reshape(-1, 1), driver="gelsd").solution[:, 0]
    out = torch.zeros(polynomials.shape[1], 2, dtype=torch.float64)
    out[:, 0] = solution[: len(out)]
    out[starts, 1] = solution[len(out) :]
    return out


def _significant(counts: tuple[int, ...], sizes: Float[Tensor, " k"]) -> tuple[list[int], Tensor]:
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
    if panel <= 12:
        return 12 if panel <= 10 else 10, panel + 9 if panel <= 6 else 17
    return (10, 16) if panel <= 20 else (8, 12)


def _full_degrees(panel: int) -> list[int]:
    """All polynomials that the nodes can tell apart; in the first panel, where they fill no square, far fewer."""
    along, across = _node_shape(panel)
    return [13, 10, 7, 4, 2] if panel == 0 else [along] * across


MOST_DEGREES = 17

if __name__ == "__main__":
    main()
