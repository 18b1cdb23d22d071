"""What makes a function of two points the Matérn kernel of its space."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats
import torch
from geodrome_core.geometry.rotation import quaternion_to_matrix
from geodrome_core.kernels.isotropic import RotationMatern, SphereMatern
from torch import Tensor

from tests.core.kernels.cases import (
    SPACES,
    crowded_rows,
    every_smoothness,
    every_space,
    gram,
    kernel_of,
    manifold_of,
    random_rows,
)
from tests.strategies import generator

assert_close = torch.testing.assert_close

CONVERGING = [0.05, 0.3, 1.0, 5.0]
"""Lengthscales in units of the diameter."""


@every_smoothness
@every_space
def test_kernels_are_symmetric_bounded_and_one_at_coincident_points(name, nu):
    kernel = kernel_of(name, nu=nu)
    x, y = crowded_rows(name, 20), random_rows(name, 15, seed=1)

    k = gram(kernel, x, y)

    assert_close(gram(kernel, y, x), k.mT, atol=1e-15, rtol=0.0)
    assert float(gram(kernel, x).abs().max()) <= 1 + 1e-12
    assert torch.equal(torch.diagonal(gram(kernel, x)), torch.ones(len(x), dtype=torch.float64))
    apart = gram(kernel, x, x.clone()[:, None].expand(-1, 2, -1).flatten(0, 1))[:, ::2]  # not seen as the same points
    assert_close(torch.diagonal(apart), torch.ones(len(x), dtype=torch.float64), atol=1e-15, rtol=0.0)
    assert_close(apart, gram(kernel, x), atol=1e-15, rtol=0.0)


@pytest.mark.parametrize("share", CONVERGING)
@every_smoothness
@every_space
def test_kernels_are_positive_definite(name, nu, share):
    """Sixty points, some of them equal, nearly equal or antipodal.

    The squared exponential of the geodesic distance is no kernel: on rotations such matrices have eigenvalues of -0.4.
    Reports: meta-pytorch/botorch issue 1529, JuliaGaussianProcesses/KernelFunctions.jl issue 520.
    """
    kernel = kernel_of(name, nu=nu, kappa=share * manifold_of(name).diameter)

    eigenvalues = torch.linalg.eigvalsh(gram(kernel, crowded_rows(name, 60)))

    assert float(eigenvalues[0]) >= -1e-10


@pytest.mark.parametrize("kappa", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@every_space
def test_many_points_and_any_lengthscale_keep_kernels_positive_definite(name, nu, kappa):
    k = gram(kernel_of(name, nu=nu, kappa=kappa), random_rows(name, 400))

    assert bool(torch.isfinite(k).all())
    assert float(torch.linalg.eigvalsh(k)[0]) >= -1e-10 * 400


def test_the_squared_exponential_of_the_distance_is_no_kernel():
    """The same points and bound tell a wrong kernel from a right one."""
    x = crowded_rows("SO3", 60)

    distances = manifold_of("SO3").distance(x[:, None].expand(-1, 60, -1), x.expand(60, -1, -1))

    assert float(torch.linalg.eigvalsh(torch.exp(-(distances**2) / (2 * 2.0**2)))[0]) < -1e-3


def orthogonal(size: int, seed: int) -> Tensor:
    found = scipy.stats.special_ortho_group(size, seed=np.random.default_rng(seed)).rvs()
    return torch.from_numpy(np.asarray(found))


@every_smoothness
@pytest.mark.parametrize("name", ["R3", "S1", "S2", "S10", "S31"])
def test_turning_all_points_changes_nothing(name, nu):
    kernel = kernel_of(name, nu=nu)
    x, turn = random_rows(name, 12), orthogonal(manifold_of(name).width, seed=1)

    assert_close(gram(kernel, x @ turn), gram(kernel, x), atol=1e-12, rtol=0.0)
    assert_close(gram(kernel, -x), gram(kernel, x), atol=0.0, rtol=0.0)


@every_smoothness
def test_moving_all_points_changes_nothing(nu):
    kernel, x = kernel_of("R3", nu=nu), random_rows("R3", 12)

    assert_close(gram(kernel, x + torch.tensor([3.0, -1.0, 0.5])), gram(kernel, x), atol=1e-13, rtol=0.0)


@every_smoothness
@pytest.mark.parametrize("name", ["SO3", "SO2", "SO4", "SO5"])
def test_rotations_may_be_turned_on_either_side_and_inverted(name, nu):
    kernel, x = kernel_of(name, nu=nu), random_rows(name, 12)
    size = math.isqrt(x.shape[-1])
    r, left, right = x.unflatten(-1, (size, size)), orthogonal(size, seed=1), orthogonal(size, seed=2)

    k = gram(kernel, x)

    for moved in (left @ r, r @ right, left @ r @ right, r.mT):
        assert_close(gram(kernel, moved.flatten(-2)), k, atol=1e-12, rtol=0.0)


@every_smoothness
@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_matrices_may_be_congruently_changed_and_inverted(nu, name, scale):
    kernel, x = kernel_of(name, nu=nu), random_rows(name, 12)
    size = math.isqrt(x.shape[-1])
    m = x.unflatten(-1, (size, size))
    a = scale * torch.tensor([[1.0, 2.0, 0.3], [-0.5, 0.7, 0.1], [0.2, -1.0, 2.0]], dtype=torch.float64)[:size, :size]

    k = gram(kernel, x)

    for moved in (a @ m @ a.mT, torch.linalg.inv(m)):
        assert_close(gram(kernel, moved.flatten(-2)), k, atol=1e-11, rtol=0.0)


@every_smoothness
def test_a_quaternion_and_its_negative_have_the_same_covariances(nu):
    kernel = kernel_of("SO3", nu=nu)
    q = torch.randn(10, 4, generator=generator(0), dtype=torch.float64)
    q = q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)
    x, negated = (quaternion_to_matrix(each).flatten(-2) for each in (q, -q))

    assert_close(gram(kernel, x, negated), gram(kernel, x), atol=1e-15, rtol=0.0)


@every_smoothness
@pytest.mark.parametrize("kappa", [0.2, 1.0, 4.0])
def test_the_kernel_of_rotations_is_that_of_quaternions_made_even(nu, kappa):
    """SO(3) is S^3 with q and -q made one, and its angles are twice as large."""
    q = torch.randn(10, 4, generator=generator(0), dtype=torch.float64)
    q = q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)
    x = quaternion_to_matrix(q).flatten(-2)
    on_sphere = SphereMatern(nu=nu)
    on_sphere.lengthscale = kappa / 2
    on_rotations = RotationMatern(nu=nu)
    on_rotations.lengthscale = kappa

    even = gram(on_sphere, q) + gram(on_sphere, q, -q)

    assert_close(gram(on_rotations, x), even / even[0, 0], atol=1e-12, rtol=0.0)


@pytest.mark.parametrize("name", ["pose", "tool"])
@every_smoothness
def test_the_kernel_of_a_product_is_the_product_of_its_factors_kernels(name, nu):
    space, x = SPACES[name], random_rows(name, 10)
    kernel = kernel_of(name, nu=nu, kappa=0.8)

    parts = [
        gram(part, x[:, columns])
        for part, columns in zip(
            [factor_kernel(factor, nu) for factor in space.factors.values()],
            space.manifold.columns.values(),
            strict=True,
        )
    ]

    assert_close(gram(kernel, x), parts[0] * parts[1], atol=1e-15, rtol=0.0)


@every_smoothness
@pytest.mark.parametrize("name", ["H2", "H3", "H8"])
def test_a_lorentz_transformation_of_all_points_changes_nothing(name, nu):
    """A boost along the first axis, then a reflection of the last."""
    kernel, x = kernel_of(name, nu=nu), random_rows(name, 12)
    move = torch.eye(x.shape[-1], dtype=torch.float64)
    move[0, 0] = move[1, 1] = math.cosh(1.3)
    move[0, 1] = move[1, 0] = math.sinh(1.3)
    move[-1, -1] = -1

    assert_close(gram(kernel, x @ move), gram(kernel, x), atol=1e-12, rtol=0.0)


@every_smoothness
def test_hyperbolic_kernels_of_long_lengthscales_tend_to_the_ground_function(nu):
    """On H^3 it is r / sinh r."""
    r = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    x = torch.stack([torch.cosh(r), torch.sinh(r), 0 * r, 0 * r], -1)

    found = gram(kernel_of("H3", nu=nu, kappa=100.0), torch.eye(4, dtype=torch.float64)[:1], x)[0]

    assert_close(found, r / torch.sinh(r), atol=0.03 if nu == 0.5 else 1e-3, rtol=0.0)


def factor_kernel(factor, nu):
    name = {"Euclidean": "R3", "Rotation": "SO3", "Sphere": "S2", "SPD": "SPD2"}[type(factor).__name__]
    return kernel_of(name, nu=nu, kappa=0.8)


def line(name: str, count: int, length: float) -> Tensor:
    """Points along a geodesic."""
    manifold = manifold_of(name)
    x = random_rows(name, 1).expand(count, -1)
    u = manifold.tangent(x, torch.eye(manifold.dim, dtype=torch.float64)[:1].expand(count, -1))
    return manifold.exp(x, torch.linspace(0, length, count, dtype=torch.float64)[:, None] * u)


@every_space
def test_smoother_and_smoother_kernels_tend_to_the_heat_kernel(name):
    """The difference falls as 1 / nu."""
    x = line(name, 10, 0.5)
    heat = gram(kernel_of(name, nu=math.inf, kappa=0.2), x)

    rough, smooth = (float((gram(kernel_of(name, nu=nu, kappa=0.2), x) - heat).abs().max()) for nu in (20.0, 40.0))

    assert 0.4 < smooth / rough < 0.6
    assert smooth < 0.05


@every_smoothness
@pytest.mark.parametrize("name", [name for name in SPACES if name not in ("SPD2", "SPD3", "tool", "H2", "H3", "H8")])
def test_kernels_of_long_lengthscales_tend_to_one(name, nu):
    x = random_rows(name, 10)

    gaps = [1 - float(gram(kernel_of(name, nu=nu, kappa=kappa), x).min()) for kappa in (1.0, 10.0, 100.0)]

    assert gaps[0] > gaps[1] - 1e-14 > gaps[2] - 2e-14
    assert gaps[2] < (0.1 if nu == 0.5 else 5e-3)


@every_smoothness
def test_kernels_of_matrices_with_long_lengthscales_tend_to_the_ground_function(nu):
    """In negative curvature heat never becomes even: its limit, normalized, is P_(-1/2)(cosh r) on the plane.

    Two matrices of one determinant are half the geodesic distance apart there, times the root of 2.
    """
    logs = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    x = torch.diag_embed(torch.exp(torch.stack([logs, -logs], -1))).flatten(-2)
    kernel = kernel_of("SPD2", nu=nu, kappa=100.0)

    found = gram(kernel, torch.eye(2, dtype=torch.float64).reshape(1, 4), x)[0]

    expected = [float(mpmath.legenp(-0.5, 0, mpmath.cosh(log), type=3)) for log in logs.tolist()]
    np.testing.assert_allclose(found.numpy(), expected, atol=0.05 if nu == 0.5 else 2e-3)


@every_smoothness
@every_space
def test_kernels_of_short_lengthscales_tend_to_the_identity(name, nu):
    kernel = kernel_of(name, nu=nu, kappa=0.01)

    k = gram(kernel, random_rows(name, 3))

    assert_close(k, torch.eye(3, dtype=torch.float64), atol=1e-8, rtol=0.0)


@every_smoothness
@every_space
def test_covariances_fall_with_the_distance(name, nu):
    x = line(name, 50, math.pi)

    for kappa in (0.3, 1.0, 10.0):
        k = gram(kernel_of(name, nu=nu, kappa=kappa), x[:1], x)[0]

        assert bool((torch.diff(k) <= 1e-14).all())


@every_smoothness
@every_space
def test_near_coincidence_covariances_have_the_distance_s_digits(name, nu):
    """One minus the kernel follows its power law, down to a thousandth of the lengthscale: no digits are lost in w."""
    kernel = kernel_of(name, nu=nu, kappa=0.01)
    x = line(name, 5, 8e-5)

    gaps = 1 - gram(kernel, x[:1], x[[1, 2, 4]])[0]

    ratio = 2 if nu == 0.5 else 4
    assert_close(gaps[1:] / gaps[:-1], torch.full((2,), float(ratio), dtype=torch.float64), atol=0.03, rtol=0.0)
