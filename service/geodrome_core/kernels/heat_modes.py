"""The heat kernels of SPD(2) and SPD(3) at all times, by a few functions of the shape.

Over its Gaussian a heat kernel varies little. With the whole distance R, trace part included,

    h_u(X, Y) = exp(-R^2 / 4u) (1 + sum over r of a_r(u) f_r(shape)),    R^2 = s + m A(shape) + delta B(shape),

where s is the trace part (log det Y - log det X)^2 / n. For u -> 0 the bracket tends to the root of the volume density,
for u -> inf to the ground spherical function; in tau = u / (u + 16) it is smooth up to both ends. It is interpolated in
tau at Chebyshev nodes, and of the interpolant the leading singular vectors are kept. What it has of singular behaviour,
all of it near coincidence, is left to the Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.chebyshev import chebyshev, chebyshev_nodes, chebyshev_transform
from geodrome_core.kernels.shape import ShapePanels
from geodrome_core.kernels.shape_tables import derivative_tables

MIDDLE_TIME = 16.0
"""tau = 1/2 there. Of the values tried, the interpolant in tau converges fastest with 16."""

TIMES = 32
"""Nodes in tau: they leave 2e-13 of the bracket."""


def node_times() -> Float[Tensor, " q"]:
    """Heat times that are Chebyshev nodes in tau."""
    tau = 0.5 * (1 + chebyshev_nodes(TIMES))
    return MIDDLE_TIME * tau / (1 - tau)


@dataclass(frozen=True, eq=False)
class HeatModes:
    """One space's heat kernels.

    Attributes:
        size: n, rows of the matrices.
        gap: |rho|^2, where the spectrum begins.
        decay: Power of u with which u^(m/2) exp(gap u) p_u(0) falls in the end.
        panels: Where functions of the shape are resolved.
        table: (k, modes + 2) of the f_r, orthonormal on the nodes they were made from, and of A and B.
        amplitude: (q, modes) Chebyshev coefficients in tau of the a_r.
        peak: (q,) those of log(u^(m/2) p_u(0)) + gap u + decay log(1 + u / 16).
    """

    size: int
    gap: float
    decay: float
    panels: ShapePanels
    table: Tensor
    amplitude: Tensor
    peak: Tensor

    @property
    def dim(self) -> int:
        """Dimension of the manifold."""
        return self.size * (self.size + 1) // 2

    @cached_property
    def derivatives(self) -> Float[Tensor, "k o c"]:
        """The table with the derivatives of its functions."""
        return derivative_tables(self.panels, self.table)

    def amplitudes(self, u: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:
        """The a_r at times ``u``."""
        return _polynomials(u).mT @ self.amplitude

    def slopes(self, u: Float[Tensor, " t"]) -> Float[Tensor, "t r"]:
        """Their derivatives in ``u``."""
        t = (u - MIDDLE_TIME) / (u + MIDDLE_TIME)
        degrees = torch.arange(TIMES, dtype=torch.float64)
        # T_n' = n U_(n-1), at the angle whose cosine is t; t = -1 and 1 are no times.
        angle = torch.acos(t)
        by_t = degrees[:, None] * torch.sin(degrees[:, None] * angle) / torch.sin(angle)
        return (by_t * (2 * MIDDLE_TIME / (u + MIDDLE_TIME) ** 2)).mT @ self.amplitude

    def log_peak(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        """Logarithm of u^(m/2) p_u(0), up to a constant."""
        return self.peak @ _polynomials(u) - self.gap * u - self.decay * torch.log1p(u / MIDDLE_TIME)


def reduced(quotient: Float[Tensor, "q n"], modes: int) -> tuple[Float[Tensor, "n modes"], Float[Tensor, "q modes"]]:
    """The functions f_r at all nodes of the shape, and the coefficients of the a_r, from the bracket at node times."""
    left, singular, right = torch.linalg.svd(quotient - 1, full_matrices=False)
    amplitude = chebyshev_transform(len(quotient)) @ (left[:, :modes] * singular[:modes])
    return right[:modes].mT.contiguous(), amplitude


def peak_coefficients(log_integral: Float[Tensor, " q"], decay: float) -> Float[Tensor, " q"]:
    """Those of log(u^(m/2) p_u(0)) + gap u, given at node times, and relieved of its fall."""
    return chebyshev_transform(TIMES) @ (log_integral + decay * torch.log1p(node_times() / MIDDLE_TIME))


def _polynomials(u: Float[Tensor, " t"]) -> Float[Tensor, "q t"]:
    return chebyshev((u - MIDDLE_TIME) / (u + MIDDLE_TIME), TIMES)
