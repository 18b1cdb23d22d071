"""The rotation group SO(3), with the distance of rotation angles."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.ball import Ball, BallDomain, cap_angles, random_directions
from geodrome_core.geometry.slack import Slack, of_number

# Generators of so(3): HAT[i] turns about axis i, so that (axis vector) @ HAT is the skew matrix.
HAT = torch.tensor(
    [
        [[0, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[0, 0, 1], [0, 0, 0], [-1, 0, 0]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 0]],
    ],
    dtype=torch.float64,
)

# Their products, each with the mean of both orders.
HAT_PRODUCTS = 0.5 * (torch.einsum("kij,ljh->klih", HAT, HAT) + torch.einsum("lij,kjh->klih", HAT, HAT))


def skew(a: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3 3"]:
    """The matrix of the cross product with ``a``."""
    return torch.einsum("...i,ijk->...jk", a, HAT)


def quaternion_to_matrix(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 3 3"]:
    """Rotation matrix of the unit quaternion (w, x, y, z)."""
    w, a = q[..., :1, None], q[..., 1:]
    eye = torch.eye(3, dtype=q.dtype)
    k = skew(a)
    return eye + 2 * w * k + 2 * k @ k


def matrix_to_quaternion(r: Float[Tensor, "*b 3 3"]) -> Float[Tensor, "*b 4"]:
    """Unit quaternion (w, x, y, z) with w > 0; when w = 0, the first non-zero of x, y, z is positive.

    Source:
        Shepperd 1978: the symmetric matrix 4 q q^T is linear in r; its row of largest diagonal is the best conditioned.
    """
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    xy, xz, yz = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    outer = torch.stack(
        [
            1 + xx + yy + zz,
            wx,
            wy,
            wz,
            wx,
            1 + xx - yy - zz,
            xy,
            xz,
            wy,
            xy,
            1 - xx + yy - zz,
            yz,
            wz,
            xz,
            yz,
            1 - xx - yy + zz,
        ],
        -1,
    ).reshape(*r.shape[:-2], 4, 4)
    best = torch.diagonal(outer, dim1=-2, dim2=-1).argmax(-1)
    row = torch.take_along_dim(outer, best[..., None, None], -2).squeeze(-2)
    return canonical_quaternion(row / torch.linalg.vector_norm(row, dim=-1, keepdim=True))


def canonical_quaternion(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 4"]:
    """Of ``q`` and ``-q``, the one whose first non-zero number is positive."""
    first = torch.take_along_dim(q, (q != 0).to(torch.int8).argmax(-1, keepdim=True), -1)
    # + 0.0 turns a negative zero into zero, which is how it should be printed.
    return torch.where(first < 0, -q, q) + 0.0


def rotation_vector(q: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 3"]:
    """Axis times angle in radians, at most pi long, of a unit quaternion (w, x, y, z)."""
    q = canonical_quaternion(q)
    sine = torch.linalg.vector_norm(q[..., 1:], dim=-1, keepdim=True)
    angle = 2 * torch.atan2(sine, q[..., :1])
    return torch.where(sine > 1e-150, angle / sine.clamp_min(1e-300), 2.0) * q[..., 1:]


class Rotation(BallDomain):
    """SO(3) as rotation matrices, nine numbers row by row.

    Tangent vectors at R are R times a skew matrix. The inner product is half the trace of U^T V, so that the distance
    of two rotations is the angle of the rotation between them, in radians.

    Args:
        ball: The domain; None for all rotations.
    """

    def __init__(self, *, ball: Ball | None = None) -> None:
        self.dim = 3
        self.width = 9
        self._bound(ball, largest=math.pi)

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Half the trace of U^T V."""
        return 0.5 * (u * v).sum(-1)

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """R exp(R^T U), by the quaternion of half the angle."""
        a = self._axis(x, u)
        half = 0.5 * torch.linalg.vector_norm(a, dim=-1, keepdim=True)
        q = torch.cat([torch.cos(half), 0.5 * torch.sinc(half / math.pi) * a], -1)
        return self._row(self._matrix(x) @ quaternion_to_matrix(q))

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """R log(R^T S); for half turns, one of the two."""
        between = self._matrix(x).mT @ self._matrix(y)
        return self._row(self._matrix(x) @ skew(rotation_vector(matrix_to_quaternion(between))))

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Angle of the rotation from ``x`` to ``y``, in radians, in [0, pi]."""
        q = matrix_to_quaternion(self._matrix(x).mT @ self._matrix(y))
        return 2 * torch.atan2(torch.linalg.vector_norm(q[..., 1:], dim=-1), q[..., 0])

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """R times the skew part of R^T V."""
        return self._row(self._matrix(x) @ skew(self._axis(x, v)))

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Nearest rotation in the Frobenius norm.

        Source:
            Umeyama 1991: U diag(1, 1, det(U V^T)) V^T of the singular value decomposition.
        """
        left, _, right = torch.linalg.svd(self._matrix(v))
        sign = torch.linalg.det(left @ right)
        fixed = torch.cat([left[..., :2], left[..., 2:] * sign[..., None, None]], -1)
        return self._row(fixed @ right)

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Cayley transform R (I - A/2)^-1 (I + A/2), A = R^T U: second order, exact rotation, no decomposition.

        With A the cross product with a, the quotient is the rotation of the quaternion (1, a/2), normalized.
        """
        a = self._axis(x, u)
        q = torch.cat([torch.ones_like(a[..., :1]), 0.5 * a], -1)
        q = q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)
        return self._row(self._matrix(x) @ quaternion_to_matrix(q))

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """Parallel along the geodesic: with h the half-way rotation, S h^-1 A h for A = R^T U (bi-invariant metric)."""
        between = self._matrix(x).mT @ self._matrix(y)
        a = 0.5 * rotation_vector(matrix_to_quaternion(between))
        half = self._row(torch.eye(3, dtype=x.dtype).expand_as(between))
        h = self._matrix(self.exp(half, self._row(skew(a))))
        return self._row(self._matrix(y) @ h.mT @ skew(self._axis(x, u)) @ h)

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """R times the three generators."""
        return (self._matrix(x).unsqueeze(-3) @ HAT).flatten(-2)

    def _random_anywhere(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """The rotations of uniform quaternions."""
        return self._row(quaternion_to_matrix(random_directions(count, 4, generator)))

    def _random_logarithms(self, count: int, radius: float, generator: torch.Generator) -> Float[Tensor, "n m"]:
        """Those of quaternions in a cap of S^3, which turn by twice their angle."""
        share = torch.rand(count, generator=generator, dtype=torch.float64)
        angles = 2 * cap_angles(share, 3, radius / 2)
        return angles.unsqueeze(-1) * random_directions(count, 3, generator)

    def _depth(self, x: Float[Tensor, "*b d"], ball: Ball) -> Float[Tensor, "*b"]:
        """(cos t - cos r) / (1 - cos r) for the angle t and the radius r: |R - C|^2 is 4 (1 - cos t)."""
        chord = x - ball.center
        return 1 - (chord * chord).sum(-1) / (8 * math.sin(ball.radius / 2) ** 2)

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """R moves to R (I + A + A^2 / 2)."""
        if self.ball is None:
            return []
        cosine = self.ball.center / (4 * math.sin(self.ball.radius / 2) ** 2)
        inner = self._matrix(x).mT @ self._matrix(cosine)
        bend = torch.einsum("bij,klij->bkl", inner, HAT_PRODUCTS)
        return [of_number(self._depth(x, self.ball), self.basis(x) @ cosine, bend)]

    @staticmethod
    def _matrix(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b 3 3"]:
        return x.unflatten(-1, (3, 3))

    @staticmethod
    def _row(r: Float[Tensor, "*b 3 3"]) -> Float[Tensor, "*b 9"]:
        return r.flatten(-2)

    @classmethod
    def _axis(cls, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b 3"]:
        """Axis vector of the skew part of R^T U."""
        return 0.5 * torch.einsum("...jk,ijk->...i", cls._matrix(x).mT @ cls._matrix(u), HAT)
