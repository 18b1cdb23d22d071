"""The benchmarks' cost functions: their optima are where they say, and nowhere is a lower cost."""

from __future__ import annotations

import math

import problems
import pytest
import torch
from geodrome_core import space_from_spec

ALL = [(space, name) for space in problems.SPECS for name in problems.names(space)]


@pytest.fixture(scope="module")
def drawn():
    """Points all over each space's domain."""

    def draw(space_name: str, count: int = 2000):
        manifold = space_from_spec(problems.SPECS[space_name]).manifold
        return manifold.clamp(manifold.random(count, torch.Generator().manual_seed(5)))

    return draw


@pytest.mark.parametrize(("space", "name"), ALL)
def test_the_optimum_is_where_it_says_and_nowhere_is_a_lower_cost(space, name, drawn):
    function = problems.cost_function(space, name)

    costs = function.costs(drawn(space))

    assert costs.shape == (2000,)
    assert float(function.costs(function.at[None])[0]) == pytest.approx(function.optimum, abs=1e-12)
    assert bool(function.space.manifold.contains(function.at[None])[0])
    assert bool((costs > function.optimum).all())
    assert float(costs.std()) > 0


@pytest.mark.parametrize(("space", "name"), ALL)
def test_costs_are_the_same_for_points_as_they_travel(space, name, drawn):
    function = problems.cost_function(space, name)
    row = drawn(space, 1)

    assert function.cost(function.space.point(row[0])) == pytest.approx(float(function.costs(row)[0]), rel=1e-9)


@pytest.mark.parametrize("space", problems.SPECS)
def test_coordinates_are_those_of_the_logarithm(space):
    """Along a geodesic from the base point they grow in proportion."""
    built = space_from_spec(problems.SPECS[space])
    base = problems.base_point(built)
    direction = built.manifold.basis(base[None])[0].sum(0) * 0.1

    one, two = (problems.coordinates(built, built.manifold.exp(base, t * direction)[None]) for t in (1, 2))

    torch.testing.assert_close(two, 2 * one, rtol=1e-9, atol=1e-12)
    assert float(problems.coordinates(built, base[None]).abs().max()) < 1e-15


def test_coordinates_of_each_kind_by_hand():
    turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    spd = torch.tensor([[2 * math.e, 0.0], [0.0, 2.0]], dtype=torch.float64)
    cases = {
        "rotation3": (turn.flatten(), [0, -math.pi / 2, 0, math.pi / 2, 0, 0, 0, 0, 0]),
        "spd2": (spd.flatten(), [2.0, 0.0, 0.0]),
        "sphere3": (torch.tensor([0.0, 0.0, 1.0, 0.0], dtype=torch.float64), [0.0, math.pi / 2, 0.0]),
        "hyperbolic3": (torch.tensor([math.cosh(1.5), 0, math.sinh(1.5), 0], dtype=torch.float64), [0, 1.5, 0]),
        "torus7": (torch.arange(7, dtype=torch.float64) / 3, [index / 3 for index in range(7)]),
    }

    for name, (row, expected) in cases.items():
        found = problems.coordinates(space_from_spec(problems.SPECS[name]), row[None])[0]
        torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-9)


def test_published_coordinates_of_hyperbolic_space_are_those_of_the_point():
    space = space_from_spec(problems.SPECS["hyperbolic3"])
    row = torch.tensor([[math.cosh(1.5), 0, math.sinh(1.5), 0]], dtype=torch.float64)

    found = problems.coordinates(space, row, as_published=True)

    assert found.tolist() == [[0.0, math.sinh(1.5), 0.0]]


@pytest.mark.parametrize("space", ["spd2", "spd3", "hyperbolic3"])
def test_a_function_that_was_moved_is_the_same_by_its_distances(space, drawn):
    """As far from its optimum as the other one has the same costs; and the optimum is well off the base point."""
    here, there = (problems.cost_function(space, name) for name in ("ackley", "ackley_moved"))
    manifold = here.space.manifold
    steps = torch.randn(50, manifold.dim, generator=torch.Generator().manual_seed(6), dtype=torch.float64) * 0.3
    centre = there.at.expand(50, -1)
    points = manifold.exp(centre, manifold.tangent(centre, steps))

    moved_back = _moved_back(space, points)

    torch.testing.assert_close(there.costs(points), here.costs(moved_back), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(manifold.distance(here.at, moved_back), manifold.distance(there.at, points))
    assert float(manifold.distance(here.at, there.at)) > 0.9
    assert bool((here.costs(drawn(space)) - there.costs(drawn(space))).abs().mean() > 0.1)


def _moved_back(space: str, points: torch.Tensor) -> torch.Tensor:
    """By hand: M X M' with M = [[1, 0], [0.4, 0.4]] for two rows, and a boost by 1 along the first axis."""
    if space == "hyperbolic3":
        out, c, s = points.clone(), math.cosh(1), math.sinh(1)
        out[:, 0], out[:, 1] = c * points[:, 0] - s * points[:, 1], c * points[:, 1] - s * points[:, 0]
        return out
    rows = {"spd2": [[1, 0], [0.4, 0.4]], "spd3": [[1, 0, 0], [0.4, 0.7, 0], [0.4, 0.4, 0.4]]}[space]
    back = torch.tensor(rows, dtype=torch.float64).inverse()
    return (back @ points.unflatten(-1, back.shape) @ back.T).flatten(1)


@pytest.mark.parametrize(
    ("space", "name", "optimum"),
    [
        ("sphere3", "styblinski_tang", -117.498),
        ("sphere5", "styblinski_tang", -195.831),
        ("rotation3", "styblinski_tang", -352.495),
        ("spd2", "styblinski_tang", -117.498),
        ("hyperbolic3", "styblinski_tang", -117.498),
        ("sphere5", "product_of_sines", -100.0),
    ],
)
def test_optima_are_those_of_the_paper(space, name, optimum):
    assert problems.cost_function(space, name).optimum == pytest.approx(optimum, abs=5e-4)


@pytest.mark.parametrize(("count", "at_base"), [(2, 2.23), (3, 3.21), (5, 5.17), (6, 6.15), (9, 9.09)])
def test_the_published_levy_function_is_not_zero_at_the_base_point(count, at_base):
    zero = torch.zeros(1, count, dtype=torch.float64)

    assert float(problems.levy_as_published(zero)[0]) == pytest.approx(at_base, abs=0.006)
    assert float(problems.levy_as_published(zero + 2)[0]) < 1e-30
    assert float(problems.levy(zero)[0]) < 1e-30


def test_two_minima_of_bimodal_are_minima():
    function = problems.cost_function("sphere3", "bimodal")
    manifold = function.space.manifold
    second = torch.tensor([0.5, 0.5, -math.sqrt(0.5), 0.0], dtype=torch.float64)
    axes = manifold.basis(second[None])[0]

    around = function.costs(torch.stack([manifold.exp(second, sign * 0.5 * axis) for axis in axes for sign in (1, -1)]))
    there = float(function.costs(second[None])[0])

    assert float(around.min()) > there > function.optimum


@pytest.mark.parametrize(
    ("space", "name"), [("sphere9", "ackley"), ("sphere3", "ackly"), ("sphere3", "ackley_as_published")]
)
def test_what_is_not_there_is_named(space, name):
    with pytest.raises(ValueError, match=f"no function '{name}' on '{space}'"):
        problems.cost_function(space, name)
