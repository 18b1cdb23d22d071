"""Heat kernels of the rank-one spaces, as functions of w, with their derivatives.

The heat kernel p_u(x, y) of exp(u Laplacian) depends on the distance r alone, and is smooth in

    w = 1 - cos r  (spheres, SO(3)),    w = cosh r - 1  (hyperbolic),    w = r^2 / 2  (flat).

In w the Laplacian of a radial function is  L f = g f'' + (m - e w) f'  with g = w (2 - s w); s = 1, -1, 0 in turn. All
kernels here are normalized, h = p_u(w) / p_u(0), and come with q = -dh/dw and q2 = d2h/dw2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property, lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.special import gammaln
from torch import Tensor

from geodrome_core.kernels.abel import hyperbolic
from geodrome_core.kernels.panels import NODES, Panels, panels
from geodrome_core.kernels.short_time import SHORT_TIME, Heat, ShortTime

FLAT = 2.0**-12
"""Below this w, heat kernels of times above ``SHORT_TIME`` are polynomials of degree 13 to rounding."""

BORDER = torch.tensor([SHORT_TIME], dtype=torch.float64)
"""Where two formulas for log p_u(0), each up to a constant of its own, are both exact and are matched."""


class HeatKernel(ABC):
    """The normalized heat kernels of one space.

    Attributes:
        dim: Dimension of the manifold.
        is_compact: Decides which Matérn kernel is meant: spectral on compact spaces, else a mixture of normalized heat.
        gap: Where the spectrum of minus the Laplacian begins, |rho|^2.
        panels: Where w is resolved.
        g, drift: Coefficients of the radial Laplacian at the knots.
    """

    dim: int
    is_compact: bool
    gap: float = 0.0
    panels: Panels
    g: Tensor
    drift: Tensor

    @abstractmethod
    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """The kernels at times ``u``."""

    def time_derivative(self, heat: Heat) -> Float[Tensor, "t k"]:
        """dh/du by the heat equation: L h - h (L h)(0)."""
        peak = self.dim * heat.q[:, self._first, None]
        return self.g * heat.q2 - self.drift * heat.q + heat.h * peak

    @cached_property
    def _first(self) -> int:
        """The knot nearest to zero."""
        return int(self.panels.knots.argmin())


class FlatHeat(HeatKernel):
    """R^n, any n: h = exp(-w / 2u). Lengthscales divide w before they come here."""

    dim = 1
    is_compact = False

    def __init__(self) -> None:
        self.panels = panels(20)
        self.g = 2 * self.panels.knots
        self.drift = torch.ones_like(self.g)

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """Gaussians."""
        slope = 0.5 / u[:, None]
        h = torch.exp(-slope * self.panels.knots)
        return Heat(h, slope * h, slope**2 * h, -0.5 * torch.log(u))


class JacobiHeat(HeatKernel):
    """Compact spaces whose spherical functions are Jacobi polynomials P^(alpha, beta).

    Spheres S^m have alpha = beta = m/2 - 1; SO(3), with distance the rotation angle, has alpha = 1/2, beta = -1/2. The
    eigenvalues are l (l + alpha + beta + 1).

    Source:
        Helgason, "Groups and geometric analysis", chapter V.4; DLMF 18.9 for the recurrences.
    """

    is_compact = True

    def __init__(self, alpha: float, beta: float) -> None:
        self.dim = round(2 * alpha + 2)
        self.panels = panels(1)
        w = self.panels.knots
        self.g = w * (2 - w)
        self._e = alpha + beta + 2
        self.drift = self.dim - self._e * w
        self._short = ShortTime(w, dim=self.dim, e=self._e, sign=1)
        levels = 150 + 6 * self.dim  # the last weight at u = SHORT_TIME is below 1e-17 for every dimension up to 31
        level = torch.arange(levels, dtype=torch.float64)
        a = alpha + beta + 1
        self._eigenvalues = level * (level + a)
        self._log_weights = _jacobi_log_weights(levels, alpha, beta)
        first = self._eigenvalues / (2 * (alpha + 1))
        second = first * (level - 1) * (level + a + 1) / (2 * (alpha + 2))
        self._h = _jacobi_polynomials(w, levels, alpha, beta)
        self._q = torch.zeros_like(self._h)
        self._q[1:] = first[1:, None] * _jacobi_polynomials(w, levels - 1, alpha + 1, beta + 1)
        self._q2 = torch.zeros_like(self._h)
        self._q2[2:] = second[2:, None] * _jacobi_polynomials(w, levels - 2, alpha + 2, beta + 2)
        self._offset = float(self._short.log_peak(BORDER) - self._log_sum(BORDER))

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """Short-time expansion below ``SHORT_TIME``, spectral series above."""
        short = u < SHORT_TIME
        return _merged(short, self._short.at(u[short]), self._series(u[~short]))

    def _log_terms(self, u: Float[Tensor, " t"]) -> Float[Tensor, "t l"]:
        return self._log_weights - u[:, None] * self._eigenvalues

    def _log_sum(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        return torch.logsumexp(self._log_terms(u), -1)

    def _series(self, u: Float[Tensor, " t"]) -> Heat:
        weights = torch.softmax(self._log_terms(u), -1)
        return Heat(weights @ self._h, weights @ self._q, weights @ self._q2, self._log_sum(u) + self._offset)


class HyperbolicHeat(HeatKernel):
    """H^dim, curvature -1."""

    is_compact = False

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.gap = (dim - 1) ** 2 / 4
        self.panels = panels(44)  # distances up to 32
        w = self.panels.knots
        self.g = w * (2 + w)
        self.drift = dim * (1 + w)
        self._short = ShortTime(w, dim=dim, e=-float(dim), sign=-1)
        # After SHORT_TIME all knots below FLAT are read from a few points of one interval.
        self._near = w < FLAT
        points, self._spread = _interpolation(FLAT, w[self._near])
        self._points = torch.cat([points, w[~self._near]])
        self._offset = float(self._short.log_peak(BORDER) - hyperbolic(points[:1], BORDER, dim)[1])

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """Short-time expansion below ``SHORT_TIME``, closed form or Abel integral above."""
        short = u < SHORT_TIME
        return _merged(short, self._short.at(u[short]), self._late(u[~short]))

    def _late(self, u: Float[Tensor, " t"]) -> Heat:
        values, log_peak = hyperbolic(self._points, u, self.dim)
        h, q, q2 = (self._at_knots(each) for each in values)
        return Heat(h, q, q2, log_peak + self._offset)

    def _at_knots(self, values: Float[Tensor, "t p"]) -> Float[Tensor, "t k"]:
        out = values.new_empty(len(values), len(self._near))
        count = len(self._spread)
        out[:, self._near] = values[:, :count] @ self._spread
        out[:, ~self._near] = values[:, count:]
        return out


@lru_cache
def flat_heat() -> FlatHeat:
    """Heat kernels of R^n."""
    return FlatHeat()


@lru_cache
def sphere_heat(dim: int) -> JacobiHeat:
    """Heat kernels of the unit sphere S^dim."""
    return JacobiHeat(dim / 2 - 1, dim / 2 - 1)


@lru_cache
def rotation_heat() -> JacobiHeat:
    """Heat kernels of SO(3), distance = rotation angle."""
    return JacobiHeat(0.5, -0.5)


@lru_cache
def hyperbolic_heat(dim: int) -> HyperbolicHeat:
    """Heat kernels of H^dim."""
    return HyperbolicHeat(dim)


def _merged(short: Bool[Tensor, " t"], early: Heat, late: Heat) -> Heat:
    """Kernels of the short times and of the others, in the order of all."""

    def merge(first: Tensor, second: Tensor) -> Tensor:
        out = first.new_empty(len(short), *first.shape[1:])
        out[short], out[~short] = first, second
        return out

    return Heat(
        merge(early.h, late.h),
        merge(early.q, late.q),
        merge(early.q2, late.q2),
        merge(early.log_peak, late.log_peak),
    )


def _jacobi_log_weights(levels: int, alpha: float, beta: float) -> Float[Tensor, " l"]:
    """Log of P_l(1)^2 / |P_l|^2, the multiplicity of level l, up to a constant."""
    level = np.arange(levels)
    a = alpha + beta + 1
    # (2l + a) Gamma(l + a) at l = 0 is Gamma(a + 1), also where a = 0 (the circle).
    head = np.full(levels, gammaln(a + 1))
    head[1:] = np.log(2 * level[1:] + a) + gammaln(level[1:] + a)
    return torch.from_numpy(head + gammaln(level + alpha + 1) - gammaln(level + 1) - gammaln(level + beta + 1))


def _jacobi_polynomials(w: Float[Tensor, " k"], levels: int, alpha: float, beta: float) -> Float[Tensor, "l k"]:
    """P_l(1 - w) / P_l(1) for l < levels."""
    z = 1 - w
    a = alpha + beta
    out = torch.empty(levels, len(w), dtype=torch.float64)
    out[0] = 1
    out[1] = 1 - (a + 2) / (2 * (alpha + 1)) * w
    for n in range(1, levels - 1):
        linear = (2 * n + a + 1) * ((2 * n + a + 2) * (2 * n + a) * z + alpha**2 - beta**2)
        back = 2 * n * (n + beta) * (2 * n + a + 2)
        out[n + 1] = (linear * out[n] - back * out[n - 1]) / (2 * (n + alpha + 1) * (n + a + 1) * (2 * n + a))
    return out


def _interpolation(end: float, w: Float[Tensor, " k"]) -> tuple[Float[Tensor, " n"], Float[Tensor, "n k"]]:
    """Chebyshev nodes of [0, end], and the matrix from values there to values at ``w``."""
    angles = math.pi * (torch.arange(NODES, dtype=torch.float64) + 0.5) / NODES
    degrees = torch.arange(NODES, dtype=torch.float64)[:, None]
    transform = 2 / NODES * torch.cos(degrees * angles)  # (degrees, nodes)
    transform[0] /= 2
    polynomials = torch.cos(degrees * torch.arccos((2 * w / end - 1).clamp(-1, 1)))
    return end / 2 * (1 + torch.cos(angles)), transform.mT @ polynomials
