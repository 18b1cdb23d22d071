"""Kernels to compare with."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import LogEuclideanSPD
from geodrome_core.geometry.hyperbolic import from_poincare
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.kernels.baselines import GeodesicSE, baseline_for, least_beta
from geodrome_core.kernels.eigen_product import signed_permutations
from geodrome_core.kernels.factory import for_space
from gpytorch.kernels import MaternKernel, ScaleKernel

from tests.core.kernels.cases import SPACES, gram, manifold_of, random_rows
from tests.strategies import generator

assert_close = torch.testing.assert_close


@pytest.mark.parametrize(
    ("manifold", "beta"),
    [
        (Sphere(2), 6.5),
        (Sphere(3), 2.0),
        (Sphere(4), 1.2),
        (Sphere(5), 1.0),
        (Sphere(6), 0.6),
        (Sphere(10), 0.6),
        (Sphere(11), 0.42),
        (Sphere(31), 0.35),
        (Sphere(160), 0.21),
        (SPD(2), 0.6),
        (SPD(3), 0.5),
        (SPD(5), 0.25),
        (SPD(7), 0.22),
        (SPD(10), 0.2),
        (SPD(12), 0.16),
    ],
)
def test_beta_is_bounded_by_the_table_and_starts_above_it(manifold, beta):
    kernel = GeodesicSE(manifold)

    assert least_beta(manifold) == beta
    assert float(kernel.beta.detach()) == pytest.approx(beta + math.log(2))
    kernel.raw_lengthscale.data.fill_(1e3)  # as long as the constraint lets it be
    assert float(kernel.beta.detach()) == pytest.approx(beta)


@pytest.mark.parametrize("manifold", [Sphere(1), Sphere(161), SPD(4), Rotation(), Euclidean(2), LogEuclideanSPD(3)])
def test_manifolds_where_nobody_has_looked_have_no_bound(manifold):
    assert least_beta(manifold) is None
    assert GeodesicSE(manifold).longest == math.inf


@pytest.mark.parametrize("name", ["S2", "S3", "S10", "SPD2"])
def test_the_geodesic_kernel_is_that_of_the_distance_and_positive_definite_above_the_bound(name):
    kernel, x = baseline_for(SPACES[name], "geodesic_se"), random_rows(name, 40)
    manifold = manifold_of(name)

    k = gram(kernel, x)

    distances = manifold.distance(x[:, None].expand(-1, 40, -1), x.expand(40, -1, -1))
    assert_close(k, torch.exp(-kernel.beta.detach() * distances**2), atol=1e-14, rtol=1e-12)
    assert float(torch.linalg.eigvalsh(k)[0]) > -1e-10


@pytest.mark.parametrize("name", ["S2", "SPD2"])
def test_the_geodesic_kernel_has_finite_gradients_where_points_coincide(name):
    kernel, x = baseline_for(SPACES[name], "geodesic_se"), random_rows(name, 5).requires_grad_()

    kernel(x, x.detach()).to_dense().sum().backward()

    assert bool(x.grad.isfinite().all())
    assert bool(kernel.raw_lengthscale.grad.isfinite().all())


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_the_ambient_kernel_of_matrices_is_gpytorch_s_on_mandel_vectors(nu):
    space = space_from_spec({"type": "spd", "dim": 3, "metric": "log_euclidean"})
    x = space.manifold.random(8, generator(0))
    m, half = x.unflatten(-1, (3, 3)), math.sqrt(2)
    mandel = torch.stack(
        [m[:, 0, 0], m[:, 1, 1], m[:, 2, 2], half * m[:, 1, 2], half * m[:, 0, 2], half * m[:, 0, 1]], -1
    )
    ours, theirs = baseline_for(space, "euclidean_matern", nu=nu), MaternKernel(nu=nu).double()
    ours.lengthscale = theirs.lengthscale = 0.7

    assert_close(gram(ours, x), gram(theirs, mandel), atol=1e-7, rtol=0.0)  # they clamp squared distances


@pytest.mark.parametrize("model", ["lorentz", "poincare"])
def test_the_ambient_kernel_of_hyperbolic_points_is_that_of_the_ball(model):
    space = space_from_spec({"type": "hyperbolic", "dim": 2, "model": model, "radius": 2.0})
    inside = [[0.0, 0.0], [0.5, -0.3], [0.0, 0.75], [-0.7, 0.1]]
    x = space.rows(inside) if model == "poincare" else from_poincare(torch.tensor(inside, dtype=torch.float64))
    ours, theirs = baseline_for(space, "euclidean_matern"), MaternKernel(nu=2.5).double()
    # As far apart as the two ends of the domain are, 4, where in the ball it is 2 tanh(1).
    ours.lengthscale, theirs.lengthscale = 1.2, 1.2 * math.tanh(1.0) / 2.0

    assert_close(gram(ours, x), gram(theirs, torch.tensor(inside, dtype=torch.float64)), atol=1e-7, rtol=0.0)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_the_flat_kernel_of_matrices_is_that_of_the_log_euclidean_metric(size, nu):
    spec = {"type": "spd", "dim": size, "eigenvalues": [0.1, 10]}
    space, flat = space_from_spec(spec), space_from_spec({**spec, "metric": "log_euclidean"})
    x = space.manifold.random(8, generator(0))
    ours, theirs = baseline_for(space, "flat_matern", nu=nu), for_space(flat, nu=nu)
    ours.lengthscale = theirs.lengthscale = 1.7

    assert_close(gram(ours, x), gram(theirs, x), atol=1e-12, rtol=0.0)


def test_the_flat_kernel_of_a_product_leaves_other_factors_their_own():
    spec = {
        "type": "product",
        "factors": {"node": {"type": "hyperbolic", "dim": 2, "radius": 2.0}, "turn": {"type": "rotation"}},
    }
    space = space_from_spec(spec)
    x = space.manifold.random(6, generator(0))
    node, turn = (space.manifold.columns[name] for name in ("node", "turn"))
    flat = baseline_for(space_from_spec(spec["factors"]["node"]), "euclidean_matern").double()
    own = for_space(space_from_spec({"type": "rotation"})).double()
    product = baseline_for(space, "flat_matern").double()
    flat.lengthscale = product.kernels[0].lengthscale = 1.2
    own.lengthscale = product.kernels[1].lengthscale = 0.9

    expected = gram(flat, x[:, node]) * gram(own, x[:, turn])
    assert_close(gram(product, x), expected, atol=1e-12, rtol=0.0)


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "sphere", "dim": 2},
        *({"type": "spd", "dim": 2, "metric": m} for m in ("log_euclidean", "eigen_product")),
    ],
)
def test_the_flat_kernel_is_refused_where_it_would_be_another_name_for_the_own(spec):
    with pytest.raises(ValueError, match="flat_matern is for hyperbolic points and affine-invariant matrices"):
        baseline_for(space_from_spec(spec), "flat_matern")


def test_the_baseline_of_a_product_is_the_product_and_can_be_scaled():
    x = random_rows("tool", 6)
    kernel = ScaleKernel(baseline_for(SPACES["tool"], "geodesic_se")).double()
    kernel.outputscale = 2.0

    parts = [GeodesicSE(Sphere(2)), GeodesicSE(SPD(2))]

    expected = 2 * gram(parts[0], x[:, :3]) * gram(parts[1], x[:, 3:])
    assert_close(gram(kernel, x), expected, atol=1e-12, rtol=0.0)


@pytest.mark.parametrize(("size", "count"), [(2, 4), (3, 24)])
def test_signed_permutations_are_the_rotations_of_a_square_and_of_a_cube(size, count):
    group = signed_permutations(size)

    assert len({tuple(g.flatten().tolist()) for g in group}) == len(group) == count
    identity = torch.eye(size, dtype=torch.float64).expand(count, -1, -1)
    assert torch.equal(group @ group.mT, identity)
    assert torch.equal(torch.linalg.det(group).round(), torch.ones(count, dtype=torch.float64))


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
def test_the_kernel_of_eigenvalues_and_eigenvectors_is_a_normalized_kernel(name, nu):
    kernel, x = baseline_for(SPACES[name], "eigen_product", nu=nu), random_rows(name, 40)
    kernel.lengthscale = torch.tensor([1.5, 0.8], dtype=torch.float64)

    k = gram(kernel, x)

    assert_close(k, k.mT, atol=1e-14, rtol=0.0)
    assert_close(torch.diagonal(gram(kernel, x, x + 0)), torch.ones(40, dtype=torch.float64), atol=1e-14, rtol=0.0)
    assert float(k.abs().max()) <= 1 + 1e-14
    assert float(torch.linalg.eigvalsh(k)[0]) > -1e-12


@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
def test_the_kernel_of_eigenvalues_and_eigenvectors_does_not_change_under_rotations_and_multiples(name):
    kernel, x = baseline_for(SPACES[name], "eigen_product"), random_rows(name, 10)
    size = math.isqrt(x.shape[-1])
    turn = torch.linalg.qr(torch.randn(size, size, generator=generator(2), dtype=torch.float64)).Q

    moved = 7.0 * (turn @ x.unflatten(-1, (size, size)) @ turn.mT).flatten(-2)

    assert_close(gram(kernel, moved), gram(kernel, x), atol=1e-12, rtol=0.0)


@pytest.mark.parametrize("name", ["SPD2", "SPD3"])
def test_the_kernel_of_eigenvalues_and_eigenvectors_has_derivatives_where_eigenvalues_differ(name):
    """Those of differences, in the points and in both lengthscales."""
    kernel, x = baseline_for(SPACES[name], "eigen_product", nu=1.5), random_rows(name, 2)
    kernel.lengthscale = torch.tensor([1.5, 0.8], dtype=torch.float64)

    def k(points: torch.Tensor, kappa: torch.Tensor) -> torch.Tensor:
        return kernel.covariance(points[:, None], x[None], kernel.nu, kappa)

    near = (x * 1.1).requires_grad_()
    kappa = torch.tensor([1.5, 0.8], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(k, (near, kappa), fast_mode=True)


@pytest.mark.parametrize("name", ["S2", "log-SPD3", "tool"])
def test_other_spaces_have_no_kernel_of_eigenvalues_and_eigenvectors(name):
    with pytest.raises(ValueError, match=r"eigen_product is for SPD\(2\) and SPD\(3\), not for"):
        baseline_for(SPACES[name], "eigen_product")
