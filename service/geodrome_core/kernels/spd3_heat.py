"""The heat kernel of SPD(3) over its Gaussian, by quadrature: slow and exact, the source of the shipped table.

Flensted-Jensen's reduction leads from SL(3, R) / SO(3) to SL(3, C) / SU(3), where the heat kernel is elementary. With
eta the logarithms of the eigenvalues of X^-1 Y, less their mean, E_i = exp(eta_i / 2),

    p_u(eta) ~ u^(-9/2) exp(-u/2) integral over v in R^3 of  A(zeta) exp(-|zeta|^2 / 4u) / sqrt(1 + |v|^2 / 2),
    A(zeta) = product over pairs of  alpha / sinh alpha,  alpha = (zeta_i - zeta_j) / 4,

where the exp(zeta_i / 2) are the roots of x^3 - e_1 x^2 + e_2 x - 1 with e_1 = sum E_i (1 + |v|^2 - v_i^2) and
e_2 = sum (1 + |v|^2 - v_i^2) / E_i. With v_k = g_k sqrt(2) sinh(tau_k / 8), g_k^2 = 4 tanh(a_k / 4) / a_k and a_k the
differences of the eta, the integrand is like a Gaussian in tau for every eta, and the trapezoid rule converges
geometrically. The kernel solves the radial heat equation, with |rho|^2 = 1/2.

Source:
    Flensted-Jensen 1978, "Spherical functions of a real semisimple Lie group"; Gangolli 1968 for complex groups.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

LONG_TIME = 8.0
"""From here on one grid in tau serves all times."""

CUT = 38.0
"""Nodes where the integrand has fallen by exp(-38) are left out."""

CHUNK = 16_384
"""Nodes evaluated at once."""


def integrals(eta: Float[Tensor, "p 3"], u: Float[Tensor, " t"]) -> Float[Tensor, "t p"]:
    """u^3 exp(u/2) p_u(eta) exp(|eta|^2 / 4u), up to a constant."""
    out = torch.empty(len(u), len(eta), dtype=torch.float64)
    late = u >= LONG_TIME
    if bool(late.any()):
        weights, hyperbolic = _nodes(float(u[late].max()), step=2.0)
        for index, point in enumerate(eta):
            out[late, index] = _integral(point, u[late], weights, hyperbolic)
    for row in torch.nonzero(~late).flatten().tolist():
        weights, hyperbolic = _nodes(float(u[row]), step=min(1.4 * math.sqrt(float(u[row])), 1.5))
        for index, point in enumerate(eta):
            out[row, index] = _integral(point, u[row : row + 1], weights, hyperbolic)[0]
    return out


def log_eigenvalues(m: Float[Tensor, " p"], d: Float[Tensor, " p"]) -> Float[Tensor, "p 3"]:
    """The eta, falling, from m = sum (cosh eta_i - 1) and d = sum sinh eta_i."""
    largest, smallest = _log_largest_root(m + d, m - d), -_log_largest_root(m - d, m + d)
    return torch.stack([largest, -largest - smallest, smallest], -1)


def _nodes(u: float, *, step: float) -> tuple[Float[Tensor, " n"], Float[Tensor, "3 n"]]:
    """Weights of the trapezoid rule on an octant of tau, and 2 sinh(tau / 8)^2; the longest of several times."""
    reach = min(math.sqrt(8 * CUT * u), 4 * CUT)
    line = step * torch.arange(math.ceil(reach / step) + 1, dtype=torch.float64)
    ends = torch.full_like(line, step)
    ends[0] /= 2
    hyperbolic = 2 * torch.sinh(torch.cartesian_prod(line, line, line).mT / 8) ** 2
    weights = torch.cartesian_prod(ends, ends, ends).prod(-1) * torch.sqrt(1 + hyperbolic / 2).prod(0)
    square = hyperbolic.sum(0)
    log_size = torch.log(_integrand(2 * square, 2 * square, square, 0.0, torch.tensor([u], dtype=torch.float64))[0])
    kept = log_size + torch.log(weights / step**3) > -CUT
    return weights[kept], hyperbolic[:, kept]


def _integral(
    eta: Float[Tensor, " 3"], u: Float[Tensor, " t"], weights: Float[Tensor, " n"], hyperbolic: Float[Tensor, "3 n"]
) -> Float[Tensor, " t"]:
    differences = torch.stack([eta[1] - eta[2], eta[0] - eta[2], eta[0] - eta[1]])
    g2 = _tanh_quotient(differences / 4)
    half = torch.exp(eta / 2)
    first, second = g2 * (half.sum() - half), g2 * ((1 / half).sum() - 1 / half)
    # e_1 - 3 and e_2 - 3, without cancellation near eta = 0
    first_0, second_0 = torch.expm1(eta / 2).sum(), torch.expm1(-eta / 2).sum()
    total = torch.zeros(len(u), dtype=torch.float64)
    for part, weight in zip(hyperbolic.split(CHUNK, dim=1), weights.split(CHUNK), strict=True):
        values = _integrand(first_0 + first @ part, second_0 + second @ part, g2 @ part, float(eta @ eta), u)
        total += values @ weight
    return total * g2.prod().sqrt() / u**1.5


def _integrand(
    e1: Float[Tensor, " n"], e2: Float[Tensor, " n"], square: Float[Tensor, " n"], norm: float, u: Float[Tensor, " t"]
) -> Float[Tensor, "t n"]:
    """A(zeta) exp((|eta|^2 - |zeta|^2) / 4u) / sqrt(1 + |v|^2 / 2), from e_1 - 3, e_2 - 3, |v|^2 and |eta|^2."""
    largest, smallest = _log_largest_root(e1, e2), -_log_largest_root(e2, e1)
    middle = -largest - smallest
    gaps = ((largest - middle).abs() / 2, (middle - smallest).abs() / 2, (largest - smallest) / 2)
    curved = _sinh_quotient(gaps[0]) * _sinh_quotient(gaps[1]) * _sinh_quotient(gaps[2])
    excess = 4 * (largest**2 + middle**2 + smallest**2) - norm
    return torch.exp(-excess / (4 * u[:, None])) * (curved / torch.sqrt(1 + square / 2))


def _log_largest_root(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Logarithm of the largest root of x^3 - (3 + a) x^2 + (3 + b) x - 1, whose roots are positive."""
    c = b - 2 * a
    p = ((a * a - 3 * c) / 9).clamp_min(1e-100)
    q = (2 * a**3 - 9 * a * c - 27 * (b - a)) / 54
    root = torch.sqrt(p)
    cosine = (q / (p * root)).clamp(-1, 1)
    return torch.log1p(a / 3 + 2 * root * torch.cos(torch.acos(cosine) / 3))


def _sinh_quotient(x: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Of x / sinh x, for x at least 0."""
    large = x.clamp_min(1e-4)
    return torch.where(x < 1e-4, 1 - x * x / 6, -2 * large * torch.exp(-large) / torch.expm1(-2 * large))


def _tanh_quotient(x: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Of tanh x / x."""
    large = torch.where(x.abs() < 1e-4, 1.0, x)
    return torch.where(x.abs() < 1e-4, 1 - x * x / 3, torch.tanh(large) / large)
