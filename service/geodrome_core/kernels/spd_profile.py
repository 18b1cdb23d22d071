"""Matérn kernels of SPD(2) and SPD(3), looked up: flat mixtures in R^2 times functions of the shape.

A Matérn kernel is a mixture of the heat kernels of ``heat_modes``, with weights w_j at times u_j:

    k = sum over j of w_j h_{u_j} = M_0(y) + sum over r of M_r(y) f_r(shape),    y = R^2 = s + m A(shape) + delta B(shape),
    M_0(y) = sum of w_j exp(-y / 4 u_j),    M_r(y) = sum of w_j a_r(u_j) exp(-y / 4 u_j).

M_0 is the flat kernel of the distance, and holds all that is singular where points coincide; the f_r vanish there. For
one nu and kappa, a rotation of the f_r leaves as few of them as the digits need: for SE one (two with the derivative in
kappa), five or six for lengthscales near 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations_with_replacement

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives, with_derivatives_on_demand
from geodrome_core.kernels.heat import flat_heat
from geodrome_core.kernels.heat_modes import HeatModes
from geodrome_core.kernels.lookup import look_up_all
from geodrome_core.kernels.matern import Definition, Times, grid, steps_per_octave, weights
from geodrome_core.kernels.panels import NODES

CHUNK = 16_384
"""Pairs looked up at once."""

NEGLIGIBLE = 5e-12
"""Singular values of the M_r that are left out; the f_r, orthonormal on thousands of nodes, are below 0.2."""

NEGLIGIBLE_WEIGHT = 1e-19
"""Of a heat time."""

VALUE, BY_X, BY_XX, BY_KAPPA, BY_NU = range(5)
"""Tables of the M_r: value, derivatives in x = y / 2 kappa^2, and in kappa and nu at the same y."""


def spd_profile(
    modes: HeatModes,
    nu: Tensor,
    kappa: Tensor,
    s: Float[Tensor, "*b"],
    m: Float[Tensor, "*b"],
    d: Float[Tensor, "*b"],
    *,
    definition: Definition = "paper",
) -> Float[Tensor, "*b"]:
    """Matérn kernel at s, m and d, differentiable twice in them, once in ``kappa`` and ``nu``.

    Args:
        modes: The space's heat kernels.
        nu: Smoothness, a tensor of one number; infinite for the SE kernel.
        kappa: Lengthscale, a tensor of one number.
        s, m, d: Of pairs of matrices, see ``spd_pairs``.
        definition: Which kernel is meant.
    """
    variables = [s, m, d * d] if modes.panels.is_planar else [s, m]
    scales = {column: scale for column, scale in ((BY_KAPPA, kappa), (BY_NU, nu)) if scale.requires_grad}
    is_curved = any(variable.requires_grad for variable in variables)
    table = _table(modes, nu.item(), kappa.item(), definition)
    bare = [variable.detach() for variable in variables]
    with torch.no_grad():
        found = look_up_all(partial(table.first, [VALUE, *scales], is_curved), *bare).unbind(-1)

    def second() -> list[list[Tensor]]:
        with torch.no_grad():
            entries = look_up_all(table.second, *bare).unbind(-1)
        positions = dict(zip(combinations_with_replacement(range(len(bare)), 2), entries, strict=True))
        return [[positions[min(i, j), max(i, j)] for j in range(len(bare))] for i in range(len(bare))]

    in_scales, in_variables = found[1 : 1 + len(scales)], found[1 + len(scales) :]
    value = with_derivatives_on_demand(found[0], list(zip(in_variables, variables, strict=False)), second)
    return with_derivatives(value, list(zip(in_scales, scales.values(), strict=True)), [])


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

    def first(self, columns: list[int], is_curved: bool, *variables: Float[Tensor, " p"]) -> Float[Tensor, "p c"]:
        """Some columns; and if ``is_curved`` the gradient."""
        orders = len(variables) if is_curved else 1
        out = variables[0].new_empty(len(variables[0]), len(columns) + (orders if is_curved else 0))
        for positions, at in self._factors([*columns, BY_X] if is_curved else columns, orders, *variables):
            values = [at.product(index) for index in range(len(columns))]
            below = at.x < flat_heat().panels.smallest
            if bool(below.any()):
                # Exact at coincident points; between them and the first panel, the shape of the most cusped kernel.
                fade = torch.sqrt(at.x[below].clamp_min(0) / flat_heat().panels.smallest)
                values[0][below] = 1 - (1 - values[0][below]) * fade
                for value in values[1:]:
                    value[below] *= fade
            if is_curved:
                by_y = at.product(-1) / self.unit
                if self.is_cusped:
                    # The distance has no gradient there, to which rounding would lend one.
                    by_y[below] = 0
                values += [by_y, *(at.square[i] * by_y + at.product(0, i) for i in range(1, orders))]
            out[positions] = torch.stack(values, -1)
        return out

    def second(self, *variables: Float[Tensor, " p"]) -> Float[Tensor, "p c"]:
        """Upper triangle of the Hessian."""
        count = len(variables)
        orders = 6 if count == 3 else 3
        out = variables[0].new_empty(len(variables[0]), orders)
        for positions, at in self._factors([VALUE, BY_X, BY_XX], orders, *variables):
            by_y, by_yy = at.product(1) / self.unit, at.product(2) / self.unit**2
            slopes = [at.product(1, i) / self.unit for i in range(1, count)]
            values = [by_yy, *(by_yy * at.square[i] + slopes[i - 1] for i in range(1, count))]
            for order, (i, j) in enumerate(combinations_with_replacement(range(1, count), 2), start=count):
                mixed = at.square[i] * slopes[j - 1] + at.square[j] * slopes[i - 1]
                values.append(
                    by_yy * at.square[i] * at.square[j] + mixed + by_y * at.square[order] + at.product(0, order)
                )
            out[positions] = torch.stack(values, -1)
        return out

    def _factors(
        self, tables: list[int], orders: int, *variables: Float[Tensor, " p"]
    ) -> Iterator[tuple[Tensor, _Factors]]:
        """Positions of some pairs, and what is looked up for them."""
        flat = self.flat[:, tables].flatten(1)
        shape = self.shape[:orders].flatten(0, 1)
        start = 0
        for s, m, *rest in zip(*(variable.split(CHUNK) for variable in variables), strict=True):
            delta = rest[0] if rest else torch.zeros_like(m)
            order, looked_up = self.modes.panels.evaluate(shape, m, delta)
            s, m, delta = s[order], m[order], delta[order]
            looked_up = looked_up.unflatten(0, (orders, -1))
            modes, a, b = looked_up[:, :-2], looked_up[:, -2], looked_up[:, -1]
            square = m * a + delta * b
            # By the product rule, what comes from the factors m and delta.
            for number, terms in enumerate(LEIBNIZ[len(variables)][:orders]):
                for factor, of, lower in terms:
                    square[number] += factor * (a if of == "m" else b)[lower]
            x = (s + square[0]) / self.unit
            mixtures = flat_heat().panels.evaluate(flat, x).mT.contiguous().unflatten(0, (len(tables), -1))
            yield order + start, _Factors(x, square, mixtures, modes)
            start += len(order)


LEIBNIZ: dict[int, list[list[tuple[int, str, int]]]] = {
    2: [[], [(1, "m", 0)], [(2, "m", 1)]],
    3: [
        [],
        [(1, "m", 0)],
        [(1, "delta", 0)],
        [(2, "m", 1)],
        [(1, "m", 2), (1, "delta", 1)],
        [(2, "delta", 2)],
    ],
}
"""For two and three variables and each derivative of m A + delta B, in m, delta, mm, m delta, delta delta (m, mm with two
variables): the terms in which a factor m or delta was differentiated, by their number and by the derivative that is left.
"""


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
    mixtures = _mixtures(modes, nu, kappa, definition)
    panels = flat_heat().panels
    # One knot of each panel tells which combinations of the f_r are needed.
    knots = slice(NODES // 2, None, NODES)
    x = panels.knots[knots]
    sizes = [torch.ones_like(x), x, x**2, torch.full_like(x, kappa), torch.ones_like(x)]
    samples = [
        size[:, None] * (rows[:, knots].mT @ weight[:, 1:]) for size, (weight, rows) in zip(sizes, mixtures, strict=True)
    ]
    _, singular, right = torch.linalg.svd(torch.cat(samples), full_matrices=False)
    rotation = right[singular > NEGLIGIBLE].mT  # (modes, r)
    values = [torch.cat([weight[:, :1], weight[:, 1:] @ rotation], -1).mT @ rows for weight, rows in mixtures]
    flat = panels.coefficients(torch.cat(values)).unflatten(-1, (len(values), -1))
    modal, square = modes.derivatives.split([len(rotation), 2], dim=-1)
    shape = torch.cat([modal @ rotation, square], -1).movedim(0, -1).contiguous()
    return _Table(modes, 2 * kappa**2, nu <= 1, flat, shape)


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
    # The flat kernels know a lengthscale of 1: their times are u / kappa^2.
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
