"""The heat kernels of hyperbolic spaces: closed forms in odd dimension, Abel's integral of the next odd one in even.

With y = arccosh(1 + w)^2 and F_m = (-d/dw)^m exp(-y / 4u),

    H^(2m+1):  p_u(w)  ~  F_m(w),        H^(2m):  p_u(w)  ~  integral over zeta >= 0 of  F_m(w + zeta^2).

With zeta = c sqrt(2) sinh(tau / 2), c^2 = 2 / y'(w), the integrand is like a Gaussian in tau for every w, analytic in a
strip, and the trapezoid rule converges geometrically. Derivatives in w pass under the integral onto F.

Source:
    McKean 1970 and Davies, Mandouvalos 1988 for the formulas; Trefethen and Weideman 2014 for the rule.
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

CHUNK = 60_000
"""Points of the integrals that are held at once."""


def hyperbolic(
    w: Float[Tensor, " k"], u: Float[Tensor, " t"], dim: int
) -> tuple[Float[Tensor, "3 t k"], Float[Tensor, " t"]]:
    """Normalized heat kernel h of H^dim at w = cosh r - 1 and times u >= 0.002, with q = -h' and q2 = h''.

    The second part is log p_u(0), up to a constant of the dimension.
    """
    order = dim // 2
    decay = (dim - 1) ** 2 / 4 * u + (order + 0.5) * torch.log(u)
    if dim % 2:
        alone = torch.zeros(1, dtype=w.dtype)
        out, log_peak = _integrate(w, u, order, tau=alone)
        return out, log_peak - decay
    out = torch.zeros(3, len(u), len(w), dtype=torch.float64)
    log_peak = torch.zeros_like(u)
    long = u >= LONG_TIME
    if bool(long.any()):
        # Whatever the time, the integrand falls as exp(-(m - 1/2) tau).
        nodes = math.ceil((UNDERFLOW + 3) / (order - 0.5) / 0.42) + 1
        out[:, long], log_peak[long] = _integrate(w, u[long], order, tau=0.42 * torch.arange(nodes, dtype=w.dtype))
    for index in torch.nonzero(~long).flatten().tolist():
        root = math.sqrt(float(u[index]))
        step = 0.5 * math.tanh(1.8 * root)
        nodes = math.ceil(2 * math.sqrt(UNDERFLOW + 1) * root / step) + 1
        tau = step * torch.arange(nodes, dtype=w.dtype)
        out[:, [index]], log_peak[[index]] = _integrate(w, u[index : index + 1], order, tau=tau)
    return out, log_peak - decay


def plane_integral(w: Float[Tensor, " k"], u: float) -> Float[Tensor, " k"]:
    """Of H^2, u exp(u / 4) p_u(w) exp(y / 4u) up to a constant: the heat kernel over its Gaussian, at any w."""
    root = math.sqrt(u)
    step = 0.4 * math.tanh(1.8 * root)
    # Whatever the time, the integrand falls as exp(-tau / 2).
    nodes = math.ceil(min(2 * math.sqrt(UNDERFLOW) * root, 2 * UNDERFLOW) / step) + 1
    tau = step * torch.arange(nodes, dtype=w.dtype)
    weights = step * torch.cosh(tau / 2)
    weights[0] /= 2
    origin, slope = _squared_distance(w, 1)
    c2 = 2 / slope[:, None]
    y, slopes = _squared_distance(w[:, None] + 2 * c2 * torch.sinh(tau / 2) ** 2, 1)
    return (torch.exp(-(y - origin[:, None]) / (4 * u)) * slopes * torch.sqrt(c2)) @ weights / root


def _integrate(
    w: Float[Tensor, " k"], u: Float[Tensor, " t"], order: int, *, tau: Float[Tensor, " n"]
) -> tuple[Float[Tensor, "3 t k"], Float[Tensor, " t"]]:
    """h, q, q2 and log of the integral at w = 0 by the trapezoid rule; the only node tau = 0 gives the integrand."""
    points = torch.cat([torch.zeros(1, dtype=w.dtype), w])  # the first is the normalization
    size = max(1, CHUNK // (len(tau) * max(1, len(u) // 8)))
    parts = [_sums(chunk, u, order, tau=tau) for chunk in points.split(size)]
    sums = torch.cat(parts, -1)  # (3, t, 1 + k)
    peak = sums[0, :, 0]
    step = float(tau[1]) if len(tau) > 1 else 1.0
    return sums[..., 1:] / peak[:, None], torch.log(step * peak)


def _sums(
    w: Float[Tensor, " k"], u: Float[Tensor, " t"], order: int, *, tau: Float[Tensor, " n"]
) -> Float[Tensor, "3 t k"]:
    """Integrals of F_m, F_(m+1), F_(m+2), all up to the same factor for each time."""
    weights = torch.cosh(tau / 2)
    if len(tau) > 1:
        weights[0] /= 2
        c2 = 2 / _squared_distance(w, 1)[1]
    else:
        c2 = torch.ones_like(w)
    y = _squared_distance(w[:, None] + 2 * c2[:, None] * torch.sinh(tau / 2) ** 2, order + 2)  # each (k, n)
    terms = _polynomials(y, order + 2)
    columns = torch.stack([term for p in terms[order:] for term in p], -1)
    columns = columns * (torch.sqrt(c2)[:, None] * weights)[..., None]  # (k, n, terms)
    gauss = torch.exp(-y[0].unsqueeze(-2) / (4 * u[:, None]))  # (k, t, n)
    sums = gauss @ columns  # (k, t, terms)
    out, start = [], 0
    for extra, p in enumerate(terms[order:]):
        powers = (4 * u[:, None]) ** torch.arange(len(p), dtype=w.dtype)  # (t, terms)
        out.append((sums[..., start : start + len(p)] * powers).sum(-1).mT / (4 * u[:, None]) ** extra)
        start += len(p)
    return torch.stack(out)


def _polynomials(y: list[Float[Tensor, "*b"]], largest: int) -> list[list[Float[Tensor, "*b"]]]:
    """Coefficients in powers of 4u of the P_k with (-d/dw)^k exp(-y / 4u) = (4u)^-k P_k exp(-y / 4u), k <= largest.

    P_k = sum over j < k of binomial(k - 1, j) (-1)^j y^(j+1) (4u)^j P_(k-1-j): every term is positive, since y' is
    completely monotone.
    """
    out = [[torch.ones_like(y[0])]]
    for k in range(1, largest + 1):
        p = [torch.zeros_like(y[0]) for _ in range(k)]
        for j in range(k):
            factor = math.comb(k - 1, j) * (-1) ** j * y[j + 1]
            for power, coefficient in enumerate(out[k - 1 - j]):
                p[j + power] += factor * coefficient
        out.append(p)
    return out


def _squared_distance(w: Float[Tensor, "*b"], order: int) -> list[Float[Tensor, "*b"]]:
    """The function y = arccosh(1 + w)^2 and its derivatives up to ``order``, at least 1.

    Near 0 by Taylor series, else from  w (w + 2) y'' = 2 - (1 + w) y'  and its derivatives, which cancel near 0.
    """
    near = w < SERIES_REACH
    large, small = torch.where(near, 1.0, w), w[near]
    product = large * (large + 2)
    r = 2 * torch.asinh(torch.sqrt(large / 2))
    out = [r * r, 2 * r / torch.sqrt(product)]
    if order > 1:
        out.append((2 - (1 + large) * out[1]) / product)
    for j in range(1, order - 1):
        out.append(-((2 * j + 1) * (1 + large) * out[j + 1] + j * j * out[j]) / product)
    for derivative in range(order + 1):
        series = torch.zeros_like(small)
        for power in range(len(SERIES) - 1, derivative - 1, -1):
            series = series * small + SERIES[power] * math.perm(power, derivative)
        out[derivative][near] = series
    return out


SERIES_REACH = 0.5
SERIES = [0.0, 2.0]
for _k in range(1, 46):
    SERIES.append(-_k * _k / ((2 * _k + 1) * (_k + 1)) * SERIES[-1])
"""Taylor coefficients of arccosh(1 + w)^2; 46 terms leave 1e-17 at w = 0.5, in the sixth derivative too."""
