"""Compact spaces level by level: eigenvalues of minus the Laplacian, multiplicities, and zonal functions.

The functions of one eigenvalue, a level, are a space of finite dimension D_l. With respect to the uniform law they have
the reproducing kernel D_l Z_l(x, y), Z_l zonal and Z_l(x, x) = 1, and a kernel of the space is

    k(x, y) = sum over l of p_l Z_l(x, y)

with shares of the variance p_l ~ D_l (2 nu / kappa^2 + lambda_l)^(-nu - m/2), or D_l exp(-kappa^2 lambda_l / 2) for SE,
that sum to 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.geometry.rotation import quaternion_to_matrix
from geodrome_core.kernels.derivatives import with_derivatives
from geodrome_core.kernels.heat import JacobiHeat, rotation_heat, sphere_heat
from geodrome_core.kernels.matern import LOG_LAST, grid, grid_steps, weights

LEVELS = 512
"""Levels that features may use; what lies beyond is left out, and said to be."""

NODES = 8192
"""Of the integrals for the fourth moments: four to each oscillation of Z_l^4 in the last level."""


@dataclass(frozen=True)
class SpectralLaw:
    """How a kernel's variance is spread over eigenvalues.

    Attributes:
        dim: Dimension of the manifold.
        nu: Smoothness.
        kappa: Lengthscale.
    """

    dim: int
    nu: float
    kappa: float

    def shares(
        self,
        eigenvalues: Float[Tensor, "*l"],
        multiplicities: Float[Tensor, "*l"],
        *,
        log_peak: Float[Tensor, " t"],
        weight: Float[Tensor, " w"],
    ) -> Float[Tensor, "*l"]:
        """Of levels, from 0 on: that of 0 is p_infinity(0) / p_u(0) in the mean over heat times; the others follow.

        Args:
            eigenvalues: Of the levels.
            multiplicities: Of the levels.
            log_peak: log p_u(0) at the times of the kernel, and at the end at a time when heat has become even.
            weight: Of the times.
        """
        if math.isinf(self.nu):
            log_spectrum = -(self.kappa**2) / 2 * eigenvalues
        else:
            log_spectrum = -(self.nu + self.dim / 2) * torch.log1p(eigenvalues * self.kappa**2 / (2 * self.nu))
        first = torch.logsumexp(torch.log(weight) + (log_peak[-1] - log_peak)[: len(weight)], 0)
        return torch.exp(first + torch.log(multiplicities) + log_spectrum)


class Levels(ABC):
    """The levels of one compact space, in the order of their eigenvalues.

    Attributes:
        normals: Standard normal numbers that make a uniform point.
        eigenvalues: (levels,) of minus the Laplacian.
        multiplicities: (levels,) D_l.
    """

    normals: int
    eigenvalues: Tensor
    multiplicities: Tensor

    @abstractmethod
    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """Z_level(x, centre), one level for each centre; smooth in ``x``, ambient directions included."""

    @abstractmethod
    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """Uniform points from ``normals`` standard normal numbers each."""

    @abstractmethod
    def shares(self, nu: float, kappa: float) -> Float[Tensor, " l"]:
        """Shares of the variance, p_l; they sum to 1 less what lies beyond the last level."""

    @property
    @abstractmethod
    def fourth_moments(self) -> Float[Tensor, " l"]:
        """Mean of (D_l Z_l^2)^2 over the space, at least 1: how unevenly a zonal function is spread."""


class JacobiLevels(Levels):
    """Spaces whose zonal functions are Jacobi polynomials P_l^(alpha, beta) of the cosine of the distance.

    Source:
        Helgason, "Groups and geometric analysis", chapter V.4; DLMF 18.9 for the recurrence.
    """

    def __init__(self, heat: JacobiHeat, alpha: float, beta: float) -> None:
        self._heat, self._exponents = heat, (alpha, beta)
        level = torch.arange(LEVELS, dtype=torch.float64)
        self.eigenvalues = level * (level + alpha + beta + 1)

    @abstractmethod
    def cosine(self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "*b k"]:
        """Cosine of the distance, as an affine function of ``x``."""

    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """P_level(cosine) / P_level(1)."""
        order = torch.argsort(level, stable=True)
        sorted_level = level[order]
        columns = _jacobi(self.cosine(x, centres[order]), sorted_level, self._exponents)
        return columns[..., torch.argsort(order)]

    def shares(self, nu: float, kappa: float) -> Float[Tensor, " l"]:
        """By the heat kernel where points coincide."""
        if math.isinf(nu):
            u = torch.tensor([kappa**2 / 2, math.exp(LOG_LAST)], dtype=torch.float64)
            log_peak, weight = self._heat.at(u).log_peak, torch.ones(1, dtype=torch.float64)
        else:
            on = grid(self._heat, grid_steps(self._heat, nu))
            log_peak, weight = on.heat.log_peak, weights(on, nu, kappa)[0]
        law = SpectralLaw(self._heat.dim, nu, kappa)
        return law.shares(self.eigenvalues, self.multiplicities, log_peak=log_peak, weight=weight)

    @cached_property
    def fourth_moments(self) -> Float[Tensor, " l"]:
        """By the midpoint rule in the distance, with the density sin^(2 alpha + 1)(r/2) cos^(2 beta + 1)(r/2)."""
        alpha, beta = self._exponents
        half = math.pi / 2 * (torch.arange(NODES, dtype=torch.float64) + 0.5) / NODES
        density = torch.sin(half) ** (2 * alpha + 1) * torch.cos(half) ** (2 * beta + 1)
        z = torch.cos(2 * half)
        before, now = torch.zeros_like(z), torch.ones_like(z)
        moments = []
        for n in range(LEVELS):
            moments.append((density * now**4).sum())
            slope, constant, back = _recurrence(n, alpha, beta)
            before, now = now, (slope * z + constant) * now - back * before
        return self.multiplicities**2 * torch.stack(moments) / density.sum()


class SphereLevels(JacobiLevels):
    """S^dim: D_l harmonic polynomials of degree l."""

    def __init__(self, dim: int) -> None:
        super().__init__(sphere_heat(dim), dim / 2 - 1, dim / 2 - 1)
        self.normals = dim + 1
        counts = [math.comb(dim + level, dim) for level in range(LEVELS)]
        self.multiplicities = torch.tensor(
            [float(count - (counts[level - 2] if level > 1 else 0)) for level, count in enumerate(counts)],
            dtype=torch.float64,
        )

    def cosine(self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "*b k"]:
        """<x, centre>."""
        return x @ centres.mT

    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """The direction of a normal vector."""
        return normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)


class CircleLevels(SphereLevels):
    """S^1, whose zonal functions cos(l angle) need no recurrence."""

    def __init__(self) -> None:
        super().__init__(1)

    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """Cos(level angle)."""
        turned = torch.stack([-centres[:, 1], centres[:, 0]], -1)
        return torch.cos(level * torch.atan2(x @ turned.mT, x @ centres.mT))


class AngleLevels(CircleLevels):
    """The circle by its angle, one number."""

    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """Cos(level angle)."""
        return torch.cos(level * (x - centres[:, 0]))

    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """The angle of a normal vector."""
        return torch.atan2(normal[:, 1:], normal[:, :1])


class PlaneRotationLevels(CircleLevels):
    """SO(2), the circle as matrices: of their four numbers the first column is the point of S^1."""

    def zonal(
        self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"], level: Int[Tensor, " k"]
    ) -> Float[Tensor, "*b k"]:
        """Cos(level angle)."""
        return super().zonal(x[..., [0, 2]], centres[:, [0, 2]], level)

    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """The turn of the first axis into the direction of a normal vector."""
        c, s = super().point(normal).unbind(-1)
        return torch.stack([c, -s, s, c], -1)


class RotationLevels(JacobiLevels):
    """SO(3): D_l = (2 l + 1)^2 matrix elements of the representation l, zonal functions chi_l / (2 l + 1)."""

    normals = 4

    def __init__(self) -> None:
        super().__init__(rotation_heat(), 0.5, -0.5)
        self.multiplicities = (2 * torch.arange(LEVELS, dtype=torch.float64) + 1) ** 2

    def cosine(self, x: Float[Tensor, "*b d"], centres: Float[Tensor, "k d"]) -> Float[Tensor, "*b k"]:
        """(trace(C^T X) - 1) / 2."""
        return 0.5 * (x @ centres.mT - 1)

    def point(self, normal: Float[Tensor, "k n"]) -> Float[Tensor, "k d"]:
        """The rotation of a uniform quaternion."""
        q = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
        return quaternion_to_matrix(q).flatten(-2)


@lru_cache
def sphere_levels(dim: int) -> SphereLevels:
    """Levels of the unit sphere S^dim."""
    return SphereLevels(dim) if dim > 1 else CircleLevels()


@lru_cache
def angle_levels() -> AngleLevels:
    """Levels of a circle, as one joint of a torus."""
    return AngleLevels()


@lru_cache
def rotation_levels(size: int = 3) -> Levels:
    """Levels of SO(2) or SO(3)."""
    return RotationLevels() if size == 3 else PlaneRotationLevels()


def _jacobi(
    z: Float[Tensor, "*b k"], level: Int[Tensor, " k"], exponents: tuple[float, float]
) -> Float[Tensor, "*b k"]:
    """P_level(z) / P_level(1), column by column, for an ascending ``level``; differentiable twice."""
    if not z.requires_grad:
        return _recurred(z, level, exponents, 0)[0]
    with torch.no_grad():
        value, slope, bend = _recurred(z, level, exponents, 2)
    return with_derivatives(value, [(slope, z)], [(bend, z, z)])


def _recurred(
    z: Float[Tensor, "*b k"], level: Int[Tensor, " k"], exponents: tuple[float, float], order: int
) -> list[Float[Tensor, "*b k"]]:
    """The polynomials and their derivatives up to ``order``; the recurrence goes on with the levels that are left."""
    done: list[list[Tensor]] = [[z[..., :0]] for _ in range(order + 1)]
    before = [torch.zeros_like(z) for _ in done]
    now = [torch.ones_like(z), *(torch.zeros_like(z) for _ in range(order))]
    for n, count in enumerate(torch.bincount(level).tolist()):
        for found, one in zip(done, now, strict=True):
            found.append(one[..., :count])
        before, now = [each[..., count:] for each in before], [each[..., count:] for each in now]
        z = z[..., count:]
        slope, constant, back = _recurrence(n, *exponents)
        line = slope * z + constant
        # The product with a line has the k-th derivative  line P^(k) + k slope P^(k-1).
        after = [line * one - back * old for one, old in zip(now, before, strict=True)]
        for k in range(1, order + 1):
            after[k] = after[k] + k * slope * now[k - 1]
        before, now = now, after
    return [torch.cat(found, -1) for found in done]


def _recurrence(n: int, alpha: float, beta: float) -> tuple[float, float, float]:
    """Degree n + 1 is (slope z + constant) times degree n, minus back times degree n - 1."""
    a = alpha + beta
    if n == 0:
        slope = (a + 2) / (2 * (alpha + 1))
        return slope, 1 - slope, 0.0
    below = 2 * (n + alpha + 1) * (n + a + 1) * (2 * n + a)
    slope = (2 * n + a + 1) * (2 * n + a + 2) * (2 * n + a) / below
    constant = (2 * n + a + 1) * (alpha**2 - beta**2) / below
    return slope, constant, 2 * n * (n + beta) * (2 * n + a + 2) / below
