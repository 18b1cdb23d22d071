"""Derivatives of kernels: by autograd against finite differences, and finite where formulas are singular."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tests.core.kernels.cases import (
    SMOOTHNESS,
    SPACES,
    every_smoothness,
    every_space,
    kernel_of,
    manifold_of,
    random_rows,
)
from tests.strategies import generator

assert_close = torch.testing.assert_close

KAPPA = 0.8

twice_differentiable = pytest.mark.parametrize("nu", [nu for nu in SMOOTHNESS if nu > 1])


def rows(*points: list[float]) -> Tensor:
    return torch.tensor(points, dtype=torch.float64)


def diagonal(*values: float) -> Tensor:
    return torch.diag(torch.tensor(values, dtype=torch.float64)).reshape(1, -1)


IDENTITY4 = diagonal(1, 1, 1, 1)

SINGULAR: dict[str, tuple[str, Tensor, Tensor]] = {
    "same-number": ("R1", rows([0.3]), rows([0.3])),
    "same-vector": ("R3", rows([0.3, 0, -1]), rows([0.3, 0, -1])),
    "same-angle": ("S1", rows([0.6, 0.8]), rows([0.6, 0.8])),
    "same-direction": ("S2", rows([0, 0, 1]), rows([0, 0, 1])),
    "opposite-angle": ("S1", rows([0.6, 0.8]), rows([-0.6, -0.8])),
    "opposite-direction": ("S2", rows([0, 0, 1]), rows([0, 0, -1])),
    "opposite-far": ("S31", rows([1] + 31 * [0]), rows([-1] + 31 * [0])),
    "same-rotation": ("SO3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([1, 0, 0, 0, 1, 0, 0, 0, 1])),
    "half-turn": ("SO3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([-1, 0, 0, 0, -1, 0, 0, 0, 1])),
    "same-turn": ("SO2", rows([0.6, -0.8, 0.8, 0.6]), rows([0.6, -0.8, 0.8, 0.6])),
    "opposite-turn": ("SO2", rows([1, 0, 0, 1]), rows([-1, 0, 0, -1])),
    "same-angles": ("T4", rows([0.3, -2, 3, 0]), rows([0.3, -2, 3, 0])),
    "across-the-end": ("T2", rows([3.1415926535, 1]), rows([-3.1415926535, 1])),
    "half-a-turn-of-one": ("T4", rows([0.3, -2, 3, 0]), rows([0.3 - math.pi, -2, 3, 0])),
    "half-a-turn-of-all": ("T2", rows([0, 0]), rows([math.pi, math.pi])),
    "same-rotation4": ("SO4", IDENTITY4, IDENTITY4),
    "half-turn4": ("SO4", IDENTITY4, diagonal(-1, -1, 1, 1)),
    "two-half-turns": ("SO4", IDENTITY4, diagonal(-1, -1, -1, -1)),
    "equal-angles": ("SO4", IDENTITY4, rows([0.6, -0.8, 0, 0, 0.8, 0.6, 0, 0, 0, 0, 0.6, -0.8, 0, 0, 0.8, 0.6])),
    "opposite-angles": ("SO4", IDENTITY4, rows([0.6, -0.8, 0, 0, 0.8, 0.6, 0, 0, 0, 0, 0.6, 0.8, 0, 0, -0.8, 0.6])),
    "same-rotation5": ("SO5", diagonal(1, -1, -1, 1, 1), diagonal(1, -1, -1, 1, 1)),
    "two-half-turns5": ("SO5", diagonal(1, 1, 1, 1, 1), diagonal(-1, -1, -1, 1, -1)),
    "same-matrix": ("SPD2", rows([2, 1, 1, 3]), rows([2, 1, 1, 3])),
    "identity-twice": ("SPD2", rows([1, 0, 0, 1]), rows([1, 0, 0, 1])),
    "equal-eigenvalues": ("SPD2", rows([1, 0, 0, 1]), rows([3, 0, 0, 3])),
    "same-matrix-of-three": ("SPD3", rows([2, 1, 0, 1, 3, 0, 0, 0, 1]), rows([2, 1, 0, 1, 3, 0, 0, 0, 1])),
    "multiples-of-three": ("SPD3", rows([2, 1, 0, 1, 3, 0, 0, 0, 1]), rows([4, 2, 0, 2, 6, 0, 0, 0, 2])),
    "large-eigenvalue-twice": ("SPD3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([2, 0, 0, 0, 2, 0, 0, 0, 1])),
    "small-eigenvalue-twice": ("SPD3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([2, 0, 0, 0, 1, 0, 0, 0, 1])),
    "even-eigenvalues": ("SPD3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([2, 0, 0, 0, 1, 0, 0, 0, 0.5])),
    "log-same-matrix": ("log-SPD3", rows([2, 1, 0, 1, 3, 0, 0, 0, 1]), rows([2, 1, 0, 1, 3, 0, 0, 0, 1])),
    "log-equal-eigenvalues": ("log-SPD3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([2, 0, 0, 0, 2, 0, 0, 0, 1])),
    "cholesky-identity-twice": ("cholesky-SPD3", rows([1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([1, 0, 0, 0, 1, 0, 0, 0, 1])),
    "same-hyperbolic": ("H2", rows([1.25, 0.45, 0.6]), rows([1.25, 0.45, 0.6])),
    "origin-twice": ("H3", rows([1, 0, 0, 0]), rows([1, 0, 0, 0])),
    "same-pose": ("pose", rows([1, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([1, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1])),
    "same-position": ("pose", rows([1, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1]), rows([1, 2, 3, 0, 1, 0, 1, 0, 0, 0, 0, -1])),
}
"""Pairs of points at which a distance has no derivative."""

every_singular_place = pytest.mark.parametrize("place", SINGULAR)


def along(name: str, x: Tensor, y: Tensor, nu: float, kappa: float = KAPPA):
    """Kernel of ``y`` and points reached from ``x`` by coordinates xi (m,), by the retraction."""
    kernel, manifold = kernel_of(name, nu=nu, kappa=kappa), manifold_of(name)

    def k(xi: Tensor) -> Tensor:
        moved = manifold.retract(x, manifold.tangent(x, xi.unsqueeze(0)))
        return kernel(moved, y).to_dense().squeeze()

    return k


def directions(name: str, count: int = 3) -> Tensor:
    dim = manifold_of(name).dim
    xi = torch.randn(count, dim, generator=generator(5), dtype=torch.float64)
    return xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True)


def central(values: list[float], step: float) -> tuple[float, float]:
    """First and second derivative from values at -3 … 3 steps: differences of sixth order."""
    a, b, c, d, e, f, g = values
    first = (-a + 9 * b - 45 * c + 45 * e - 9 * f + g) / (60 * step)
    second = (2 * a - 27 * b + 270 * c - 490 * d + 270 * e - 27 * f + 2 * g) / (180 * step**2)
    return first, second


def along_line(k, xi: Tensor, step: float) -> tuple[float, float]:
    with torch.no_grad():
        return central([float(k(i * step * xi)) for i in range(-3, 4)], step)


def gradient_and_hessian(k, dim: int) -> tuple[Tensor, Tensor]:
    zero = torch.zeros(dim, dtype=torch.float64)
    return torch.autograd.functional.jacobian(k, zero), torch.autograd.functional.hessian(k, zero)


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@every_space
def test_derivatives_in_the_points_are_those_of_differences(name, nu):
    x, y = random_rows(name, 1), random_rows(name, 1, seed=1)
    y = manifold_of(name).exp(x, 0.4 * manifold_of(name).log(x, y))  # near enough for the kernel to be felt
    k = along(name, x, y, nu)

    gradient, hessian = gradient_and_hessian(k, manifold_of(name).dim)

    for xi in directions(name):
        first, second = along_line(k, xi, 4e-3)
        assert float(gradient @ xi) == pytest.approx(first, abs=1e-10, rel=1e-8)
        assert float(xi @ hessian @ xi) == pytest.approx(second, abs=1e-8, rel=1e-7)


@every_smoothness
@every_singular_place
def test_derivatives_are_finite_at_singular_places(place, nu):
    name, x, y = SINGULAR[place]

    gradient, hessian = gradient_and_hessian(along(name, x, y, nu), manifold_of(name).dim)

    assert bool(torch.isfinite(gradient).all())
    assert bool(torch.isfinite(hessian).all())


@twice_differentiable
@every_singular_place
def test_derivatives_are_right_at_singular_places(place, nu):
    """At coincident points a kernel of nu = 1.5 has a third derivative that jumps: hence short steps, one order."""
    name, x, y = SINGULAR[place]
    k = along(name, x, y, nu)

    gradient, hessian = gradient_and_hessian(k, manifold_of(name).dim)

    for xi in directions(name):
        with torch.no_grad():
            before, at, after = (float(k(i * 1e-4 * xi)) for i in (-1, 0, 1))
        assert float(gradient @ xi) == pytest.approx((after - before) / 2e-4, abs=1e-7)
        assert float(xi @ hessian @ xi) == pytest.approx((after - 2 * at + before) / 1e-8, abs=2e-3)


@pytest.mark.parametrize("length", [1e-12, 1e-9, 1e-6, 1e-3, 10.0])
@every_smoothness
@every_space
def test_derivatives_are_finite_near_and_far(name, nu, length):
    manifold = manifold_of(name)
    x = random_rows(name, 1)
    y = manifold.exp(x, manifold.tangent(x, length * directions(name, 1)))

    gradient, hessian = gradient_and_hessian(along(name, x, y, nu), manifold.dim)

    assert bool(torch.isfinite(gradient).all())
    assert bool(torch.isfinite(hessian).all())


@pytest.mark.parametrize("length", [1e-7, 1e-5, 1e-4])
@pytest.mark.parametrize("nu", [2.5, math.inf])
@every_space
def test_near_coincidence_the_gradient_is_the_curvature_times_the_step(name, nu, length):
    """No digits are lost in differences of near points."""
    manifold = manifold_of(name)
    x, xi = random_rows(name, 1), directions(name, 1)
    y = manifold.exp(x, manifold.tangent(x, length * xi))

    gradient, _ = gradient_and_hessian(along(name, x, y, nu), manifold.dim)
    _, hessian = gradient_and_hessian(along(name, x, x, nu), manifold.dim)

    assert_close(gradient / length, -hessian @ xi[0], atol=1e-5, rtol=3e-4)


@twice_differentiable
@pytest.mark.parametrize(
    "name",
    [name for name in SPACES if name not in ("SPD2", "SPD3", "pose", "tool")],
)
def test_the_curvature_where_points_coincide_is_the_same_in_all_directions(name, nu):
    """All but products, and affine-invariant matrices, are isotropic: k is 1 - c |xi|^2 / 2 + … for each direction."""
    x = random_rows(name, 1)

    gradient, hessian = gradient_and_hessian(along(name, x, x, nu), manifold_of(name).dim)

    assert_close(gradient, torch.zeros_like(gradient), atol=1e-12, rtol=0.0)
    assert float(hessian[0, 0]) < 0
    assert_close(hessian, hessian[0, 0] * torch.eye(len(hessian), dtype=torch.float64), atol=1e-9, rtol=0.0)


@pytest.mark.parametrize("kappa", [0.3, 1.0])
@pytest.mark.parametrize(
    "name",
    [name for name in SPACES if name not in ("pose", "tool")],
)
def test_the_heat_kernel_solves_the_heat_equation(name, kappa):
    """With u = kappa^2 / 2, dk/du = L k(x, y) - k(x, y) L k(x, x), for k is normalized. L is the Laplacian in x."""
    manifold = manifold_of(name)
    x, y = random_rows(name, 1), random_rows(name, 1, seed=1)
    y = manifold.exp(x, 0.5 * manifold.log(x, y))

    def laplacian(at: Tensor) -> float:
        return float(torch.trace(gradient_and_hessian(along(name, x, at, math.inf, kappa), manifold.dim)[1]))

    def k(u: float) -> float:
        with torch.no_grad():
            return float(along(name, x, y, math.inf, math.sqrt(2 * u))(torch.zeros(manifold.dim, dtype=torch.float64)))

    u, step = kappa**2 / 2, 1e-3 * kappa**2
    by_time, _ = central([k(u + i * step) for i in range(-3, 4)], step)

    assert by_time == pytest.approx(laplacian(y) - k(u) * laplacian(x), abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@pytest.mark.parametrize("kappa", [0.1, 5.0])
@pytest.mark.parametrize("name", ["R3", "T2", "S1", "S2", "S31", "SO3", "SO4", "SPD2", "SPD3", "H2", "H3"])
def test_the_derivative_in_the_lengthscale_is_that_of_differences(name, kappa, nu):
    kernel, manifold = kernel_of(name, nu=nu), manifold_of(name)
    x = random_rows(name, 6)
    y = manifold.exp(x, manifold.project(x, 0.3 * kappa * random_rows(name, 6, seed=1)))

    def k(value: float, *, with_graph: bool = False) -> tuple[Tensor, Tensor]:
        scale = torch.tensor(value, dtype=torch.float64, requires_grad=with_graph)
        return kernel.covariance(x, y, kernel.nu, scale), scale

    values, scale = k(kappa, with_graph=True)
    found = torch.stack([torch.autograd.grad(value, scale, retain_graph=True)[0] for value in values])

    step = 2e-3 * kappa
    expected = [central([float(k(kappa + i * step)[0][j]) for i in range(-3, 4)], step)[0] for j in range(6)]
    assert_close(found, torch.tensor(expected, dtype=torch.float64), atol=1e-10 / kappa, rtol=1e-8)


@every_smoothness
@every_space
def test_the_lengthscale_s_gradient_is_zero_where_points_coincide(name, nu):
    kernel, x = kernel_of(name, nu=nu), random_rows(name, 4)

    torch.diagonal(kernel(x, x.clone()).to_dense()).sum().backward()
    apart = kernel(x, x.clone()[:, None].expand(-1, 2, -1).flatten(0, 1)).to_dense()[:, ::2]
    torch.diagonal(apart).sum().backward()

    gradients = [parameter.grad for parameter in kernel.parameters()]
    assert gradients
    assert all(float(gradient.abs().max()) < 1e-12 for gradient in gradients if gradient is not None)


@every_smoothness
@every_space
def test_gradients_reach_both_points_and_every_lengthscale(name, nu):
    kernel = kernel_of(name, nu=nu, kappa=KAPPA)
    x, y = random_rows(name, 3).requires_grad_(), random_rows(name, 4, seed=1).requires_grad_()

    kernel(x, y).to_dense().sum().backward()

    for leaf in (x, y, *kernel.parameters()):
        assert leaf.grad is not None
        assert bool(torch.isfinite(leaf.grad).all())
        assert float(leaf.grad.abs().max()) > 0


@every_smoothness
@every_space
def test_a_matrix_of_points_with_themselves_has_the_gradients_of_two_separate_sets(name, nu):
    """Points that stand on both sides of a pair get the sum of both derivatives."""
    kernel = kernel_of(name, nu=nu, kappa=KAPPA)
    x = random_rows(name, 5).requires_grad_()
    weights = torch.randn(5, 5, generator=generator(1), dtype=torch.float64)

    (symmetric,) = torch.autograd.grad((weights * kernel(x).to_dense()).sum(), x)

    y = x.detach().clone().requires_grad_()
    z = torch.cat([x, x[:1].detach()])  # one more point, so that the two sets are not seen as one
    separate = torch.autograd.grad((weights * kernel(z, y).to_dense()[:5]).sum(), [x, y])
    assert_close(symmetric, sum(separate), atol=1e-13, rtol=1e-12)


@every_space
def test_points_that_happen_to_be_equal_have_derivatives_of_their_own(name):
    """A search that starts on the data must not be told that the data move with it."""
    kernel = kernel_of(name, nu=2.5, kappa=KAPPA)
    x = random_rows(name, 4)
    moving = x.clone().requires_grad_()
    weights = torch.randn(4, 4, generator=generator(1), dtype=torch.float64)

    (found,) = torch.autograd.grad((weights * kernel(moving, x).to_dense()).sum(), moving)

    one_more = torch.cat([x, x[:1]])
    (expected,) = torch.autograd.grad((weights * kernel(moving, one_more).to_dense()[:, :4]).sum(), moving)
    assert_close(found, expected, atol=1e-14, rtol=1e-13)
