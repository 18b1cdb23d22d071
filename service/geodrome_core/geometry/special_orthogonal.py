"""The rotation groups SO(n) of any n, with the distance of rotation angles."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.ball import Ball, BallDomain
from geodrome_core.geometry.rotation_ball import random_logarithms, squared_angles

DEGREE = 13
"""Of numerator and denominator of the Padé form of the exponential."""

LARGEST_TURN = 5.0
"""Angles up to which that form is exact to rounding (Higham 2005, table 2.3: 5.37); larger ones are halved first."""

CUT = 1e-8
"""Nearer than this to two opposite half turns, the logarithm's derivatives no longer grow: they stay finite."""


def skew_exponential(a: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """The rotation exp(A) of a skew matrix; differentiable, and of a short A all digits are in exp(A) - I.

    Source:
        Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
    """
    # Not torch.linalg.matrix_exp: of a single matrix of norm 0.05 it knows 10 digits only (torch 2.13).
    turn = torch.linalg.matrix_norm(a.detach(), keepdim=True) / math.sqrt(2)
    halvings = torch.ceil(torch.log2(turn / LARGEST_TURN)).clamp_min(0)
    a = a / 2**halvings
    square, eye = a @ a, torch.eye(a.shape[-1], dtype=a.dtype)
    weights = [math.comb(DEGREE, j) / math.perm(2 * DEGREE, j) for j in range(DEGREE + 1)]
    even, odd = weights[DEGREE - 1] * eye, weights[DEGREE] * eye
    for j in range(DEGREE - 3, -1, -2):
        even, odd = even @ square + weights[j] * eye, odd @ square + weights[j + 1] * eye
    odd = a @ odd
    r = eye + 2 * torch.linalg.solve(even - odd, odd)
    for done in range(int(halvings.max()) if halvings.numel() else 0):
        r = torch.where(halvings > done, r @ r, r)
    return orthonormalized(r)


def skew_logarithm(r: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """The shortest skew A with exp(A) = R; at half turns one of them. Differentiable twice, except there."""
    with torch.no_grad():
        value = _by_schur(r.detach())
        # Schur forms drop angles below 1e-16; what is left of R is a small turn, and shows them.
        value = value + skew_part(skew_exponential(-value) @ r.detach())
    if not r.requires_grad:
        return value
    # Two Newton steps that do not change the value carry first and second derivatives.
    a = value + _along(value, r - r.detach())
    left = _along(value, r - skew_exponential(a))
    return a + (left - left.detach())


def skew_part(m: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """Half of M - M^T."""
    return 0.5 * (m - m.mT)


def orthonormalized(r: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """A matrix that rounding has left nearly orthogonal, made so by a Newton step to the polar factor."""
    return 1.5 * r - 0.5 * r @ r.mT @ r


def rotation_angles(x: Float[Tensor, "*#b k k"], y: Float[Tensor, "*#b k k"]) -> Float[Tensor, "*#b h"]:
    """Angles of X^T Y in [0, pi], ascending, one for each of the n // 2 planes; without gradients."""
    # Singular values of X - Y and X + Y are 2 sin and 2 cos of half the angles, which keeps their digits at both ends.
    with torch.no_grad():
        sines, cosines = torch.linalg.svdvals(x - y).flip(-1), torch.linalg.svdvals(x + y)
        return 2 * torch.atan2(sines, cosines)[..., x.shape[-1] % 2 :: 2]


def haar(normal: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """The rotation that is the orthogonal factor of a matrix: of one of standard normal numbers, a uniform one.

    Source:
        Mezzadri 2007, "How to generate random matrices from the classical compact groups".
    """
    q, r = torch.linalg.qr(normal)
    q = q * torch.sign(torch.diagonal(r, dim1=-2, dim2=-1)).unsqueeze(-2)
    sign = torch.sign(torch.linalg.det(q))[..., None, None]
    return torch.cat([q[..., :-1], q[..., -1:] * sign], -1)


class SpecialOrthogonal(BallDomain):
    """SO(n) as rotation matrices, n*n numbers row by row.

    Tangent vectors at R are R times a skew matrix. The inner product is half the trace of U^T V, so that the distance
    of two rotations is the root of the sum of the squared angles of the rotation between them, in radians.

    Args:
        size: n, rows of the matrices, at least 2.
        ball: The domain; None for all rotations.

    Source:
        Edelman, Arias, Smith 1998, "The geometry of algorithms with orthogonality constraints".
    """

    def __init__(self, size: int, *, ball: Ball | None = None) -> None:
        self.size = size
        self.dim = size * (size - 1) // 2
        self.width = size * size
        self._bound(ball, largest=math.pi * math.sqrt(size // 2))
        i, j = torch.triu_indices(size, size, 1)
        units = torch.zeros(self.dim, size, size, dtype=torch.float64)
        units[torch.arange(self.dim), j, i] = 1
        self._generators = units - units.mT

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Half the trace of U^T V."""
        return 0.5 * (u * v).sum(-1)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """R exp(R^T U)."""
        return (self._matrix(x) @ skew_exponential(self._skew(x, u))).flatten(-2)

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """R log(R^T S); for half turns, one of the shortest."""
        r = self._matrix(x)
        return (r @ skew_logarithm(r.mT @ self._matrix(y))).flatten(-2)

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Root of the sum of the squared angles of the rotation from ``x`` to ``y``, in radians."""
        r, s = self._matrix(x), self._matrix(y)
        if r.requires_grad or s.requires_grad:
            # Singular values, which come in pairs, have no second derivatives.
            return torch.linalg.matrix_norm(skew_logarithm(r.mT @ s)) / math.sqrt(2)
        return torch.linalg.vector_norm(rotation_angles(r, s), dim=-1)

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """R times the skew part of R^T V."""
        return (self._matrix(x) @ self._skew(x, v)).flatten(-2)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Nearest rotation in the Frobenius norm.

        Source:
            Umeyama 1991: U diag(1, …, 1, det(U V^T)) V^T of the singular value decomposition.
        """
        left, _, right = torch.linalg.svd(self._matrix(v))
        sign = torch.linalg.det(left @ right)
        fixed = torch.cat([left[..., :-1], left[..., -1:] * sign[..., None, None]], -1)
        return (fixed @ right).flatten(-2)

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Cayley transform R (I - A/2)^-1 (I + A/2), A = R^T U: second order."""
        half, eye = 0.5 * self._skew(x, u), torch.eye(self.size, dtype=x.dtype)
        # Of a long step the solver leaves 1e-14 of orthogonality.
        return (self._matrix(x) @ orthonormalized(torch.linalg.solve(eye - half, eye + half))).flatten(-2)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """Parallel along the geodesic: with h the half-way rotation, S h^-1 A h for A = R^T U (bi-invariant metric)."""
        h = skew_exponential(0.5 * skew_logarithm(self._matrix(x).mT @ self._matrix(y)))
        return (self._matrix(y) @ h.mT @ self._skew(x, u) @ h).flatten(-2)

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """R times the turns in the coordinate planes."""
        return (self._matrix(x).unsqueeze(-3) @ self._generators).flatten(-2)

    def _random_anywhere(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        return haar(torch.randn(count, self.size, self.size, generator=generator, dtype=torch.float64)).flatten(-2)

    def _random_logarithms(self, count: int, radius: float, generator: torch.Generator) -> Float[Tensor, "n m"]:
        return random_logarithms(count, self._generators, radius=radius, generator=generator)

    def _depth(self, x: Float[Tensor, "*b d"], ball: Ball) -> Float[Tensor, "*b"]:
        """1 - t^2 / r^2 for the distance t and the radius r."""
        return 1 - squared_angles(self._matrix(x - ball.center)) / ball.radius**2

    def _matrix(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k k"]:
        return x.unflatten(-1, (self.size, self.size))

    def _skew(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k k"]:
        """Skew part of R^T U."""
        return skew_part(self._matrix(x).mT @ self._matrix(u))


def _by_schur(r: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """Logarithms by the real Schur form, which keeps planes of equal angles apart and half turns real."""
    out = np.empty(r.shape)
    for index in np.ndindex(r.shape[:-2]):
        blocks, vectors = scipy.linalg.schur(r[index].numpy())
        out[index] = vectors @ _logarithm_of_blocks(blocks) @ vectors.T
    return skew_part(torch.from_numpy(out))


def _logarithm_of_blocks(blocks: np.ndarray) -> np.ndarray:
    """Of the real Schur form of a rotation: turns on the diagonal, 1, and -1 an even number of times."""
    a = np.zeros_like(blocks)
    turned = np.append(np.diagonal(blocks, -1) != 0, False)
    halves = [i for i in range(len(blocks)) if blocks[i, i] < 0 and not (turned[i] or (i > 0 and turned[i - 1]))]
    for i in np.flatnonzero(turned).tolist():
        sine, cosine = blocks[i + 1, i] - blocks[i, i + 1], blocks[i, i] + blocks[i + 1, i + 1]
        a[i + 1, i] = np.arctan2(sine, cosine)
    for i, j in zip(halves[::2], halves[1::2], strict=False):
        a[j, i] = math.pi
    return a - a.T


def _along(a: Float[Tensor, "*b k k"], e: Float[Tensor, "*b k k"]) -> Float[Tensor, "*b k k"]:
    """Derivative of the logarithm at exp(A) along E, by divided differences at the eigenvalues exp(i phi)."""
    phi, vectors = torch.linalg.eigh(-1j * a)
    mean, gap = 0.5 * (phi.unsqueeze(-1) + phi.unsqueeze(-2)), phi.unsqueeze(-1) - phi.unsqueeze(-2)
    differences = torch.polar(1 / torch.sinc(gap / (2 * math.pi)).clamp_min(CUT), -mean)
    inner = differences * (vectors.mH @ e.to(vectors.dtype) @ vectors)
    return skew_part((vectors @ inner @ vectors.mH).real)
