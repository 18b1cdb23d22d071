"""Heat kernels of SO(n), n >= 4: all irreducible representations at once, as one determinant.

With k = n // 2 planes, angles theta_i and c_i = 1 - cos theta_i, and l running over the integers (even n) or over the
halves of odd numbers (odd n), Weyl's formulas for characters and dimensions and Andréief's identity give

    p_u = const exp(|rho|^2 u) det[phi_a(c_j)] / det[c_j^a],
    phi_a = sum over l of W_l prod_{b<a} (l^2 - l_b^2) exp(-u l^2) f_l,

where f_l = cos(l theta), W_l = 1 (1/2 for l = 0) for even n, f_l = sin(l theta) / sin(theta / 2), W_l = l for odd n,
and l_b are the first levels, the numbers of rho. The f_l are polynomials in c, and Newton's products instead of powers
of l^2 keep the rows apart when u is large.

For u below ``BORDER_TIME`` the kernel is the Gaussian of the distance times the root of the volume's Jacobian, exactly
but for the images at full turns, which have vanished:

    p_u = const exp(|rho|^2 u) (4 pi u)^(-m/2) J exp(-|theta|^2 / 4u),

with J the product of (r / 2) / sin(r / 2) over the positive roots r, that is theta_i ± theta_j, and theta_i for odd n.
Eigenvalues of minus the Laplacian are |l|^2 - |rho|^2, for the metric in which |theta| is the distance.

Source:
    Fegan 1978, "The heat equation on a compact Lie group"; Andréief 1886; Bröcker and tom Dieck 1985, chapter VI.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.symmetric import (
    chebyshev,
    determinant,
    jet,
    jet_product,
    power_series,
    power_sums,
    product,
    remainder,
    shifted,
    trace,
)

BORDER_TIME = 0.05
"""Here the images have fallen below 1e-21, and the sum needs some forty levels."""

REACH = 3.5
"""Of the sum of the c_i: beyond, kernels of times below ``BORDER_TIME`` have fallen under 1e-17."""

TERMS = 56
"""Of power series in c: what they leave out counts only where a Gaussian of ``BORDER_TIME`` has vanished."""

VANISHED = 45.0
"""Terms below exp(-45) are left out."""


def short_time(e: Float[Tensor, "k p"], *, is_odd: bool) -> tuple[Float[Tensor, " p"], Float[Tensor, " p"]]:
    """|theta|^2 and J from the elementary symmetric polynomials of the c_i; differentiable, for sums below ``REACH``.

    With y(c) = theta^2 the product over the roots theta_i ± theta_j is that of the divided differences of y, halved.
    """
    rest, sums = remainder(e), power_sums(e)
    slope, logarithm = _angle_series()
    psi = _analytic(slope, e)
    y = shifted(psi, rest)
    # Rows 1, y, y^2 …; of a matrix whose first row is (1, 0 …), only the others count.
    powers = [y]
    while len(powers) < len(e) - 1:
        powers.append(product(powers[-1], y, rest))
    pairs = len(e) * (len(e) - 1) // 2
    jacobian = determinant([power.unbind(0)[1:] for power in powers]) / 2**pairs
    if is_odd:
        jacobian = jacobian * torch.exp(0.5 * trace(_analytic(logarithm, e), sums))
    # The trace of y, which is z times a series, in the relative digits of the sum of the c_i.
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

    def basis(self, e: Float[Tensor, "k *b"], count: int, *, digits: int = 1) -> Float[Tensor, "l m *b"]:
        """The f_l modulo chi, or a power of it; ``e`` are the elementary symmetric polynomials of the c_i."""
        return chebyshev(count, 2 * self._half, remainder(e), digits=digits)

    def peak(self, rows: Float[Tensor, "t k l"]) -> Float[Tensor, " t"]:
        """The determinant where all angles are zero."""
        origin = torch.zeros(self.planes, 1, dtype=torch.float64)
        return kernel_determinant(rows, self.basis(origin, rows.shape[-1]))[:, 0]

    def log_peak(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        """Logarithm of p_u(0), up to a constant, at all times."""
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
    return determinant([f.unbind(0) for f in _functions(rows, basis)])


def kernel_determinant_jet(
    rows: Float[Tensor, "t k l"], basis: Float[Tensor, "l m p"], e: Float[Tensor, "k p"]
) -> Float[Tensor, "j t p"]:
    """The same with its derivatives in the e_i, in the order of ``jet``, from a basis of three digits."""
    rest = remainder(e).unsqueeze(1)
    jets = [jet(f, rest).unbind(1) for f in _functions(rows, basis)]
    return determinant(jets, times=partial(jet_product, k=len(e)))


def _functions(rows: Float[Tensor, "t k l"], basis: Float[Tensor, "l m p"]) -> Float[Tensor, "k m t p"]:
    """phi_a for each a, modulo chi or a power of it."""
    times = len(rows)
    # planes and times by levels, times levels by coefficients and pairs
    alpha = rows.transpose(0, 1).flatten(0, 1) @ basis.flatten(1)
    return alpha.unflatten(1, (basis.shape[1], -1)).unflatten(0, (-1, times)).transpose(1, 2)


def _analytic(coefficients: tuple[float, ...], e: Float[Tensor, "k p"]) -> Float[Tensor, "k p"]:
    """A power series modulo chi, with two derivatives."""
    with torch.no_grad():
        rest = remainder(e)
        if not e.requires_grad:
            return power_series(coefficients, rest)
        jets = jet(power_series(coefficients, rest, digits=3), rest)
    variables = e.unbind(0)
    value, slopes, bends = jets[0], jets[1 : len(e) + 1], jets[len(e) + 1 :]
    pairs = [(variables[i], variables[j]) for i in range(len(e)) for j in range(i + 1)]
    return with_derivatives(
        value,
        list(zip(slopes, variables, strict=True)),
        [(bend, *pair) for bend, pair in zip(bends, pairs, strict=True)],
    )


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
