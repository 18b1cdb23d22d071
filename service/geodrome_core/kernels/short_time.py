"""The short-time expansion of heat kernels, by power series in w: exact to rounding for u below 0.002."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

SHORT_TIME = 0.002
"""Below this u the expansion is exact to rounding; above it, other formulas need few terms."""

REACH = 0.5
"""The expansion is used for w below this; at u = SHORT_TIME kernels have fallen under 1e-50 there."""


@dataclass(frozen=True)
class Heat:
    """Heat kernels at several times u, at the knots of their panels.

    Attributes:
        h, q, q2: (times, knots) value, minus first derivative, second derivative in w.
        log_peak: (times,) log p_u(0) up to a constant.
    """

    h: Tensor
    q: Tensor
    q2: Tensor
    log_peak: Tensor


class ShortTime:
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
        near = w < REACH
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
