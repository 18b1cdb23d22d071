"""Matérn kernels of positive definite matrices under the flat metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space
from geodrome_core.kernels.flat_spd import CholeskyMatern, LogEuclideanMatern
from gpytorch.kernels import MaternKernel, RBFKernel

from tests.core.kernels.cases import every_smoothness, gram
from tests.strategies import generator

assert_close = torch.testing.assert_close

every_size = pytest.mark.parametrize("size", [2, 3, 6])


def matrices(size: int, metric: str, count: int = 10):
    space = space_from_spec({"type": "spd", "dim": size, "metric": metric})
    return space, space.manifold.random(count, generator(size))


def closed_form(nu: float, kappa: float, distances: np.ndarray) -> np.ndarray:
    """Rasmussen and Williams 2006, equations 4.17 and 4.9."""
    r = distances / kappa
    return {
        0.5: np.exp(-r),
        1.5: (1 + math.sqrt(3) * r) * np.exp(-math.sqrt(3) * r),
        2.5: (1 + math.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-math.sqrt(5) * r),
        math.inf: np.exp(-(r**2) / 2),
    }[nu]


def distances(coordinates: list[np.ndarray]) -> np.ndarray:
    flat = np.stack([each.ravel() for each in coordinates])
    return np.linalg.norm(flat[:, None] - flat, axis=-1)


@every_size
@pytest.mark.parametrize("kappa", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, math.inf])
def test_kernels_are_the_closed_forms_of_the_distances_of_scipy(size, nu, kappa):
    space, x = matrices(size, "log_euclidean")
    logs = [scipy.linalg.logm(each.numpy().reshape(size, size)) for each in x]
    factors = [np.linalg.cholesky(each.numpy().reshape(size, size)) for each in x]
    cholesky = [np.tril(each, -1) + np.diag(np.log(np.diag(each))) for each in factors]
    other, _ = matrices(size, "cholesky")

    for of, coordinates in ((space, logs), (other, cholesky)):
        k = gram(for_space(of, nu=nu, lengthscale=kappa), x)
        np.testing.assert_allclose(k.numpy(), closed_form(nu, kappa, distances(coordinates)), atol=2e-12)


@every_smoothness
@every_size
def test_log_euclidean_kernels_do_not_change_under_rotation_scaling_and_inversion(size, nu):
    space, x = matrices(size, "log_euclidean")
    m = x.unflatten(-1, (size, size))
    turn = torch.linalg.qr(torch.randn(size, size, generator=generator(1), dtype=torch.float64)).Q
    kernel = for_space(space, nu=nu, lengthscale=1.0)

    for moved in (turn @ m @ turn.mT, 1e4 * m, torch.linalg.inv(m)):
        assert_close(gram(kernel, moved.flatten(-2)), gram(kernel, x), atol=1e-11, rtol=0.0)


@pytest.mark.parametrize("metric", ["log_euclidean", "cholesky"])
@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
def test_four_hundred_matrices_of_six_rows_have_a_positive_definite_gram(metric, nu):
    space, x = matrices(6, metric, count=400)
    x[-20:] = x[:20]

    for kappa in (0.01, 1.0, 100.0):
        eigenvalues = torch.linalg.eigvalsh(gram(for_space(space, nu=nu, lengthscale=kappa), x))
        assert float(eigenvalues[0]) > -400 * 1e-10


@pytest.mark.parametrize(("kind", "metric"), [(LogEuclideanMatern, "log_euclidean"), (CholeskyMatern, "cholesky")])
def test_a_batch_of_lengthscales_gives_gpytorch_s_matrices(kind, metric):
    _, x = matrices(3, metric, count=5)
    scales = torch.tensor([0.3, 2.0], dtype=torch.float64).reshape(2, 1, 1)
    coordinates = kind.manifold(3).coordinates(x)

    batch = torch.Size([2])
    for nu, theirs in ((1.5, MaternKernel(nu=1.5, batch_shape=batch)), (math.inf, RBFKernel(batch_shape=batch))):
        ours = kind(nu=nu, batch_shape=batch)
        ours.lengthscale = theirs.double().lengthscale = scales
        assert_close(gram(ours, x), gram(theirs, coordinates), atol=1e-7, rtol=0.0)  # they clamp squared distances
