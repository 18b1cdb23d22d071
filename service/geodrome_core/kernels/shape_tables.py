"""Tables on shape panels: from values at nodes, and of derivatives in m and delta."""

from __future__ import annotations

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.chebyshev import chebyshev, chebyshev_nodes
from geodrome_core.kernels.shape import WIDTH, ShapePanels


def fit(panels: ShapePanels, panel: int, values: Float[Tensor, "nx nz c"]) -> Float[Tensor, "k c"]:
    """Rows of the table for one panel, from values at its nodes."""
    shape = (values.shape[0], values.shape[1])
    basis = basis_at_nodes(panels, panel, shape)
    flat = values.flatten(0, 1)
    if panel == 0 and panels.is_planar:
        # The nodes fill a part of the square only: a least-squares problem.
        return torch.linalg.lstsq(basis, flat, driver="gelsd").solution
    # Everywhere else the polynomials are orthogonal on the nodes.
    return basis.mT @ flat / (basis**2).sum(0)[:, None]


def derivative_tables(panels: ShapePanels, table: Float[Tensor, "k c"]) -> Float[Tensor, "k o c"]:
    """The table and those of its derivatives: in m and mm; or in m, delta, mm, m delta, delta delta."""
    of_panel = _planar_derivatives if panels.is_planar else _line_derivatives
    return torch.cat([of_panel(panels, panel, table[panels.rows[panel]]) for panel in range(panels.count)])


def _line_derivatives(panels: ShapePanels, panel: int, table: Float[Tensor, "k c"]) -> Float[Tensor, "k o c"]:
    along, _ = _derivative_matrices(panels.degrees[panel])
    by_x = along @ table
    by_xx = along @ by_x
    if panel == 0:
        scale = 2 / panels.first_m
        return torch.stack([table, scale * by_x, scale**2 * by_xx], 1)
    shape = (len(table) + 2, 1)
    basis = basis_at_nodes(panels, panel, shape)
    x_m = 2 / (WIDTH * (1 + panels.nodes(panel, shape)[0]))
    x_mm = -0.5 * WIDTH * x_m**2
    at_x, at_xx = ((basis @ part).unsqueeze(1) for part in (by_x, by_xx))
    found = [x_m[..., None] * at_x, x_m[..., None] ** 2 * at_xx + x_mm[..., None] * at_x]
    return torch.stack([table, *(fit(panels, panel, values) for values in found)], 1)


def _planar_derivatives(panels: ShapePanels, panel: int, table: Float[Tensor, "k c"]) -> Float[Tensor, "k o c"]:
    along, across = _derivative_matrices(panels.degrees[panel])
    by_x, by_z = along @ table, across @ table
    derivatives = [by_x, by_z, along @ by_x, along @ by_z, across @ by_z]
    if panel == 0:
        by_m, by_delta = 2 / panels.first_m, 2 / panels.first_delta
        scales = [by_m, by_delta, by_m**2, by_m * by_delta, by_delta**2]
        return torch.stack([table, *(scale * part for scale, part in zip(scales, derivatives, strict=True))], 1)
    counts = panels.degrees[panel]
    shape = (max(counts) + 2, len(counts) + 2)
    basis = basis_at_nodes(panels, panel, shape)
    x, z, xx, xz, zz = (basis @ part for part in derivatives)  # (nodes, c)
    x_m, x_mm, z_m, z_d, z_mm, z_md, z_dd = (
        part.reshape(-1, 1) for part in _coordinate_derivatives(panels, panel, shape)
    )
    chained = [
        x * x_m + z * z_m,
        z * z_d,
        xx * x_m**2 + 2 * xz * x_m * z_m + zz * z_m**2 + x * x_mm + z * z_mm,
        xz * x_m * z_d + zz * z_m * z_d + z * z_md,
        zz * z_d**2 + z * z_dd,
    ]
    return torch.stack([table, *(fit(panels, panel, values.unflatten(0, shape)) for values in chained)], 1)


def basis_at_nodes(panels: ShapePanels, panel: int, shape: tuple[int, int]) -> Float[Tensor, "n k"]:
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


@lru_cache
def _derivative_matrices(counts: tuple[int, ...]) -> tuple[Float[Tensor, "k k"], Float[Tensor, "k k"]]:
    """From coefficients of a function to those of its derivatives in x and in z: T_n' = 2 n (T_(n-1) + T_(n-3) + …)."""
    pairs = [(i, j) for j, count in enumerate(counts) for i in range(count)]
    position = {pair: row for row, pair in enumerate(pairs)}
    along, across = (torch.zeros(len(pairs), len(pairs), dtype=torch.float64) for _ in range(2))
    for (i, j), column in position.items():
        for lower in range(i - 1, -1, -2):
            along[position[lower, j], column] = 2 * i if lower else i
        for lower in range(j - 1, -1, -2):
            across[position[i, lower], column] = 2 * j if lower else j
    return along, across


def _coordinate_derivatives(panels: ShapePanels, panel: int, shape: tuple[int, int]) -> list[Float[Tensor, "nx nz"]]:
    """Derivatives of the coordinates at the nodes: x in m, mm; z in m, delta, mm, m delta, delta delta."""

    def gradient(of: Tensor, by: Tensor) -> Tensor:
        (found,) = torch.autograd.grad(of.sum(), by, create_graph=True, materialize_grads=True)
        return found

    # A kernel may be used for the first time where gradients are turned off.
    with torch.enable_grad():
        m, delta = (part.clone().requires_grad_() for part in panels.nodes(panel, shape))
        x, z = panels.coordinates(panel, m, delta)
        x_m, z_m, z_d = gradient(x, m), gradient(z, m), gradient(z, delta)
        second = gradient(z_m, m), gradient(z_m, delta), gradient(z_d, delta)
        return [part.detach() for part in (x_m, gradient(x_m, m), z_m, z_d, *second)]
