"""Balls in SO(n): uniform points, and the squared distance from the center with all its derivatives."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from scipy.special import gammainc, gammaincinv, zeta
from torch import Tensor

from geodrome_core.geometry.ball import random_directions

POLES = 8
"""Of the cotangent that are summed one by one."""

HALF_TURN_GAP = 1e-8
"""Nearer than this to half turns the derivatives no longer grow."""

TAIL = [float(zeta(2 * j + 2, POLES + 1)) / math.pi ** (2 * j + 2) for j in range(5)]
"""Sums of (k pi)^-2, (k pi)^-4, … over the others: five terms leave out 3e-10 of them."""


def squared_angles(e: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b"]:
    """Sum of the squared angles t of X^T Y for E = X - Y: a convex function of E, differentiable twice below pi.

    Half the trace of h(V) for V = E^T E / 4, whose eigenvalues are sin^2(t/2), each twice, and h(sin^2(t/2)) = t^2. The
    derivatives are h' = 4 t / sin t and its divided differences (see ``matrix_functions``).
    """
    v = 0.25 * e.mT @ e
    squares, vectors = torch.linalg.eigh(v.detach())
    # At half turns derivatives are infinite, which times zero would be NaN.
    t = (2 * torch.asin(torch.sqrt(squares.clamp(0, 1)))).clamp_max(math.pi - HALF_TURN_GAP)
    total = 0.5 * (t * t).sum(-1)
    if not e.requires_grad:
        return total
    # The value does not change: the step is zero, with the derivatives that autograd shall find.
    step = vectors.mT @ (v - v.detach()) @ vectors
    rise = 4 / torch.sinc(t / math.pi)
    first = (rise * torch.diagonal(step, dim1=-2, dim2=-1)).sum(-1)
    bend = rise.unsqueeze(-1) * rise.unsqueeze(-2) * _cotangent_differences(t.unsqueeze(-1), t.unsqueeze(-2))
    return total + 0.5 * first + 0.25 * (bend * step * step).sum((-1, -2))


def _cotangent_differences(s: Float[Tensor, "*#b"], t: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """Sum over k of (k pi)^2 / (((k pi)^2 - x) ((k pi)^2 - y)) for x, y = ((s -+ t) / 2)^2.

    With r cot r = 1 - 2 sum r^2 / ((k pi)^2 - r^2) this is (x' cot x' - y' cot y') / (2 s t) for the roots x', y' of
    x, y, and by it h'[s, t] = 16 s t / (sin s sin t) times the sum. Its terms are positive: no digits cancel.
    """
    x, y = ((s - t) / 2) ** 2, ((s + t) / 2) ** 2
    poles = [(k * math.pi) ** 2 for k in range(1, POLES + 1)]
    total = torch.stack([pole / ((pole - x) * (pole - y)) for pole in poles]).sum(0)
    power, complete = torch.ones_like(y), torch.ones_like(y)
    for weight in TAIL:
        total = total + weight * complete
        power = power * y
        complete = x * complete + power  # x^j + x^(j-1) y + … + y^j
    return total


def random_logarithms(
    count: int, axes: Float[Tensor, "m k k"], *, radius: float, generator: torch.Generator
) -> Float[Tensor, "n m"]:
    """Coordinates of skew matrices A for which exp(A) is uniform in a ball about the identity of SO(n).

    By rejection: exp shrinks volumes by the product of sinc^2(a/2) <= exp(-a^2/12) over the roots a, whose squares add
    up to n - 2 times the squared length of A. Lengths are drawn with that bound: at worst two of three draws are kept.

    Args:
        count: n of the shape.
        axes: The orthonormal skew matrices that the coordinates belong to.
        radius: In radians, below pi.
        generator: For all that is random.

    Source:
        Helgason 1978, "Differential geometry, Lie groups, and symmetric spaces", chapter II: the differential of exp.
    """
    dim, size = axes.shape[:2]
    kept = torch.empty(0, dim, dtype=torch.float64)
    while (missing := count - len(kept)) > 0:
        share, dice = torch.rand(2, missing, generator=generator, dtype=torch.float64)
        lengths = _lengths(share, dim, radius=radius, shrink=(size - 2) / 12)
        xi = lengths.unsqueeze(-1) * random_directions(missing, dim, generator)
        half = 0.5 * _roots(torch.einsum("nm,mij->nij", xi, axes))
        likely = (2 * torch.log(torch.sinc(half / math.pi)) + half**2 / 3).sum(-1)
        kept = torch.cat([kept, xi[torch.log(dice) <= likely]])
    return kept


def _lengths(share: Float[Tensor, "n"], dim: int, *, radius: float, shrink: float) -> Float[Tensor, "n"]:
    """Lengths t up to ``radius`` below which a ``share`` lies, for the density t^(m-1) exp(-shrink t^2)."""
    if shrink == 0:
        return radius * share ** (1 / dim)
    largest = gammainc(dim / 2, shrink * radius**2)
    return torch.sqrt(torch.from_numpy(gammaincinv(dim / 2, share.numpy() * largest)) / shrink)


def _roots(a: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b p"]:
    """The positive roots of so(n) at a skew matrix of angles t_i >= 0: t_i - t_j and t_i + t_j, for odd n also t_i."""
    size = a.shape[-1]
    angles = torch.linalg.eigvalsh(1j * a)[..., (size + 1) // 2 :]
    i, j = torch.triu_indices(size // 2, size // 2, 1)
    pairs = torch.cat([angles[..., j] - angles[..., i], angles[..., j] + angles[..., i]], -1)
    return torch.cat([pairs, angles], -1) if size % 2 else pairs
