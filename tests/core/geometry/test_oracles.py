"""Our formulas against those of pymanopt and scipy, which share no code with ours."""

from __future__ import annotations

import math

import numpy as np
import pymanopt.manifolds
import pytest
import scipy.linalg
import torch
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.rotation import Rotation, matrix_to_quaternion, quaternion_to_matrix, rotation_vector
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere
from hypothesis import given
from scipy.spatial.transform import Rotation as ScipyRotation
from torch import Tensor

from tests.strategies import generator, seeds

assert_close = torch.testing.assert_close


def pair(manifold, seed: int) -> tuple[Tensor, Tensor]:
    x, y = manifold.random(2, generator(seed))
    return x, y


def square(x: Tensor) -> np.ndarray:
    size = math.isqrt(len(x))
    return x.numpy().reshape(size, size)


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
@given(seed=seeds)
def test_spheres_agree_with_pymanopt(dim, seed):
    manifold, theirs = Sphere(dim), pymanopt.manifolds.Sphere(dim + 1)
    x, y = pair(manifold, seed)
    u = manifold.log(x, y)

    # Their distance and logarithm go through arccos, which is good for 1e-8 away from its ends.
    assert float(manifold.distance(x, y)) == pytest.approx(theirs.dist(x.numpy(), y.numpy()), abs=1e-7)
    np.testing.assert_allclose(u.numpy(), theirs.log(x.numpy(), y.numpy()), atol=1e-6)
    np.testing.assert_allclose(manifold.exp(x, u).numpy(), theirs.exp(x.numpy(), u.numpy()), atol=1e-14)
    np.testing.assert_allclose(manifold.retract(x, u).numpy(), theirs.retraction(x.numpy(), u.numpy()), atol=1e-14)
    np.testing.assert_allclose(manifold.project(x, y).numpy(), theirs.projection(x.numpy(), y.numpy()), atol=1e-14)
    assert float(manifold.inner(x, u, u)) == pytest.approx(theirs.inner_product(x.numpy(), u.numpy(), u.numpy()))


@given(seed=seeds)
def test_rotations_agree_with_pymanopt(seed):
    """Their tangents are skew matrices R^T U, and their metric is the trace: the root of 2 times our angle."""
    manifold, theirs = Rotation(), pymanopt.manifolds.SpecialOrthogonalGroup(3)
    x, y = pair(manifold, seed)
    u = manifold.log(x, y)
    skew = square(x).T @ square(u)

    assert math.sqrt(2) * float(manifold.distance(x, y)) == pytest.approx(theirs.dist(square(x), square(y)), abs=1e-9)
    np.testing.assert_allclose(skew, theirs.log(square(x), square(y)), atol=1e-9)
    np.testing.assert_allclose(square(manifold.exp(x, u)), theirs.exp(square(x), skew), atol=1e-13)
    assert 2 * float(manifold.inner(x, u, u)) == pytest.approx(theirs.inner_product(square(x), skew, skew))


@pytest.mark.parametrize("size", [1, 2, 3])
@given(seed=seeds)
def test_positive_definite_matrices_agree_with_pymanopt(size, seed):
    manifold, theirs = SPD(size), pymanopt.manifolds.SymmetricPositiveDefinite(size)
    x, y = pair(manifold, seed)
    u = manifold.log(x, y)

    assert float(manifold.distance(x, y)) == pytest.approx(theirs.dist(square(x), square(y)), abs=1e-10)
    np.testing.assert_allclose(square(u), theirs.log(square(x), square(y)), atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(square(manifold.exp(x, u)), theirs.exp(square(x), square(u)), atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(
        square(manifold.retract(x, u)), theirs.retraction(square(x), square(u)), atol=1e-9, rtol=1e-9
    )
    assert float(manifold.inner(x, u, u)) == pytest.approx(theirs.inner_product(square(x), square(u), square(u)))


@given(seed=seeds)
def test_products_agree_with_pymanopt(seed):
    manifold = Product({"direction": Sphere(2), "offset": Euclidean(2), "stiffness": SPD(2)})
    theirs = pymanopt.manifolds.Product(
        [
            pymanopt.manifolds.Sphere(3),
            pymanopt.manifolds.Euclidean(2),
            pymanopt.manifolds.SymmetricPositiveDefinite(2),
        ]
    )
    x, y = pair(manifold, seed)

    def split(row: Tensor) -> list[np.ndarray]:
        return [row[:3].numpy(), row[3:5].numpy(), square(row[5:])]

    assert float(manifold.distance(x, y)) == pytest.approx(theirs.dist(split(x), split(y)), abs=1e-7)
    for ours, part in zip(split(manifold.log(x, y)), theirs.log(split(x), split(y)), strict=True):
        np.testing.assert_allclose(ours, part, atol=1e-6)


@pytest.mark.parametrize("manifold", [Rotation(), SPD(3)])
@given(seed=seeds)
def test_exp_is_the_matrix_exponential(manifold, seed):
    """On both, the geodesic from X with velocity U is X expm(X^-1 U)."""
    x, y = pair(manifold, seed)
    u = 0.3 * manifold.log(x, y)

    there = square(x) @ scipy.linalg.expm(np.linalg.solve(square(x), square(u)))

    np.testing.assert_allclose(square(manifold.exp(x, u)), there, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("length", [1e-6, 0.01, 0.03, 0.05, 0.07, 0.1, 0.5])
@pytest.mark.parametrize("manifold", [Rotation(), SPD(2), SPD(3)])
def test_exp_of_a_single_short_tangent_has_all_digits(manifold, length):
    """The matrix exponential of torch 2.13 is off by 1e-10 there."""
    size = math.isqrt(manifold.width)
    identity = torch.eye(size, dtype=torch.float64).flatten()
    xi = torch.randn(manifold.dim, generator=generator(0), dtype=torch.float64)
    u = manifold.tangent(identity, length * xi / torch.linalg.vector_norm(xi))

    np.testing.assert_allclose(square(manifold.exp(identity, u)), scipy.linalg.expm(square(u)), atol=1e-15, rtol=0)


@given(seed=seeds)
def test_quaternions_matrices_and_rotation_vectors_agree_with_scipy(seed):
    q = torch.randn(5, 4, generator=generator(seed), dtype=torch.float64)
    q = q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)
    theirs = ScipyRotation.from_quat(q.numpy(), scalar_first=True)

    np.testing.assert_allclose(quaternion_to_matrix(q).numpy(), theirs.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(rotation_vector(q).numpy(), theirs.as_rotvec(), atol=1e-14)
    np.testing.assert_allclose(
        matrix_to_quaternion(torch.from_numpy(theirs.as_matrix())).numpy(),
        theirs.as_quat(canonical=True, scalar_first=True),
        atol=1e-15,
    )


@given(seed=seeds)
def test_the_nearest_rotation_agrees_with_the_polar_factor_of_scipy(seed):
    x = Rotation().random(1, generator(seed))[0]
    noisy = square(x) + 0.05 * torch.randn(3, 3, generator=generator(seed + 1), dtype=torch.float64).numpy()

    polar, _ = scipy.linalg.polar(noisy)

    np.testing.assert_allclose(square(Rotation().nearest(torch.from_numpy(noisy).flatten())), polar, atol=1e-14)


@given(seed=seeds)
def test_the_cayley_retraction_is_the_quotient_that_it_stands_for(seed):
    manifold = Rotation()
    x, y = pair(manifold, seed)
    u = manifold.log(x, y)
    half, eye = square(x).T @ square(u) / 2, np.eye(3)

    quotient = square(x) @ np.linalg.solve(eye - half, eye + half)

    np.testing.assert_allclose(square(manifold.retract(x, u)), quotient, atol=1e-14)
