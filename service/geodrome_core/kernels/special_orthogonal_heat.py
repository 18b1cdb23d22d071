"""Heat kernels of SO(n), n >= 4: all irreducible representations at once, as one determinant.

With k = n // 2 planes, angles theta_i and c_i = 1 - cos theta_i, and l running over the integers (even n) or over halves
of odd numbers (odd n), Weyl's formulas for characters and dimensions and Andréief's identity give

    p_u = const exp(|rho|^2 u) det[phi_a(c_j)] / det[c_j^a],
    phi_a = sum over l of W_l prod_{b<a} (l^2 - l_b^2) exp(-u l^2) f_l,

where f_l = cos(l theta), W_l = 1 (1/2 for l = 0) for even n, f_l = sin(l theta) / sin(theta / 2), W_l = l for odd n, and
l_b are the first levels, the numbers of rho. The f_l are polynomials in c, and Newton's products instead of powers of
l^2 keep the rows apart when u is large.

For u below ``BORDER_TIME`` the kernel is the Gaussian of the distance times the root of the volume's Jacobian, exactly
but for the images at full turns, which have vanished:

    p_u = const exp(|rho|^2 u) (4 pi u)^(-m/2) J exp(-|theta|^2 / 4u),   J = prod over positive roots (r / 2) / sin(r / 2).

Eigenvalues of minus the Laplacian are |l|^2 - |rho|^2, for the metric in which |theta| is the distance.

Source:
    Fegan 1978, "The heat equation on a compact Lie group"; Andréief 1886; Bröcker and tom Dieck 1985, chapter VI.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.symmetric import (
    chebyshev,
    determinant,
    power_sums,
    product,
    remainder,
    series,
    shifted,
    trace,
)

BORDER_TIME = 0.02
"""Here the images have fallen below 1e-17 of any weight, and the sum needs some fifty levels."""

REACH = 1.75
"""Of the sum of the c_i: beyond, kernels of times below ``BORDER_TIME`` have fallen under 1e-18."""

TERMS = 40
"""Of power series in c: what they leave out counts only where a Gaussian of ``BORDER_TIME`` has vanished."""

VANISHED = 45.0
"""Terms below exp(-45) are left out."""


def short_time(e: Float[Tensor, "k p"], *, is_odd: bool) -> tuple[Float[Tensor, " p"], Float[Tensor, " p"]]:
    """|theta|^2 and J from the elementary symmetric polynomials of the c_i; differentiable, for sums below ``REACH``.

    With y(c) = theta^2 the product over the roots theta_i ± theta_j is that of the divided differences of y, halved; odd
    n have the roots theta_i besides.
    """
    rest, sums = remainder(e), power_sums(e)
    slope, logarithm = _angle_series()
    # y is c times a series: its trace has the relative digits of sum c_i.
    psi = series(slope, rest)
    y = shifted(psi, rest)
    powers = [torch.zeros_like(y)]
    powers[0][0] = 1
    while len(powers) < len(e):
        powers.append(product(powers[-1], y, rest))
    pairs = len(e) * (len(e) - 1) // 2
    jacobian = determinant(torch.stack(powers)) / 2**pairs
    if is_odd:
        jacobian = jacobian * torch.exp(0.5 * trace(series(logarithm, rest), sums))
    return (psi * sums).sum(0), jacobian


class Characters:
    """The determinant of one SO(n), for times above ``BORDER_TIME``.

    Attributes:
        size: n.
        planes: k, rotation planes.
        last_time: From here on the kernel is 1 to rounding: the smallest eigenvalue is n - 1.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.planes = size // 2
        self.last_time = VANISHED / (size - 1)
        self._half = 0.5 if size % 2 else 0.0

    def levels(self, u: float) -> int:
        """How many levels count at times from ``u`` on; powers of l in the rows and in f_l need some more."""
        return math.ceil(math.sqrt((VANISHED + 6 * (self.planes - 1)) / u)) + self.planes + 1

    def rows(self, u: Float[Tensor, " t"], count: int) -> Float[Tensor, "t k l"]:
        """Coefficients of f_l in exp(u l_a^2) phi_a."""
        level = self._half + torch.arange(count, dtype=torch.float64)
        newton = level.clone() if self._half else torch.where(level == 0, 0.5, 1.0).double()
        out: list[Tensor] = []
        for first in level[: self.planes].tolist():
            out.append(newton * torch.exp(-u[:, None] * (level**2 - first**2).clamp_min(0)))
            newton = newton * (level**2 - first**2)
        return torch.stack(out, 1)

    def slopes(self, u: Float[Tensor, " t"], count: int) -> Float[Tensor, "t k l"]:
        """Derivatives of ``rows`` in u."""
        square = (self._half + torch.arange(count, dtype=torch.float64)) ** 2
        return self.rows(u, count) * -(square - square[: self.planes, None]).clamp_min(0)

    def basis(self, e: Float[Tensor, "k p"], count: int) -> Float[Tensor, "l k p"]:
        """The f_l modulo chi; ``e`` are the elementary symmetric polynomials of the c_i."""
        return chebyshev(count, 2 * self._half, remainder(e))

    def peak(self, rows: Float[Tensor, "t k l"]) -> Float[Tensor, " t"]:
        """The determinant where all angles are zero."""
        origin = torch.zeros(self.planes, 1, dtype=torch.float64)
        return kernel_determinant(rows, self.basis(origin, rows.shape[-1]))[:, 0]

    def log_peak(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        """log p_u(0), up to a constant, at all times."""
        dim = self.size * (self.size - 1) // 2
        gap = sum((self._half + b) ** 2 for b in range(self.planes))
        early = gap * u - dim / 2 * torch.log(u)
        late = u.clamp(BORDER_TIME, self.last_time)
        # In both formulas exp(|rho|^2 u) stands; in the second one the rows have taken it.
        border = torch.tensor([BORDER_TIME], dtype=torch.float64)
        peaks = self.peak(self.rows(torch.cat([border, late]), self.levels(BORDER_TIME))).abs().log()
        offset = gap * BORDER_TIME - dim / 2 * math.log(BORDER_TIME) - peaks[0]
        return torch.where(u < BORDER_TIME, early, peaks[1:] + offset)


def kernel_determinant(rows: Float[Tensor, "t k l"], basis: Float[Tensor, "l k p"]) -> Float[Tensor, "t p"]:
    """det[phi_a(c_j)] / det[c_j^a] at all times and pairs."""
    times, planes, count = rows.shape
    alpha = rows.flatten(0, 1) @ basis.flatten(1)
    return determinant(alpha.unflatten(1, (planes, -1)).unflatten(0, (times, planes)))


@lru_cache
def characters(size: int) -> Characters:
    """The determinant of SO(size)."""
    return Characters(size)


@lru_cache
def _angle_series() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Taylor coefficients in c of theta^2 / c, and of log(theta^2 / 2c)."""
    slope = [2.0]
    for j in range(1, TERMS):
        slope.append(j * j / ((2 * j + 1) * (j + 1)) * slope[-1])
    a = np.array(slope) / 2
    logarithm = np.zeros(TERMS)
    for n in range(1, TERMS):
        logarithm[n] = a[n] - sum(m * logarithm[m] * a[n - m] for m in range(1, n)) / n
    return tuple(slope), tuple(logarithm.tolist())
