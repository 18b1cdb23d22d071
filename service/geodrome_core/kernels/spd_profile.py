"""Matérn kernels of SPD(2) and SPD(3), looked up: flat mixtures in R^2 times functions of the shape.

A Matérn kernel is a mixture of the heat kernels of ``heat_modes``, with weights w_j at times u_j:

    k = sum over j of w_j h_{u_j} = M_0(y) + sum over r of M_r(y) f_r(shape),
    y = R^2 = s + m A(shape) + delta B(shape),
    M_0(y) = sum of w_j exp(-y / 4 u_j),    M_r(y) = sum of w_j a_r(u_j) exp(-y / 4 u_j).

M_0 is the flat kernel of the distance, and holds all that is singular where points coincide; the f_r vanish there. For
one nu and kappa, a rotation of the f_r leaves as few of them as the digits need: for SE one (two with the derivative in
kappa), five or six for lengthscales near 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations_with_replacement

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives_on_demand
from geodrome_core.kernels.expansion import Expansion, composed
from geodrome_core.kernels.heat import flat_heat
from geodrome_core.kernels.heat_modes import HeatModes
from geodrome_core.kernels.lookup import look_up_all
from geodrome_core.kernels.matern import Definition
from geodrome_core.kernels.of_scales import OfScales, Scaled
from geodrome_core.kernels.panels import CHUNK as PANEL_CHUNK
from geodrome_core.kernels.profile import is_cusped
from geodrome_core.kernels.spd_mixtures import BY_KAPPA, BY_NU, BY_X, BY_XX, VALUE, mixture_table, rotated_mixtures
from geodrome_core.kernels.split_times import make_exact

CHUNK = 65_536
"""Pairs looked up at once."""


def spd_profile(
    modes: HeatModes,
    nu: Tensor,
    kappa: Tensor,
    pairs: tuple[Float[Tensor, "*b"], Float[Tensor, "*b"], Float[Tensor, "*b"]],
    *,
    definition: Definition = "paper",
) -> Float[Tensor, "*b"]:
    """Matérn kernel of pairs of matrices, differentiable twice in what is known of them, once in ``kappa`` and ``nu``.

    Args:
        modes: The space's heat kernels.
        nu: Smoothness, a tensor of one number; infinite for the SE kernel.
        kappa: Lengthscale, a tensor of one number.
        pairs: Their s, m and d, see ``spd_pairs``.
        definition: Which kernel is meant.
    """
    s, m, d = pairs
    variables = [s, m, d * d] if modes.panels.is_planar else [s, m]
    scales = {column: scale for column, scale in ((BY_KAPPA, kappa), (BY_NU, nu)) if scale.requires_grad}
    is_curved = any(variable.requires_grad for variable in variables)
    table = _table(modes, nu.item(), kappa.item(), definition)
    bare = [variable.detach() for variable in variables]
    with torch.no_grad():
        found = look_up_all(partial(table.first, [VALUE, *scales], is_curved=is_curved), *bare)

    def second() -> list[list[Tensor]]:
        with torch.no_grad():
            entries = look_up_all(table.jet, *bare)[1 + len(bare) :]
        positions = dict(zip(combinations_with_replacement(range(len(bare)), 2), entries, strict=True))
        return [[positions[min(i, j), max(i, j)] for j in range(len(bare))] for i in range(len(bare))]

    in_scales, in_variables = found[1 : 1 + len(scales)], found[1 + len(scales) :]
    first = [*zip(in_variables, variables, strict=False), *zip(in_scales, scales.values(), strict=True)]
    return with_derivatives_on_demand(found[0], first, second if is_curved else list)


def spd_around(
    modes: HeatModes, nu: Tensor, kappa: Tensor, variables: list[Expansion], *, definition: Definition = "paper"
) -> Expansion:
    """The kernel to second order, where ``variables`` are the expansions of s, m and, on SPD(3), d."""
    table = _table(modes, nu.item(), kappa.item(), definition)
    bare = [v.value for v in variables]
    if modes.panels.is_planar:
        bare[2] = bare[2] ** 2
    with torch.no_grad():
        value, *rest = look_up_all(table.jet, *bare).unbind()
    first = rest[: len(bare)]
    positions = dict(zip(combinations_with_replacement(range(len(bare)), 2), rest[len(bare) :], strict=True))
    if modes.panels.is_planar:
        # From derivatives in d^2 to those in d.
        d = variables[2].value
        positions[2, 2] = 2 * first[2] + 4 * d**2 * positions[2, 2]
        positions[0, 2], positions[1, 2] = 2 * d * positions[0, 2], 2 * d * positions[1, 2]
        first[2] = 2 * d * first[2]
    count = len(variables)
    second = [[positions[min(i, j), max(i, j)] for j in range(count)] for i in range(count)]
    return composed(value, first, second, variables)


def spd_of_scales(
    modes: HeatModes,
    pairs: tuple[Float[Tensor, " p"], Float[Tensor, " p"], Float[Tensor, " p"]],
    definition: Definition,
) -> OfScales:
    """The kernel of fixed pairs, given their s, m and d, as a function of nu and the lengthscale."""
    s, m, d = pairs
    looked_up = modes.panels.in_order(modes.table.mT.contiguous(), m, d * d)
    shape, (a, b) = looked_up[:-2].mT.contiguous(), looked_up[-2:]
    half_square = 0.5 * (s + m * a + d * d * b)
    panels = flat_heat().panels
    located = panels.at(half_square)

    def at(nu: float, kappa: Tensor) -> Scaled:
        table = mixture_table(modes, nu, kappa.item(), definition, located.panels)  # (k, 3 (1 + modes))
        parts = [
            found[..., 0] + (found[..., 1:] @ own.unsqueeze(-1)).squeeze(-1)  # (p, 3)
            for found, own in zip(
                (flat.unflatten(-1, (3, -1)) for flat in located.in_chunks(table)),
                shape.split(PANEL_CHUNK),
                strict=True,
            )
        ]
        value, by_kappa, by_nu = torch.cat(parts).mT.contiguous()
        make_exact(panels, half_square, value, by_kappa, by_nu)
        return Scaled(value, by_kappa.unsqueeze(0), by_nu)

    return at


@dataclass(frozen=True)
class _Table:
    """The kernel of one nu and kappa.

    Attributes:
        modes: Supplies the panels of the shape.
        unit: 2 kappa^2.
        is_cusped: Whether the slope in y is infinite where points coincide: nu is at most 1.
        flat: (k, 5, 1 + r) of M_0 and the M_r, on the panels of x.
        shape: (o, r + 2, k) of the f_r, A and B with their derivatives, on the panels of the shape.
    """

    modes: HeatModes
    unit: float
    is_cusped: bool
    flat: Tensor
    shape: Tensor

    def first(self, columns: list[int], *variables: Float[Tensor, " p"], is_curved: bool) -> Float[Tensor, "c p"]:
        """Some columns; and if ``is_curved`` the gradient."""
        orders = len(variables) if is_curved else 1
        out = variables[0].new_empty(len(columns) + (orders if is_curved else 0), len(variables[0]))
        for positions, at in self._factors([*columns, BY_X] if is_curved else columns, orders, *variables):
            values = [at.product(index) for index in range(len(columns))]
            make_exact(flat_heat().panels, at.x, *values)
            if is_curved:
                by_y = at.product(-1) / self.unit
                if self.is_cusped:
                    # The distance has no gradient there, to which rounding would lend one.
                    by_y[at.x < flat_heat().panels.smallest] = 0
                values += [by_y, *(at.square[i] * by_y + at.product(0, i) for i in range(1, orders))]
            for row, value in zip(out, values, strict=True):
                row[positions] = value
        return out

    def jet(self, *variables: Float[Tensor, " p"]) -> Float[Tensor, "c p"]:
        """Value, gradient and the upper triangle of the Hessian."""
        count = len(variables)
        orders = 6 if count == 3 else 3
        out = variables[0].new_empty(1 + count + orders, len(variables[0]))
        for positions, at in self._factors([VALUE, BY_X, BY_XX], orders, *variables):
            k = at.product(0)
            make_exact(flat_heat().panels, at.x, k)
            by_y, by_yy = at.product(1) / self.unit, at.product(2) / self.unit**2
            if self.is_cusped:
                by_y[at.x < flat_heat().panels.smallest] = 0
            slopes = [at.product(1, i) / self.unit for i in range(1, count)]
            values = [k, by_y, *(at.square[i] * by_y + at.product(0, i) for i in range(1, count))]
            values += [by_yy, *(by_yy * at.square[i] + slopes[i - 1] for i in range(1, count))]
            for order, (i, j) in enumerate(combinations_with_replacement(range(1, count), 2), start=count):
                mixed = at.square[i] * slopes[j - 1] + at.square[j] * slopes[i - 1]
                values.append(
                    by_yy * at.square[i] * at.square[j] + mixed + by_y * at.square[order] + at.product(0, order)
                )
            for row, value in zip(out, values, strict=True):
                row[positions] = value
        return out

    def _factors(
        self, tables: list[int], orders: int, *variables: Float[Tensor, " p"]
    ) -> Iterator[tuple[Tensor, _Factors]]:
        """Positions of some pairs, and what is looked up for them."""
        flat = self.flat[:, tables].flatten(1)
        shape = self.shape[:orders].flatten(0, 1)
        panels = self.modes.panels
        start = 0
        for chunk in zip(*(variable.split(CHUNK) for variable in variables), strict=True):
            shape_of_pair = chunk[1], chunk[2] if panels.is_planar else torch.zeros_like(chunk[1])
            order, looked_up = panels.evaluate(shape, *shape_of_pair)
            looked_up = looked_up.unflatten(0, (orders, -1))
            m, delta = (part[order] for part in shape_of_pair)
            square = _square(m, delta, looked_up[:, -2], looked_up[:, -1], is_planar=panels.is_planar)
            x = (chunk[0][order] + square[0]) / self.unit
            mixtures = flat_heat().panels.evaluate(flat, x).mT.contiguous().unflatten(0, (len(tables), -1))
            yield order + start, _Factors(x, square, mixtures, looked_up[:, :-2])
            start += len(order)


def _square(
    m: Float[Tensor, " p"],
    delta: Float[Tensor, " p"],
    a: Float[Tensor, "o p"],
    b: Float[Tensor, "o p"],
    *,
    is_planar: bool,
) -> Float[Tensor, "o p"]:
    """The shape's part of R^2, m A + delta B, and as many derivatives as A and B have."""
    out = m * a + delta * b
    if len(out) > 1:
        out[1] += a[0]
    if len(out) > 2:
        out[2] += b[0] if is_planar else 2 * a[1]
    if len(out) > 3:
        out[3] += 2 * a[1]
        out[4] += a[2] + b[1]
        out[5] += 2 * b[2]
    return out


@dataclass(frozen=True)
class _Factors:
    """What is looked up for some pairs.

    Attributes:
        x: (p,) y / 2 kappa^2.
        square: (o, p) R^2 and its derivatives in m and delta.
        flat: (tables, 1 + r, p) of the M.
        modes: (o, r, p) of the f_r with their derivatives.
    """

    x: Tensor
    square: Tensor
    flat: Tensor
    modes: Tensor

    def product(self, table: int, order: int = 0) -> Float[Tensor, " p"]:
        """Sum over r of M_r f_r, some derivatives of them; with M_0 times 1."""
        out = (self.flat[table, 1:] * self.modes[order]).sum(0)
        return out if order else out + self.flat[table, 0]


@lru_cache(maxsize=16)
def _table(modes: HeatModes, nu: float, kappa: float, definition: Definition) -> _Table:
    flat, rotation = rotated_mixtures(modes, nu, kappa, definition)
    modal, square = modes.derivatives.split([len(rotation), 2], dim=-1)
    shape = torch.cat([modal @ rotation, square], -1).movedim(0, -1).contiguous()
    return _Table(modes, 2 * kappa**2, is_cusped(nu), flat, shape)
