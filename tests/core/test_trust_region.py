"""The batched trust region: known optima, the exact subproblem, borders, and pymanopt's solver as a reference."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import reference_solver, space_from_spec, trust_region
from geodrome_core.acquisition import log_expected_improvement
from geodrome_core.geometry.ball import Ball
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.gp import fit
from geodrome_core.search import Pullback
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.core.spaces import SPACES

SEEDS = (0, 1, 2)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_eigenvector_maximizes_the_rayleigh_quotient(seed):
    sphere = Sphere(3)
    a = torch.randn(4, 4, generator=generator(seed), dtype=torch.float64)
    a = a + a.T

    found = trust_region.maximize(lambda x: ((x @ a) * x).sum(-1), sphere, sphere.random(8, generator(seed)))

    torch.testing.assert_close(found.values, torch.linalg.eigvalsh(a)[-1].expand(8), rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_polar_factor_maximizes_the_trace_over_rotations(seed):
    """Max of trace(A^T R) is the sum of singular values, the last with the sign of det A (von Neumann)."""
    rotation = Rotation()
    a = torch.randn(9, generator=generator(seed), dtype=torch.float64)
    values = torch.linalg.svdvals(a.reshape(3, 3))
    optimum = values[0] + values[1] + values[2] * torch.linalg.det(a.reshape(3, 3)).sign()

    found = trust_region.maximize(lambda x: x @ a, rotation, rotation.random(8, generator(seed)))

    assert found.values.max().item() == pytest.approx(optimum.item(), abs=1e-10)
    torch.testing.assert_close(rotation.nearest(found.points), found.points, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_ends_on_the_border_of_an_eigenvalue_box(seed):
    """Max of trace(A X) for positive A is at X = high I, where every eigenvalue touches its bound."""
    spd = SPD(2, eigenvalues=(0.001, 5.0))
    a = torch.randn(2, 2, generator=generator(seed), dtype=torch.float64)
    a = a @ a.T + 0.1 * torch.eye(2, dtype=torch.float64)
    starts = spd.random(8, generator(seed))

    found = trust_region.maximize(lambda x: x @ a.flatten(), spd, starts)

    assert spd.contains(found.points).all()
    torch.testing.assert_close(found.values, (5 * a.trace()).expand(8), rtol=1e-5, atol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_ends_on_the_lower_border_too(seed):
    spd = SPD(2, eigenvalues=(0.5, 5.0))

    found = trust_region.maximize(lambda x: -x[:, 0] - x[:, 3], spd, spd.random(8, generator(seed)))

    assert spd.contains(found.points).all()
    torch.testing.assert_close(found.values, torch.full((8,), -1.0).double(), rtol=1e-5, atol=0)


@pytest.mark.parametrize("radius", [0.01, 0.5, 2.0])
def test_the_search_ends_on_the_border_of_a_cap(radius):
    """The point of a cap that is nearest to one at an angle t from its center is t - r away."""
    center, target = (torch.tensor(v, dtype=torch.float64) for v in ([0.0, 0.6, 0.8], [0.0, 0.8, -0.6]))
    cap = Sphere(2, cap=Ball(center, radius))
    target = cap.exp(center, (radius + 0.5) * target)

    found = trust_region.maximize(lambda x: x @ target, cap, cap.random(5, generator(0)))

    assert cap.contains(found.points).all()
    torch.testing.assert_close(found.values, torch.full((5,), math.cos(0.5)).double(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [2, 4])
def test_the_search_ends_on_the_border_of_a_ball_of_rotations(size):
    center = SpecialOrthogonal(size).random(1, generator(1))[0]
    ball = SpecialOrthogonal(size, ball=Ball(center, 0.5))
    target = ball.exp(center, 1.0 * ball.basis(center)[0])

    found = trust_region.maximize(lambda x: x @ target, ball, ball.random(5, generator(0)))

    assert ball.contains(found.points).all()
    best = ball.exp(center, 0.5 * ball.basis(center)[0])
    torch.testing.assert_close(found.points, best.expand(5, -1), rtol=0, atol=1e-5)


def test_the_search_ends_in_the_corner_of_a_box():
    box = Euclidean(3, boxed=True)
    slope = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)

    found = trust_region.maximize(lambda x: x @ slope, box, box.random(5, generator(0)))

    assert box.contains(found.points).all()
    torch.testing.assert_close(found.points, torch.tensor([[1.0, 0.0, 1.0]] * 5).double(), rtol=0, atol=1e-5)


def test_a_saddle_is_left():
    """At the start the gradient is tiny and the curvature positive: only the exact subproblem sees the way out."""
    plane = Euclidean(2)
    start = torch.tensor([[1e-9, 0.0]], dtype=torch.float64)

    found = trust_region.maximize(lambda x: x[:, 0] ** 2 - x[:, 0] ** 4 - x[:, 1] ** 2, plane, start)

    assert found.values.item() == pytest.approx(0.25, abs=1e-10)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 6]), st.floats(-4, 2))
def test_the_subproblem_is_solved_exactly(seed, dim, log_radius):
    """Optimality after Moré and Sorensen: (H + l I) s = -g, H + l I >= 0, l (radius - |s|) = 0."""
    g = torch.randn(1, dim, generator=generator(seed), dtype=torch.float64)
    h = torch.randn(1, dim, dim, generator=generator(seed + 1), dtype=torch.float64)
    h = h + h.mT
    radius = torch.tensor([10.0**log_radius], dtype=torch.float64)

    step = trust_region.step_within(g, *torch.linalg.eigh(h), radius)[0]

    assert step.norm() <= radius * (1 + 1e-9)
    multiplier = -(step @ (h[0] @ step + g[0])) / (step @ step)
    torch.testing.assert_close(h[0] @ step + multiplier * step, -g[0], rtol=0, atol=1e-6 * float(1 + g.norm()))
    assert multiplier >= max(-1e-6, -float(torch.linalg.eigvalsh(h[0])[0]) - 1e-6)


def test_the_subproblem_survives_the_hard_case():
    g = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    h = torch.diag_embed(torch.tensor([[-2.0, 1.0]], dtype=torch.float64))

    step = trust_region.step_within(g, *torch.linalg.eigh(h), torch.tensor([3.0], dtype=torch.float64))[0]

    assert step.norm().item() == pytest.approx(3.0, rel=1e-6)
    value = (g * step).sum() + 0.5 * (step @ h[0] * step).sum()
    # On the circle, s_2 minimizes s_2 + 1.5 s_2^2 - 9: s_2 = -1/3.
    assert value.item() == pytest.approx(-9 - 1 / 6, rel=1e-6)


@pytest.mark.parametrize("name", ["sphere2", "rotation3", "spd2", "product"])
def test_gradient_and_hessian_are_those_of_geodesics(name):
    """Along a geodesic from x, f has the slope <g, u> and the curvature <u, H u>: central differences agree."""
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    X = manifold.random(9, generator(1))
    scale = manifold.diameter

    def f(x):
        return torch.exp(-((manifold.distance(x.unsqueeze(1), X) / scale) ** 2)).sum(-1)

    x = manifold.random(1, generator(2))
    xi = torch.randn(1, manifold.dim, generator=generator(3), dtype=torch.float64)
    value, gradient, hessian = Pullback(f, manifold, torch.zeros(1, dtype=torch.float64)).expand(x)

    h = 1e-3
    ahead, behind = (f(manifold.exp(x, manifold.tangent(x, s * h * xi))) for s in (1, -1))
    assert ((ahead - behind) / (2 * h)).item() == pytest.approx((gradient * xi).sum().item(), rel=1e-4, abs=1e-7)
    curvature = (xi.unsqueeze(-2) @ hessian @ xi.unsqueeze(-1)).item()
    assert ((ahead - 2 * value + behind) / h**2).item() == pytest.approx(curvature, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", ["sphere2", "rotation3"])
def test_pymanopts_trust_regions_end_at_the_same_optima(name):
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    X = manifold.random(30, generator(1))
    Y = manifold.distance(X, manifold.random(1, generator(2)))
    Y = (Y - Y.mean()) / Y.std()
    objective = log_expected_improvement(fit(space, X, Y, nu=2.5).posterior, float(Y.min()))
    starts = manifold.random(4, generator(3))

    ours = trust_region.maximize(objective, manifold, starts)
    theirs = reference_solver.maximize(objective, manifold, starts)

    assert ours.values.max().item() == pytest.approx(theirs.values.max().item(), abs=1e-7)
    slopes = Pullback(objective, manifold, torch.zeros(4, dtype=torch.float64))
    goal = 1e-6 * (1 + slopes.slope(starts))
    assert (slopes.slope(ours.points) <= goal).all()
    assert (slopes.slope(theirs.points) <= goal).all()


def test_log_improvement_is_maximized_no_worse_than_by_a_dense_local_search():
    """On S^2 in two angles, scipy's Nelder-Mead from 200 points is the judge."""
    space = space_from_spec(SPACES["sphere2"])
    X = space.manifold.random(20, generator(5))
    Y = torch.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2]
    objective = log_expected_improvement(fit(space, X, (Y - Y.mean()) / Y.std(), nu=2.5).posterior, -1.5)
    starts = space.manifold.random(200, generator(6))

    found = trust_region.maximize(objective, space.manifold, starts[objective(starts).argsort(descending=True)[:8]])

    def minus(angles):
        theta, phi = torch.tensor(angles, dtype=torch.float64)
        x = torch.stack([theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()])
        return -objective(x.unsqueeze(0)).item()

    judged = max(
        -minimize(
            minus,
            [torch.arccos(s[2]).item(), torch.atan2(s[1], s[0]).item()],
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-10},
        ).fun
        for s in starts[objective(starts).argsort(descending=True)[:12]]
    )
    assert found.values.max().item() >= judged - 1e-7
