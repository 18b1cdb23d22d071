"""The batched trust region: known optima, and pymanopt's solver as a reference."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.acquisition import log_expected_improvement
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.promise import Promise
from geodrome_core.search import pymanopt_solver, trust_region
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import ByAutograd
from geodrome_core.search.trust_region import Search
from scipy.optimize import minimize

from tests.core.cases import fitted
from tests.strategies import generator

SEEDS = (0, 1, 2)


def maximized(function, manifold: Manifold, starts: torch.Tensor) -> Search:
    return trust_region.maximize(ByAutograd(function, manifold), Domain(manifold), starts)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_eigenvector_maximizes_the_rayleigh_quotient(seed):
    sphere = Sphere(3)
    a = torch.randn(4, 4, generator=generator(seed), dtype=torch.float64)
    a = a + a.T

    found = maximized(lambda x: ((x @ a) * x).sum(-1), sphere, sphere.random(8, generator(seed)))

    torch.testing.assert_close(found.values, torch.linalg.eigvalsh(a)[-1].expand(8), rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_polar_factor_maximizes_the_trace_over_rotations(seed):
    """Max of trace(A^T R) is the sum of singular values, the last with the sign of det A (von Neumann)."""
    rotation = Rotation()
    a = torch.randn(9, generator=generator(seed), dtype=torch.float64)
    values = torch.linalg.svdvals(a.reshape(3, 3))
    optimum = values[0] + values[1] + values[2] * torch.linalg.det(a.reshape(3, 3)).sign()

    found = maximized(lambda x: x @ a, rotation, rotation.random(8, generator(seed)))

    assert found.values.max().item() == pytest.approx(optimum.item(), abs=1e-10)
    torch.testing.assert_close(rotation.nearest(found.points), found.points, rtol=0, atol=1e-14)


def test_a_saddle_is_left():
    """At the start the gradient is tiny and the curvature positive: only the exact subproblem sees the way out."""
    plane = Euclidean(2)
    start = torch.tensor([[1e-9, 0.0]], dtype=torch.float64)

    found = maximized(lambda x: x[:, 0] ** 2 - x[:, 0] ** 4 - x[:, 1] ** 2, plane, start)

    assert found.values.item() == pytest.approx(0.25, abs=1e-10)


@pytest.mark.parametrize("name", ["sphere2", "rotation3"])
def test_pymanopts_trust_regions_end_at_the_same_optima(name):
    space, posterior = fitted(name, 30)
    objective = Promise(posterior, log_expected_improvement, space.manifold)
    domain = Domain(space.manifold)
    starts = space.manifold.random(4, generator(3))

    ours = trust_region.maximize(objective, domain, starts)
    theirs = pymanopt_solver.maximize(objective, domain, starts)

    assert ours.values.max().item() == pytest.approx(theirs.values.max().item(), abs=1e-7)
    goal = 1e-6 * (1 + objective.expand(starts).gradient.norm(dim=-1))
    assert (objective.expand(ours.points).gradient.norm(dim=-1) <= goal).all()
    assert (objective.expand(theirs.points).gradient.norm(dim=-1) <= goal).all()


def test_log_improvement_is_maximized_no_worse_than_by_a_dense_local_search():
    """On S^2 in two angles, scipy's Nelder-Mead from 12 of 200 points is the judge."""
    space, posterior = fitted("sphere2", 20, seed=5)
    objective = Promise(posterior, log_expected_improvement, space.manifold)
    starts = space.manifold.random(200, generator(6))
    starts = starts[objective(starts).argsort(descending=True)]

    found = trust_region.maximize(objective, Domain(space.manifold), starts[:8])

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
        for s in starts[:12]
    )
    assert found.values.max().item() >= judged - 1e-7
