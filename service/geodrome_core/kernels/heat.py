"""Heat kernels of the rank-one spaces, as functions of w, with their derivatives.

The heat kernel p_u(x, y) of exp(u Laplacian) depends on the distance r alone, and is smooth in

    w = 1 - cos r  (spheres, SO(3)),    w = cosh r - 1  (hyperbolic),    w = r^2 / 2  (flat).

In w the Laplacian of a radial function is  L f = g f'' + (m - e w) f'  with g = w (2 - s w); s = 1, -1, 0 in turn. All
kernels here are normalized, h = p_u(w) / p_u(0), and come with q = -dh/dw and q2 = d2h/dw2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import gammaln
from torch import Tensor

from geodrome_core.kernels.abel import hyperbolic_plane
from geodrome_core.kernels.panels import Panels, panels

SHORT_TIME = 0.002
"""Below this u the short-time expansion is exact to rounding; above it, the spectral series needs few terms."""

SHORT_TIME_REACH = 0.5
"""The expansion is used for w below this; at u = SHORT_TIME kernels have fallen under 1e-50 there."""


@dataclass(frozen=True)
class Heat:
    """Heat kernels at several times u, at the knots of their panels.

    Attributes:
        h, q, q2: (times, knots) value, minus first derivative, second derivative in w.
        log_peak: (times,) log p_u(0) up to a constant; None where no kernel needs it.
    """

    h: Tensor
    q: Tensor
    q2: Tensor
    log_peak: Tensor | None


class HeatKernel(ABC):
    """The normalized heat kernels of one space.

    Attributes:
        dim: Dimension of the manifold.
        is_compact: Decides which Matérn kernel is meant: spectral on compact spaces, else a mixture of normalized heat.
        panels: Where w is resolved.
        g, drift: Coefficients of the radial Laplacian at the knots.
    """

    dim: int
    is_compact: bool
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
        return Heat(h, slope * h, slope**2 * h, None)


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
        self._alpha, self._beta = alpha, beta
        self.panels = panels(1)
        w = self.panels.knots
        self.g = w * (2 - w)
        self._e = alpha + beta + 2
        self.drift = self.dim - self._e * w
        self._short = _ShortTime(w, dim=self.dim, e=self._e, sign=1)
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
        # Both branches give log p_u(0) up to a constant of their own; they are matched where both are exact.
        border = torch.tensor([SHORT_TIME], dtype=torch.float64)
        self._offset = float(self._short.log_peak(border) - self._log_sum(border))

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """Short-time expansion below ``SHORT_TIME``, spectral series above."""
        parts = [self._short.at(u[u < SHORT_TIME]), self._series(u[u >= SHORT_TIME])]
        order = torch.argsort(torch.cat([torch.nonzero(u < SHORT_TIME), torch.nonzero(u >= SHORT_TIME)]).flatten())
        peaks = [part.log_peak for part in parts if part.log_peak is not None]
        h, q, q2 = (torch.cat([getattr(part, name) for part in parts])[order] for name in ("h", "q", "q2"))
        return Heat(h, q, q2, torch.cat(peaks)[order])

    def _log_terms(self, u: Float[Tensor, " t"]) -> Float[Tensor, "t l"]:
        return self._log_weights - u[:, None] * self._eigenvalues

    def _log_sum(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        return torch.logsumexp(self._log_terms(u), -1)

    def _series(self, u: Float[Tensor, " t"]) -> Heat:
        weights = torch.softmax(self._log_terms(u), -1)
        return Heat(weights @ self._h, weights @ self._q, weights @ self._q2, self._log_sum(u) + self._offset)


class HyperbolicPlaneHeat(HeatKernel):
    """H^2, curvature -1."""

    dim = 2
    is_compact = False

    def __init__(self) -> None:
        self.panels = panels(44)  # distances up to 32
        w = self.panels.knots
        self.g = w * (2 + w)
        self.drift = 2 + 2 * w
        self._short = _ShortTime(w, dim=2, e=-2.0, sign=-1)

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """Short-time expansion below ``SHORT_TIME``, Abel integral above."""
        short = u < SHORT_TIME
        first = self._short.at(u[short])
        h, q, q2 = hyperbolic_plane(self.panels.knots, u[~short])
        order = torch.argsort(torch.cat([torch.nonzero(short), torch.nonzero(~short)]).flatten())
        return Heat(
            torch.cat([first.h, h])[order],
            torch.cat([first.q, q])[order],
            torch.cat([first.q2, q2])[order],
            None,
        )


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
def hyperbolic_plane_heat() -> HyperbolicPlaneHeat:
    """Heat kernels of H^2."""
    return HyperbolicPlaneHeat()


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


class _ShortTime:
    """The expansion p_u = (4 pi u)^(-m/2) exp(-r^2 / 4u) sum_k u^k a_k(w), by the transport equations.

    With y = r^2 as a function of w, the heat equation gives  (g y'/2) a_k' + (k + L y / 4 - m / 2) a_k = L a_(k-1),
    solved here by power series in w (radius 2).

    Source:
        Minakshisundaram and Pleijel 1949; Berger, Gauduchon, Mazet 1971, chapter III.E.
    """

    ORDERS = 18
    TERMS = 40

    def __init__(self, w: Float[Tensor, " k"], *, dim: int, e: float, sign: int) -> None:
        self._dim = dim
        self._count = len(w)
        near = w < SHORT_TIME_REACH
        self._near = torch.nonzero(near).flatten()
        y, a = self._expand(dim, e, sign)
        powers = torch.from_numpy(np.vander(w[near].numpy(), self.TERMS, increasing=True))
        self._y = [powers @ _derivative(y, order)[: self.TERMS] for order in range(3)]
        self._a = [_derivative(a, order)[:, : self.TERMS] @ powers.mT for order in range(3)]
        self._peak = a[:, 0]

    @classmethod
    def _expand(cls, dim: int, e: float, sign: int) -> tuple[Tensor, Tensor]:
        """Taylor coefficients of y (n,) and of the a_k (orders, n)."""
        size = cls.TERMS + cls.ORDERS + 4  # each order and each derivative spends a term
        n = np.arange(size)
        y = np.zeros(size)
        y[1] = 2
        for k in range(1, size - 1):
            y[k + 1] = sign * k * k / ((2 * k + 1) * (k + 1)) * y[k]

        def laplacian(f: np.ndarray) -> np.ndarray:
            up = np.append(f[1:], 0)
            return (n + 1) * (2 * n + dim) * up - n * (sign * (n - 1) + e) * f

        slope = (n + 1) * np.append(y[1:], 0) / 2
        along = 2 * np.append(0, slope[:-1]) - sign * np.append([0, 0], slope[:-2])
        potential = laplacian(y) / 4
        a = np.zeros((cls.ORDERS, size))
        for k in range(cls.ORDERS):
            right = laplacian(a[k - 1]) if k else np.zeros(size)
            for i in range(size):
                if k == i == 0:
                    a[0, 0] = 1
                    continue
                known = along[2 : i + 1] @ (n[1:i] * a[k, 1:i])[::-1] + potential[1 : i + 1] @ a[k, :i][::-1]
                a[k, i] = (right[i] - known) / (2 * i + k)
        return torch.from_numpy(y), torch.from_numpy(a)

    def log_peak(self, u: Float[Tensor, " t"]) -> Float[Tensor, " t"]:
        """Logarithm of p_u(0)."""
        return torch.log(self._powers(u) @ self._peak) - self._dim / 2 * torch.log(4 * math.pi * u)

    def at(self, u: Float[Tensor, " t"]) -> Heat:
        """The kernels at times ``u`` below ``SHORT_TIME``."""
        powers = self._powers(u)
        s, s1, s2 = (powers @ a / (powers @ self._peak)[:, None] for a in self._a)
        quarter = 0.25 / u[:, None]
        gauss = torch.exp(-quarter * self._y[0])
        slope = quarter * self._y[1]
        h = gauss * s
        q = gauss * (slope * s - s1)
        q2 = gauss * ((slope**2 - quarter * self._y[2]) * s - 2 * slope * s1 + s2)
        return Heat(self._spread(h), self._spread(q), self._spread(q2), self.log_peak(u))

    def _powers(self, u: Float[Tensor, " t"]) -> Float[Tensor, "t o"]:
        return u[:, None] ** torch.arange(self.ORDERS, dtype=torch.float64)

    def _spread(self, values: Float[Tensor, "t n"]) -> Float[Tensor, "t k"]:
        out = torch.zeros(len(values), self._count, dtype=torch.float64)
        out[:, self._near] = values
        return out


def _derivative(coefficients: Float[Tensor, "*b n"], order: int) -> Float[Tensor, "*b k"]:
    """Taylor coefficients of a derivative."""
    for _ in range(order):
        steps = torch.arange(1, coefficients.shape[-1], dtype=torch.float64)
        coefficients = coefficients[..., 1:] * steps
    return coefficients
