"""The heat kernel of H^2 from that of H^3, by Abel's integral without its singularity.

    p_u(w)  ~  integral over zeta >= 0 of  F_u(w + zeta^2),    F_u(W) = y'(W) exp(-y(W) / 4u),    y = arccosh(1 + W)^2.

With zeta = c sqrt(2) sinh(tau / 2), c^2 = 2 / y'(w), the integrand is like a Gaussian in tau for every w, analytic in a
strip, and the trapezoid rule converges geometrically. Derivatives in w pass under the integral onto F.

Source:
    McKean 1970 for the formula; Trefethen and Weideman 2014 for the rule.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

LONG_TIME = 0.5
"""From here on one grid in tau serves all times."""

UNDERFLOW = 39.0
"""exp(-39) is below the rounding of sums near 1."""


def hyperbolic_plane(
    w: Float[Tensor, " k"], u: Float[Tensor, " t"]
) -> tuple[Float[Tensor, "t k"], Float[Tensor, "t k"], Float[Tensor, "t k"]]:
    """Normalized heat kernel h of H^2 at w = cosh r - 1 and times u >= 0.002, with q = -h' and q2 = h''."""
    out = torch.zeros(3, len(u), len(w), dtype=torch.float64)
    long = u >= LONG_TIME
    if bool(long.any()):
        out[:, long] = _integrate(w, u[long], step=0.42, reach=2 * (UNDERFLOW + 3))
    for index in torch.nonzero(~long).flatten().tolist():
        root = math.sqrt(float(u[index]))
        step = 0.5 * math.tanh(1.8 * root)
        out[:, index] = _integrate(w, u[index : index + 1], step=step, reach=2 * math.sqrt(UNDERFLOW + 1) * root)[:, 0]
    return out[0], out[1], out[2]


def _integrate(w: Float[Tensor, " k"], u: Float[Tensor, " t"], *, step: float, reach: float) -> Float[Tensor, "3 t k"]:
    """h, q, q2 by the trapezoid rule in tau = 0, step, 2 step, … up to ``reach``."""
    points = torch.cat([torch.zeros(1, dtype=w.dtype), w])  # the first is the normalization
    tau = step * torch.arange(math.ceil(reach / step) + 1, dtype=w.dtype)
    weights = torch.cosh(tau / 2)
    weights[0] /= 2
    c2 = 2 / _squared_distance(points, 1)[1]
    y = _squared_distance(points[:, None] + 2 * c2[:, None] * torch.sinh(tau / 2) ** 2, 3)  # each (k, nodes)
    # (-d/dw)^j exp(-y/4u) = p_j (4u)^-j exp(-y/4u) with p_1 = y', p_2 = y'^2 - 4u y'' and
    # p_3 = y'^3 - 12u y' y'' + 16u^2 y'''. Every term is positive, since y' is completely monotone.
    monomials = torch.stack([y[1], y[1] ** 2, -y[2], y[1] ** 3, -y[1] * y[2], y[3]], -1)
    monomials = monomials * (torch.sqrt(c2)[:, None] * weights)[..., None]  # (k, nodes, 6)
    out = torch.empty(3, len(u), len(w), dtype=w.dtype)
    for index, time in enumerate(u.tolist()):
        sums = (torch.exp(-y[0] / (4 * time)).unsqueeze(-2) @ monomials).squeeze(-2)  # (k, 6)
        total = sums[0, 0]
        slope = sums[1:, 1] + 4 * time * sums[1:, 2]
        bend = sums[1:, 3] + 12 * time * sums[1:, 4] + (4 * time) ** 2 * sums[1:, 5]
        out[0, index] = sums[1:, 0] / total
        out[1, index] = slope / (4 * time * total)
        out[2, index] = bend / ((4 * time) ** 2 * total)
    return out


def _squared_distance(w: Float[Tensor, "*b"], order: int) -> list[Float[Tensor, "*b"]]:
    """The function y = arccosh(1 + w)^2 and its derivatives up to ``order`` (at most 3).

    Near 0 by Taylor series, else from  w (w + 2) y'' = 2 - (1 + w) y'  and its derivative, which cancel near 0.
    """
    near = w < SERIES_REACH
    small = torch.where(near, w, 0.0)
    large = torch.where(near, 1.0, w)
    product = large * (large + 2)
    r = 2 * torch.asinh(torch.sqrt(large / 2))
    far = [r * r, 2 * r / torch.sqrt(product)]
    far.append((2 - (1 + large) * far[1]) / product)
    far.append(-(3 * (1 + large) * far[2] + far[1]) / product)
    out = []
    for derivative in range(order + 1):
        series = torch.zeros_like(w)
        for power in range(len(SERIES) - 1, derivative - 1, -1):
            series = series * small + SERIES[power] * math.perm(power, derivative)
        out.append(torch.where(near, series, far[derivative]))
    return out


SERIES_REACH = 0.5
SERIES = [0.0, 2.0]
for _k in range(1, 36):
    SERIES.append(-_k * _k / ((2 * _k + 1) * (_k + 1)) * SERIES[-1])
"""Taylor coefficients of arccosh(1 + w)^2; 36 terms leave 1e-17 at w = 0.5."""
