"""The flat metrics of positive definite matrices, and functions of symmetric matrices with their derivatives."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.linalg
import torch
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.matrix_functions import (
    EXP,
    LOG,
    ROOT,
    derivative,
    divided_differences,
    symmetric_function,
)
from geodrome_core.geometry.spd import SPD
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import generator, seeds

assert_close = torch.testing.assert_close

FUNCTIONS = {
    "log": (LOG, mpmath.log, scipy.linalg.logm),
    "exp": (EXP, mpmath.exp, scipy.linalg.expm),
    "root": (ROOT, mpmath.sqrt, scipy.linalg.sqrtm),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_size = pytest.mark.parametrize("size", [2, 3, 6])
every_metric = pytest.mark.parametrize("kind", [SPD, LogEuclideanSPD, CholeskySPD])

SPECTRA = {
    "equal": [0.7, 0.7, 0.7],
    "two-equal": [2.0, 2.0, 0.3],
    "nearly-equal": [1.0, 1 + 1e-9, 1 + 3e-6],
    "at-the-series-end": [1.0, 1.0 + 1e-12, 1.28],
    "apart": [0.05, 1.0, 9.0],
}


def turned(eigenvalues: list[float], seed: int = 0) -> Tensor:
    size = len(eigenvalues)
    vectors = torch.linalg.qr(torch.randn(size, size, generator=generator(seed), dtype=torch.float64)).Q
    m = (vectors * torch.tensor(eigenvalues, dtype=torch.float64)) @ vectors.mT
    return 0.5 * (m + m.mT)


def symmetric(size: int, seed: int) -> Tensor:
    m = torch.randn(size, size, generator=generator(seed), dtype=torch.float64)
    return 0.5 * (m + m.mT)


def congruent(x: Tensor, a: Tensor) -> Tensor:
    size = a.shape[-1]
    m = a @ x.unflatten(-1, (size, size)) @ a.mT
    return (0.5 * (m + m.mT)).flatten(-2)


# Functions of matrices


@every_function
@given(seed=seeds)
def test_functions_of_matrices_agree_with_scipy(name, seed):
    f, _, theirs = FUNCTIONS[name]
    m = LogEuclideanSPD(4).random(1, generator(seed))[0].unflatten(-1, (4, 4))

    np.testing.assert_allclose(symmetric_function(f, m).numpy(), theirs(m.numpy()), atol=1e-12, rtol=1e-11)


def confluent(f, points: list) -> mpmath.mpf:
    """Divided difference in 60 digits; equal points by the Taylor coefficient there."""
    points = sorted(points)
    if points[0] == points[-1]:
        return mpmath.diff(f, points[0], len(points) - 1) / mpmath.factorial(len(points) - 1)
    return (confluent(f, points[1:]) - confluent(f, points[:-1])) / (points[-1] - points[0])


@every_function
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_divided_differences_have_all_digits(name, spectrum):
    f, exact, _ = FUNCTIONS[name]

    with mpmath.workdps(60):
        for points in itertools.combinations_with_replacement(SPECTRA[spectrum], 3):
            for count in (2, 3):
                expected = float(confluent(exact, [mpmath.mpf(point) for point in points[:count]]))
                found = divided_differences(f, *torch.tensor(points[:count], dtype=torch.float64))
                assert float(found) == pytest.approx(expected, rel=3e-14)


@every_function
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_derivatives_of_matrix_functions_are_those_of_differences(name, spectrum):
    """Differences of 40-digit eigendecompositions have no trouble with nearly equal eigenvalues."""
    f, exact, _ = FUNCTIONS[name]
    m, e, g = turned(SPECTRA[spectrum]), symmetric(3, 1), symmetric(3, 2)

    def at(t: Tensor) -> Tensor:
        return (g * symmetric_function(f, m + t * e)).sum()

    zero = torch.zeros((), dtype=torch.float64)
    slope = torch.autograd.functional.jacobian(at, zero)
    bend = torch.autograd.functional.hessian(at, zero)

    with mpmath.workdps(40):

        def exactly(t: float) -> mpmath.mpf:
            values, vectors = mpmath.eigsy(mpmath.matrix(m.tolist()) + t * mpmath.matrix(e.tolist()))
            value = vectors * mpmath.diag([exact(v) for v in values]) * vectors.T
            return sum(g[i, j].item() * value[i, j] for i in range(3) for j in range(3))

        step = mpmath.mpf("1e-9")
        before, here, after = (exactly(t) for t in (-step, mpmath.mpf(0), step))
        assert float(slope) == pytest.approx(float((after - before) / (2 * step)), rel=1e-11, abs=1e-12)
        assert float(bend) == pytest.approx(float((after - 2 * here + before) / step**2), rel=1e-9, abs=1e-10)
    assert float((g * derivative(f, m, e)).sum()) == pytest.approx(float(slope), rel=1e-12)


@every_function
def test_the_derivative_along_a_direction_can_be_derived_in_the_matrix(name):
    f = FUNCTIONS[name][0]
    m, e = turned([0.7, 0.7, 2.0]), symmetric(3, 1)

    def slope(t: Tensor) -> Tensor:
        return derivative(f, m + t * e, e)

    def value(t: Tensor) -> Tensor:
        return symmetric_function(f, m + t * e)

    zero = torch.zeros((), dtype=torch.float64)
    found = torch.autograd.functional.jacobian(slope, zero)

    for i, j in itertools.product(range(3), range(3)):
        bend = torch.autograd.functional.hessian(lambda t, i=i, j=j: value(t)[i, j], zero)
        assert float(found[i, j]) == pytest.approx(float(bend), abs=1e-12)


# Metrics


@every_size
@given(seed=seeds)
def test_the_log_euclidean_distance_is_that_of_scipy_s_logarithms(size, seed):
    manifold = LogEuclideanSPD(size)
    x, y = manifold.random(2, generator(seed))

    logs = [scipy.linalg.logm(z.numpy().reshape(size, size)) for z in (x, y)]

    assert float(manifold.distance(x, y)) == pytest.approx(np.linalg.norm(logs[1] - logs[0]), rel=1e-11)
    middle = scipy.linalg.expm((logs[0] + logs[1]) / 2)
    half = manifold.exp(x, 0.5 * manifold.log(x, y))
    np.testing.assert_allclose(half.numpy().reshape(size, size), middle, atol=1e-11, rtol=1e-10)


@every_size
@given(seed=seeds)
def test_the_cholesky_distance_is_that_of_numpy_s_factors(size, seed):
    manifold = CholeskySPD(size)
    x, y = manifold.random(2, generator(seed))

    a, b = (np.linalg.cholesky(z.numpy().reshape(size, size)) for z in (x, y))

    below = np.linalg.norm(np.tril(a - b, -1))
    on = np.linalg.norm(np.log(np.diag(a)) - np.log(np.diag(b)))
    assert float(manifold.distance(x, y)) == pytest.approx(math.hypot(below, on), rel=1e-12)


@given(seed=seeds)
def test_the_cholesky_exponential_is_that_of_lin(seed):
    """Lin 2019, proposition 3: X = L L^T, then L + below(D) + diag(L exp(D / L)), with D = L half(L^-1 U L^-T)."""
    manifold = CholeskySPD(3)
    x = manifold.random(1, generator(seed))[0]
    u = symmetric(3, seed).numpy()
    factor = np.linalg.cholesky(x.numpy().reshape(3, 3))
    white = np.linalg.inv(factor) @ u @ np.linalg.inv(factor).T
    step = factor @ (np.tril(white) - np.diag(np.diag(white)) / 2)
    diagonal = np.diag(factor)

    there = np.tril(factor + step, -1) + np.diag(diagonal * np.exp(np.diag(step) / diagonal))

    found = manifold.exp(x, torch.from_numpy(u).flatten()).numpy().reshape(3, 3)
    np.testing.assert_allclose(found, there @ there.T, atol=1e-9, rtol=1e-9)


@every_size
@given(seed=seeds)
def test_on_commuting_matrices_the_log_euclidean_distance_is_the_affine_invariant_one(size, seed):
    stream = generator(seed)
    vectors = torch.linalg.qr(torch.randn(size, size, generator=stream, dtype=torch.float64)).Q
    logs = torch.randn(2, size, generator=stream, dtype=torch.float64)
    x, y = congruent(torch.diag_embed(torch.exp(logs)).flatten(-2), vectors)

    found = LogEuclideanSPD(size).distance(x, y)

    assert_close(found, SPD(size).distance(x, y), atol=0.0, rtol=1e-12)
    assert_close(found, torch.linalg.vector_norm(logs[1] - logs[0]), atol=0.0, rtol=1e-12)


@every_size
@given(seed=seeds)
def test_the_affine_invariant_distance_is_at_least_the_log_euclidean_one(size, seed):
    """Bhatia 2007, theorem 6.1.4: the exponential map of negative curvature does not shorten."""
    x, y = SPD(size).random(2, generator(seed))

    assert float(SPD(size).distance(x, y)) >= float(LogEuclideanSPD(size).distance(x, y)) - 1e-12


@every_size
@given(seed=seeds, scale=st.sampled_from([1e-6, 3.0, 1e5]))
def test_log_euclidean_distances_do_not_change_under_rotation_scaling_and_inversion(size, seed, scale):
    manifold = LogEuclideanSPD(size)
    x, y = manifold.random(4, generator(seed)), manifold.random(4, generator(seed + 1))
    turn = torch.linalg.qr(torch.randn(size, size, generator=generator(seed + 2), dtype=torch.float64)).Q
    inverse = [torch.linalg.inv(z.unflatten(-1, (size, size))).flatten(-2) for z in (x, y)]

    for a, b in ((congruent(x, turn), congruent(y, turn)), (scale * x, scale * y), inverse):
        assert_close(manifold.distance(a, b), manifold.distance(x, y), atol=1e-12, rtol=1e-11)


@every_size
@given(seed=seeds)
def test_cholesky_distances_do_not_change_under_the_product_of_the_cholesky_group(size, seed):
    """Lin 2019, section 3.3: L * K = below(L) + below(K) + diag(L) diag(K). Signs of rows may change too."""
    manifold = CholeskySPD(size)
    x, y, z = (manifold.random(4, generator(seed + k)) for k in range(3))

    def times(a: Tensor, b: Tensor) -> Tensor:
        k, m = (torch.linalg.cholesky(each.unflatten(-1, (size, size))) for each in (a, b))
        factor = k.tril(-1) + m.tril(-1) + torch.diag_embed(torch.diagonal(k * m, dim1=-2, dim2=-1))
        return (factor @ factor.mT).flatten(-2)

    signs = torch.diag(torch.tensor([(-1.0) ** k for k in range(size)], dtype=torch.float64))
    expected = manifold.distance(x, y)
    assert_close(manifold.distance(times(x, z), times(y, z)), expected, atol=1e-11, rtol=1e-10)
    assert_close(manifold.distance(congruent(x, signs), congruent(y, signs)), expected, atol=1e-12, rtol=1e-12)


@given(seed=seeds)
def test_cholesky_distances_of_diagonal_matrices_are_half_the_affine_invariant_ones(seed):
    x, y = torch.diag_embed(torch.exp(torch.randn(2, 4, generator=generator(seed), dtype=torch.float64))).flatten(-2)

    assert_close(CholeskySPD(4).distance(x, y), 0.5 * SPD(4).distance(x, y), atol=0.0, rtol=1e-13)


def test_the_diameter_of_the_log_euclidean_box_is_reached():
    manifold = LogEuclideanSPD(3, eigenvalues=(0.5, 7.0))
    eye = torch.eye(3, dtype=torch.float64).flatten()

    assert_close(manifold.distance(0.5 * eye, 7.0 * eye), torch.tensor(manifold.diameter, dtype=torch.float64))


@pytest.mark.parametrize("size", [2, 4])
def test_the_diameter_of_the_cholesky_box_bounds_matrices_at_its_corners(size):
    """Eigenvalues at the bounds, where the factor's entries are largest."""
    low, high = 0.01, 30.0
    manifold = CholeskySPD(size, eigenvalues=(low, high))
    corners = itertools.product([low, high], repeat=size)
    x = torch.stack([turned(list(c), seed).flatten() for c in corners for seed in range(20)])

    distances = manifold.distance(x[:, None].expand(-1, len(x), -1), x.expand(len(x), -1, -1))

    assert 0.5 * manifold.diameter < float(distances.max()) <= manifold.diameter


# Derivatives


@every_metric
@every_size
@pytest.mark.parametrize("place", ["coincident", "multiples-of-one", "repeated"])
def test_gradients_of_distance_and_logarithm_are_finite_and_right_where_eigenvalues_are_equal(kind, size, place):
    manifold = kind(size)
    eye = torch.eye(size, dtype=torch.float64)
    x, y = {
        "coincident": (2 * eye, 2 * eye),
        "multiples-of-one": (2 * eye, 3 * eye),
        "repeated": (2 * eye, turned([3.0, *[0.5] * (size - 1)])),
    }[place]
    x, y = x.flatten(), y.flatten()
    e = symmetric(size, 5).flatten()
    direction = symmetric(size, 6).flatten()

    def square(t: Tensor) -> Tensor:
        u = manifold.log(x, y + t * e)
        return manifold.inner(x, u, u)

    def slant(t: Tensor) -> Tensor:
        return (direction * manifold.log(x + t * e, y - t * e)).sum()

    zero = torch.zeros((), dtype=torch.float64)
    for function, step in ((square, 1e-4), (slant, 1e-4)):
        slope = torch.autograd.functional.jacobian(function, zero)
        before, after = (float(function(torch.tensor(t, dtype=torch.float64))) for t in (-step, step))
        assert float(slope) == pytest.approx((after - before) / (2 * step), abs=1e-6, rel=1e-6)
    bend = torch.autograd.functional.hessian(square, zero)
    middle = float(square(zero))
    ends = sum(float(square(torch.tensor(t, dtype=torch.float64))) for t in (-1e-3, 1e-3))
    assert float(bend) == pytest.approx((ends - 2 * middle) / 1e-6, abs=1e-3, rel=1e-4)
    for moving in (x.clone().requires_grad_(), y.clone().requires_grad_()):
        pair = (moving, y) if torch.equal(moving, x) and place != "coincident" else (x, moving)
        (gradient,) = torch.autograd.grad(manifold.distance(*pair), moving)
        assert bool(torch.isfinite(gradient).all())


@every_metric
@pytest.mark.parametrize("length", [0.0, 10.0, 1e4])
def test_the_retraction_stays_positive_definite_and_finite(kind, length):
    manifold = kind(4)
    x = manifold.random(20, generator(0))
    xi = torch.randn(20, manifold.dim, generator=generator(1), dtype=torch.float64)
    u = manifold.tangent(x, length * xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True))

    y = manifold.retract(x, u)

    assert bool((torch.linalg.eigvalsh(y.unflatten(-1, (4, 4))) > 0).all() if length < 1e3 else y.isfinite().all())
