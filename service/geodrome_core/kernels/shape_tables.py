"""Tables on shape panels: from values at nodes, and of derivatives in m and delta."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.chebyshev import chebyshev, chebyshev_nodes
from geodrome_core.kernels.shape import FIRST, THIN, WIDTH, ShapePanels


def fit(panels: ShapePanels, panel: int, values: Float[Tensor, "nx nz c"]) -> Float[Tensor, "k c"]:
    """Rows of the table for one panel, from values at its nodes."""
    shape = (values.shape[0], values.shape[1])
    basis = _basis(panels, panel, shape)
    flat = values.flatten(0, 1)
    if panel == 0 and panels.is_planar:
        # The nodes fill a part of the square only: a least-squares problem.
        return torch.linalg.lstsq(basis, flat, driver="gelsd").solution
    # Everywhere else the polynomials are orthogonal on the nodes.
    return basis.mT @ flat / (basis**2).sum(0)[:, None]


def with_derivatives(panels: ShapePanels, table: Float[Tensor, "k c"]) -> Float[Tensor, "k o c"]:
    """The table and those of its derivatives: in m and mm; or in m, delta, mm, m delta, delta delta."""
    parts = []
    for panel in range(panels.count):
        own = table[panels.rows[panel]]
        along, across = _derivative_matrices(panels, panel)
        by_x, by_z = along @ own, across @ own
        second = along @ by_x, along @ by_z, across @ by_z
        if panel == 0:
            by_m, by_delta = 2 / panels.first_m, 2 / panels.first_delta
            firsts, seconds = [by_m * by_x, by_delta * by_z], [by_m**2, by_m * by_delta, by_delta**2]
            orders = [own, *firsts, *(scale * part for scale, part in zip(seconds, second, strict=True))]
        else:
            orders = [own, *_chained(panels, panel, by_x, by_z, *second)]
        kept = orders if panels.is_planar else [orders[0], orders[1], orders[3]]
        parts.append(torch.stack(kept, 1))
    return torch.cat(parts)


def _chained(panels: ShapePanels, panel: int, *derivatives: Float[Tensor, "k c"]) -> list[Float[Tensor, "k c"]]:
    """Derivatives in m, delta, mm, m delta, delta delta from those in x, z, xx, xz, zz, by the chain rule at nodes."""
    counts = panels.degrees[panel]
    shape = (max(counts) + 2, len(counts) + 2 if panels.is_planar else 1)
    basis = _basis(panels, panel, shape)
    at_x, at_z, at_xx, at_xz, at_zz = (basis @ part for part in derivatives)  # (nodes, c)
    x_m, x_mm, z_m, z_d, z_mm, z_md, z_dd = (part.flatten()[:, None] for part in _coordinate_derivatives(panels, panel, shape))
    found = [
        at_x * x_m + at_z * z_m,
        at_z * z_d,
        at_xx * x_m**2 + 2 * at_xz * x_m * z_m + at_zz * z_m**2 + at_x * x_mm + at_z * z_mm,
        at_xz * x_m * z_d + at_zz * z_m * z_d + at_z * z_md,
        at_zz * z_d**2 + at_z * z_dd,
    ]
    return [fit(panels, panel, values.unflatten(0, shape)) for values in found]


def _basis(panels: ShapePanels, panel: int, shape: tuple[int, int]) -> Float[Tensor, "n k"]:
    """The polynomials of a panel at its nodes."""
    counts = panels.degrees[panel]
    nx, nz = shape
    x = chebyshev_nodes(nx)[:, None].expand(nx, nz)
    z = chebyshev_nodes(nz).expand(nx, nz)
    if panel == 0 and panels.is_planar:
        _, delta = panels.nodes(0, shape)
        z = 2 * delta / panels.first_delta - 1
    along, across = chebyshev(x.flatten(), max(counts)), chebyshev(z.flatten(), len(counts))
    return panels.basis(panel, along, across).mT


def _derivative_matrices(panels: ShapePanels, panel: int) -> tuple[Float[Tensor, "k k"], Float[Tensor, "k k"]]:
    """From coefficients of a function to those of its derivatives in x and in z: T_n' = 2 n (T_(n-1) + T_(n-3) + …)."""
    pairs = [(i, j) for j, count in enumerate(panels.degrees[panel]) for i in range(count)]
    position = {pair: row for row, pair in enumerate(pairs)}
    along, across = (torch.zeros(len(pairs), len(pairs), dtype=torch.float64) for _ in range(2))
    for (i, j), column in position.items():
        for lower in range(i - 1, -1, -2):
            along[position[lower, j], column] = 2 * i if lower else i
        for lower in range(j - 1, -1, -2):
            across[position[i, lower], column] = 2 * j if lower else j
    return along, across


def _coordinate_derivatives(
    panels: ShapePanels, panel: int, shape: tuple[int, int]
) -> list[Float[Tensor, "nx nz"]]:
    """Derivatives of the coordinates at the nodes: x in m, mm; z in m, delta, mm, m delta, delta delta."""
    m, delta = (part.clone().requires_grad_() for part in panels.nodes(panel, shape))
    x, z = panels.coordinates(panel, m, delta)

    def gradient(of: Tensor, by: Tensor) -> Tensor:
        (found,) = torch.autograd.grad(of.sum(), by, create_graph=True, materialize_grads=True)
        return found

    x_m, z_m, z_d = gradient(x, m), gradient(z, m), gradient(z, delta)
    second = gradient(z_m, m), gradient(z_m, delta), gradient(z_d, delta)
    return [part.detach() for part in (x_m, gradient(x_m, m), z_m, z_d, *second)]
