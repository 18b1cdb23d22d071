"""Maxima on borders: known ones of linear functions, and the domain is never left."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.geometry.ball import Ball
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.search.domain import Domain, slacks_by_autograd
from geodrome_core.search.interior import maximize_on_border
from geodrome_core.search.objective import ByAutograd
from geodrome_core.search.trust_region import Search, Tolerance, maximize
from scipy.optimize import linprog
from torch import Tensor

from tests.core.spaces import SPACES
from tests.strategies import generator

SEEDS = (0, 1, 2)

FROM_EACH = Tolerance(patience=math.inf)
"""Every start is a test of its own."""

METRICS = {"affine": (SPD, 0.001), "log-Euclidean": (LogEuclideanSPD, 0.5), "Cholesky": (CholeskySPD, 0.5)}
"""Manifolds, and the least eigenvalue: in flat metrics, a trace over a wide range is a plain with a cliff."""


def narrowed(manifold: Manifold, inequalities: tuple[Callable[[Tensor], Tensor], ...]) -> Domain:
    return Domain(manifold, tuple(ByAutograd(g, manifold) for g in inequalities))


def maximized(
    function, manifold: Manifold, starts: Tensor, inequalities: tuple[Callable[[Tensor], Tensor], ...] = ()
) -> Search:
    """The search, with every point that the function is looked at checked to be inside."""
    domain = narrowed(manifold, inequalities)

    def watched(x: Tensor) -> Tensor:
        assert not bool(domain.is_outside(x.detach()).any())
        return function(x)

    return maximize(ByAutograd(watched, manifold), domain, starts, tolerance=FROM_EACH)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("metric", METRICS)
def test_the_largest_trace_is_where_every_eigenvalue_is_largest(metric, size, seed):
    """Max of trace(A X) for positive A, eigenvalues of X at most 5: X = 5 I."""
    of_size, least = METRICS[metric]
    spd = of_size(size, eigenvalues=(least, 5.0))
    a = torch.randn(size, size, generator=generator(seed), dtype=torch.float64)
    a = a @ a.T + 0.1 * torch.eye(size, dtype=torch.float64)

    found = maximized(lambda x: x @ a.flatten(), spd, spd.random(8, generator(seed)))

    assert spd.contains(found.points).all()
    torch.testing.assert_close(found.values, (5 * a.trace()).expand(8), rtol=1e-7, atol=0)


def hills(manifold: Manifold) -> ByAutograd:
    """A function with several maxima, inside and on the border."""
    waves = torch.randn(3, manifold.width, generator=generator(5), dtype=torch.float64)
    waves = waves / (manifold.random(200, generator(6)) @ waves.T).std(0).unsqueeze(-1)
    return ByAutograd(lambda x: (torch.sin(x @ waves.T) + 0.2 * x @ waves.T).sum(-1), manifold)


@pytest.mark.parametrize("name", ["spd2", "spd3", "compliance3", "ball2", "product"])
def test_the_best_end_is_the_same_when_late_starts_are_not_waited_for(name):
    """A function with several hills: what ends early is what all of them find, in fewer iterations."""
    manifold = space_from_spec(SPACES[name]).manifold
    objective = hills(manifold)
    starts = manifold.random(12, generator(7))

    soon = maximize(objective, Domain(manifold), starts)
    later = maximize(objective, Domain(manifold), starts, tolerance=FROM_EACH)

    assert soon.iterations < later.iterations
    assert soon.values.max().item() == pytest.approx(later.values.max().item(), abs=1e-6)


def test_a_late_start_is_awaited_if_it_was_promised_to_be_better():
    """What a start has reached outside of the search counts as much as where it is."""
    manifold = space_from_spec(SPACES["spd2"]).manifold
    domain = Domain(manifold)
    objective = hills(manifold)
    starts = manifold.clamp(manifold.random(12, generator(7)), margin=0.02)
    goal = torch.full((12,), 1e-6, dtype=torch.float64)
    waited, _ = maximize_on_border(objective, domain, starts, goal)
    dropped, _ = maximize_on_border(objective, domain, starts, goal, patience=0.0)
    late = int((objective(waited) - objective(dropped)).argmax())
    promised = torch.full((12,), -math.inf, dtype=torch.float64)
    promised[late] = math.inf

    kept, _ = maximize_on_border(objective, domain, starts, goal, patience=0.0, promised=promised)

    assert objective(dropped)[late] < objective(waited)[late] - 1e-3
    assert objective(kept)[late].item() == pytest.approx(objective(waited)[late].item(), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_an_indefinite_trace_some_eigenvalues_are_largest_and_some_least(seed):
    """Max of trace(A X) is the sum of high times positive and low times negative eigenvalues of A (von Neumann)."""
    spd = SPD(3, eigenvalues=(0.5, 4.0))
    a = torch.randn(3, 3, generator=generator(seed), dtype=torch.float64)
    a = a + a.T
    values = torch.linalg.eigvalsh(a)
    optimum = 4.0 * values.clamp_min(0).sum() + 0.5 * values.clamp_max(0).sum()

    found = maximized(lambda x: x @ a.flatten(), spd, spd.random(8, generator(seed)))

    assert spd.contains(found.points).all()
    assert found.values.max().item() == pytest.approx(optimum.item(), abs=1e-6)


def test_the_search_ends_in_the_corner_of_a_box():
    box = Euclidean(3, boxed=True)
    slope = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)

    found = maximized(lambda x: x @ slope, box, box.random(5, generator(0)))

    torch.testing.assert_close(found.points, torch.tensor([[1.0, 0.0, 1.0]] * 5).double(), rtol=0, atol=1e-7)


def test_the_search_ends_at_the_radius_of_a_hyperbolic_ball():
    ball = Hyperbolic(3, radius=2.0)
    slope = torch.tensor([0.0, 1.0, -2.0, 2.0], dtype=torch.float64)

    found = maximized(lambda x: x @ slope, ball, ball.random(8, generator(0)))

    torch.testing.assert_close(found.values, torch.full((8,), 3 * math.sinh(2.0)).double(), rtol=1e-7, atol=0)


@pytest.mark.parametrize("radius", [0.01, 0.5, 2.0])
def test_the_search_ends_on_the_border_of_a_cap(radius):
    """The point of a cap that is nearest to one at an angle t from its center is t - r away."""
    center, target = (torch.tensor(v, dtype=torch.float64) for v in ([0.0, 0.6, 0.8], [0.0, 0.8, -0.6]))
    cap = Sphere(2, cap=Ball(center, radius))
    target = cap.exp(center, (radius + 0.5) * target)

    found = maximized(lambda x: x @ target, cap, cap.random(5, generator(0)))

    assert cap.contains(found.points).all()
    torch.testing.assert_close(found.values, torch.full((5,), math.cos(0.5)).double(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [2, 4])
def test_the_search_ends_on_the_border_of_a_ball_of_rotations(size):
    center = SpecialOrthogonal(size).random(1, generator(1))[0]
    ball = SpecialOrthogonal(size, ball=Ball(center, 0.5))
    target = ball.exp(center, 1.0 * ball.basis(center)[0])

    found = maximized(lambda x: x @ target, ball, ball.random(5, generator(0)))

    assert ball.contains(found.points).all()
    best = ball.exp(center, 0.5 * ball.basis(center)[0])
    torch.testing.assert_close(found.points, best.expand(5, -1), rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_programs_are_solved_as_by_scipy(seed):
    """Several bounds meet in the optimum, as they do between the reals of a product."""
    chance = generator(seed)
    box = Euclidean(4, boxed=True)
    rows = torch.rand(3, 4, generator=chance, dtype=torch.float64)
    slope = torch.randn(4, generator=chance, dtype=torch.float64).abs()
    inequalities = tuple((lambda x, row=row: 1 - x @ row) for row in rows)
    starts = narrowed(box, inequalities).random(6, chance)

    found = maximized(lambda x: x @ slope, box, starts, inequalities)

    theirs = linprog(-slope.numpy(), A_ub=rows.numpy(), b_ub=[1.0] * 3, bounds=[(0, 1)] * 4)
    torch.testing.assert_close(found.values, torch.full((6,), -theirs.fun).double(), rtol=0, atol=1e-7)


def test_a_cap_that_is_cut_by_a_plane_has_its_maximum_where_both_end():
    """On S^2: z at least 0.8 and x at most 0.3; the largest x + y / 10 has x = 0.3, z = 0.8."""
    sphere = Sphere(2)
    slope = torch.tensor([1.0, 0.1, 0.0], dtype=torch.float64)
    inequalities = (lambda x: x[..., 2] - 0.8, lambda x: 0.3 - x[..., 0])
    starts = narrowed(sphere, inequalities).random(6, generator(0))

    found = maximized(lambda x: x @ slope, sphere, starts, inequalities)

    expected = torch.tensor([0.3, math.sqrt(1 - 0.09 - 0.64), 0.8], dtype=torch.float64)
    torch.testing.assert_close(found.points, expected.expand(6, 3), rtol=0, atol=1e-6)


def test_a_maximum_inside_is_found_from_starts_that_press_on_the_border_at_first():
    box = Euclidean(2, boxed=True)
    target = torch.tensor([0.999, 0.5], dtype=torch.float64)
    starts = torch.tensor([[1e-6, 1e-6], [1 - 1e-9, 1e-9]], dtype=torch.float64)

    found = maximized(lambda x: -(((x - target) ** 2).sum(-1) ** 2) - ((x - target) ** 2).sum(-1), box, starts)

    torch.testing.assert_close(found.points, target.expand(2, 2), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "real",
        "euclidean2",
        "cap2",
        "ball3",
        "spd2",
        "spd3",
        "compliance3",
        "inertia3",
        "ball2",
        "joints2",
        "count",
        "product",
    ],
)
def test_slacks_to_second_order_are_those_of_autograd(name):
    manifold = space_from_spec(SPACES[name]).manifold
    x = manifold.random(3, generator(0))

    found = manifold.slacks_around(x)
    expected = slacks_by_autograd(manifold, manifold.slacks, x)

    assert found is not None
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        weights = torch.randn(other.value.shape, generator=generator(1), dtype=torch.float64)
        weights = weights + weights.mT
        torch.testing.assert_close(one.value, other.value, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(one.slope, other.slope, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(one.bend(weights), other.bend(weights), rtol=1e-9, atol=1e-9)
