"""What there is to see of a model: true distances, points of the domain, and what ``predict`` says there."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from geodrome_core import History, Problem, predict, recommend, space_from_spec, views
from geodrome_core.viewing.axes import completed, principal_axes
from geodrome_core.viewing.geodesics import POINTS, geodesics

from tests.core.geometry.test_constraints import DOMAINS
from tests.core.spaces import SPACES
from tests.strategies import generator

BOXES = {
    "type": "product",
    "factors": {
        "arm": {"type": "joints", "bounds": [[-120, 120], [0, 90]], "unit": "deg"},
        "gains": {"type": "product", "factors": {"p": {"type": "real", "bounds": [0.1, 1000], "scale": "log"}}},
        "wrist": {"type": "torus", "dim": 1},
        "place": {"type": "hyperbolic", "dim": 2, "radius": 2},
        "retries": {"type": "integer", "bounds": [0, 5]},
    },
}
EVERY = {
    **{name: (spec, ()) for name, spec in SPACES.items()},
    **{name: DOMAINS[name] for name in ("sum", "thin", "mixed")},
    "circle": ({"type": "sphere", "dim": 1}, ()),
    "sphere3": ({"type": "sphere", "dim": 3}, ()),
    "wide cap": ({"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 2.5}}, ()),
    "rotation2": ({"type": "rotation", "dim": 2}, ()),
    "torus7": ({"type": "torus", "dim": 7}, ()),
    "hyperbolic3": ({"type": "hyperbolic", "dim": 3, "radius": 2}, ()),
    "eigen": ({"type": "spd", "dim": 2, "eigenvalues": [1, 100], "metric": "eigen_product"}, ()),
    "pose": ({"type": "pose", "position": {"bounds": [[0, 1]] * 3}, "orientation": {}}, ()),
    "boxes": (BOXES, ()),
}


def asked(name, count=20, **definition):
    """A problem, and observations of the distance from a target."""
    spec, constraints = EVERY[name]
    space = space_from_spec(spec).constrained(constraints)
    manifold, chance = space.manifold, generator(0)
    X = space.rows([space.point(row) for row in manifold.random(count, chance)])
    Y = 50 * manifold.distance(X, manifold.random(1, chance)) / manifold.diameter
    none = X[:0]
    return Problem(space, **definition), History(X, Y, none, none, none)


@cache
def viewed(name):
    """The same of 20 observations, and what there is to see."""
    problem, known = asked(name)
    return problem, known, views(problem, known)


def predicted(problem, known, points):
    """Means and deviations that ``predict`` gives."""
    found = predict(problem, known, problem.space.rows(points))
    return [one.mean for one in found], [one.std for one in found]


def of_factor(space, rows, name):
    return rows[:, space.manifold.columns[name]]


def placed(space, at, name, part):
    """The point ``at`` with another part."""
    if name == "":
        return part
    first, *rest = name.split(".")
    inner = placed(space, at[first], ".".join(rest), part)
    return {**at, first: inner}


@pytest.mark.parametrize("name", EVERY)
def test_slices_are_geodesics_through_the_recommended_point_within_the_domain(name):
    problem, _, seen = viewed(name)
    space = problem.space
    at = space.rows([seen.at])
    # Where constraints hold it from both sides, a real cannot move alone.
    held = {name for name in space.factors if all(one.factor != name for one in seen.slices)}
    assert not held or name == "thin"
    for other in held:
        for step in (-2e-4, 2e-4):
            moved = at.clone()
            moved[:, space.manifold.columns[other]] += step
            assert not bool(problem.domain.contains(moved))
    for one in seen.slices:
        rows, factor = space.rows(one.points), space.factors[one.factor]
        start, parts = of_factor(space, at, one.factor), of_factor(space, rows, one.factor)
        distances = torch.tensor(one.distances, dtype=torch.float64)
        assert one.points[one.distances.index(0)] == seen.at
        assert bool((distances.diff() > 0).all())
        torch.testing.assert_close(factor.distance(start, parts), distances.abs(), rtol=1e-7, atol=1e-7)
        others = [other for other in space.factors if other != one.factor]
        for other in others:
            assert bool((of_factor(space, rows, other) == of_factor(space, at, other)).all())
        assert all(space.check(point).outside == () for point in one.points)
        assert bool(problem.domain.contains(rows).all())


@pytest.mark.parametrize("name", EVERY)
def test_values_on_slices_are_those_of_predict(name):
    problem, known, seen = viewed(name)

    mean, std = predicted(problem, known, [point for one in seen.slices for point in one.points])

    assert [value for one in seen.slices for value in one.mean] == pytest.approx(mean, rel=1e-6, abs=1e-6)
    assert [value for one in seen.slices for value in one.std] == pytest.approx(std, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("maximize", [False, True])
def test_slices_go_through_the_recommended_point_where_the_mean_is_best(maximize):
    problem, known = asked("product", maximize=maximize)

    seen, best = views(problem, known), recommend(problem, known)

    assert seen.at == best.point
    for one in seen.slices:
        assert one.mean[one.distances.index(0)] == pytest.approx(best.mean, rel=1e-9)
        assert best.mean == pytest.approx(max(one.mean) if maximize else min(one.mean), abs=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_slices_go_to_the_ends(name):
    """A step beyond either end leaves the domain, or comes back on the other side."""
    problem, _, seen = viewed(name)
    space = problem.space
    at = space.rows([seen.at])

    for one in seen.slices:
        factor, start = space.factors[one.factor], of_factor(space, at, one.factor)
        ends = space.rows([one.points[0], one.points[-1]])
        for distance, end in zip((one.distances[0], one.distances[-1]), ends, strict=True):
            part = end[space.manifold.columns[one.factor]].unsqueeze(0)
            if distance == 0 or abs(distance) > 0.999 * factor.injectivity_radius:
                continue
            if one.factor == "retries" or space.spec["type"] == "integer":
                assert float(part) in (0, 1)
                continue
            farther = factor.exp(start, (1 + 1e-3) * factor.log(start, part))
            row = at.clone()
            row[:, space.manifold.columns[one.factor]] = farther
            assert not bool(problem.domain.contains(row))


def test_half_a_turn_is_seen_to_either_side():
    for name in ("sphere3", "rotation3", "rotation2", "torus7", "circle"):
        for one in viewed(name)[2].slices:
            assert (one.distances[0], one.distances[-1]) == (pytest.approx(-math.pi), pytest.approx(math.pi))
            assert len(one.points) == POINTS


def test_of_whole_numbers_each_is_there_once():
    few = next(one for one in viewed("boxes")[2].slices if one.factor == "retries")
    (many,) = viewed("count")[2].slices

    assert [point["retries"] for point in few.points] == [0, 1, 2, 3, 4, 5]
    assert len(many.points) == POINTS
    assert (many.points[0], many.points[-1]) == (-5, 500)


def test_the_first_axis_is_that_along_which_observations_spread():
    space = space_from_spec(SPACES["sphere2"])
    t = torch.linspace(-1, 1.5, 11, dtype=torch.float64)
    meridian = torch.stack([t.sin(), 0 * t, t.cos()], -1)
    pole = space.check([0, 0, 1])

    first, second = geodesics(space, Problem(space).domain, pole, meridian)

    assert torch.allclose(first.rows[:, 1], torch.zeros(POINTS, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(second.rows[:, 0], torch.zeros(POINTS, dtype=torch.float64), atol=1e-12)
    ahead = first.rows[(torch.tensor(first.distances) > 0) & (torch.tensor(first.distances) < 1)]
    assert bool((ahead[:, 0] > 0).all())


def test_axes_of_few_observations_are_completed_to_an_orthonormal_basis():
    space = space_from_spec(SPACES["torus2"])
    here = torch.zeros(2, dtype=torch.float64)

    found = principal_axes(space.factors[""], here, torch.tensor([[0.3, 0.4], [-0.6, -0.8]], dtype=torch.float64))
    none = principal_axes(space.factors[""], here, here.repeat(2, 1))

    assert (len(found), len(none)) == (1, 0)
    for axes in (found, none):
        assert torch.allclose(completed(axes) @ completed(axes).mT, torch.eye(2, dtype=torch.float64), atol=1e-14)


def test_in_a_corner_each_side_of_the_box_is_seen():
    space = space_from_spec({"type": "euclidean", "dim": 2, "bounds": [[0, 1], [0, 1]]})
    observed = torch.rand(30, 2, generator=generator(0), dtype=torch.float64)

    found = geodesics(space, Problem(space).domain, space.check([0, 0]), observed)

    assert [line.axis for line in found] == [1, 2]
    assert all(line.distances[0] == 0 and line.distances[-1] >= 1 - 1e-6 for line in found)
    assert all(len(line.points) == POINTS for line in found)


def test_inequalities_of_the_library_end_slices_and_fields():
    space = space_from_spec({"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [-1, 1]]})
    X = 0.3 + 0.1 * torch.rand(12, 2, generator=generator(1), dtype=torch.float64)
    known = History(X, X.sum(-1), X[:0], X[:0], X[:0])

    seen = views(Problem(space, inequalities=[lambda x: 0.5 - x[..., 0]]), known)

    assert all(point[0] <= 1e-9 for one in seen.slices for point in one.points)
    (field,) = seen.fields
    inside = [[value is not None for value in row] for row in field.mean]
    assert inside == [[x <= 0] * 41 for x in field.axes[0]]


def at_grid(kind, axes, where):
    """The JSON part of a grid's point; of a disc by name."""
    values = [axis[index] for axis, index in zip(axes, where, strict=True)]
    match kind:
        case "sphere":
            a, b = values
            return [math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)]
        case "disc":
            return {"poincare": values}
        case _:
            return values


@pytest.mark.parametrize(
    ("name", "factor", "kind", "shape"),
    [
        ("real", "", "real", (41,)),
        ("euclidean2", "", "real", (41, 41)),
        ("sphere2", "", "sphere", (25, 49)),
        ("cap2", "", "sphere", (25, 49)),
        ("wide cap", "", "sphere", (25, 49)),
        ("ball2", "", "disc", (41, 41)),
        ("torus2", "", "torus", (41, 41)),
        ("boxes", "arm", "real", (41, 41)),
        ("boxes", "gains.p", "real", (41,)),
        ("boxes", "wrist", "torus", (41,)),
        ("boxes", "place", "disc", (41, 41)),
        ("sum", "a", "real", (41,)),
    ],
)
def test_fields_say_what_predict_says_and_nothing_outside(name, factor, kind, shape):
    problem, known, seen = viewed(name)
    space = problem.space

    (field,) = [one for one in seen.fields if one.factor == factor]

    assert (field.kind, tuple(map(len, field.axes))) == (kind, shape)
    indices = torch.cartesian_prod(*map(torch.arange, shape)).reshape(-1, len(shape))[::7].tolist()
    places, means, stds = [], [], []
    for where in indices:
        mean, std = field.mean, field.std
        for index in where:
            mean, std = mean[index], std[index]
        part = at_grid(kind, field.axes, where)
        if kind == "disc" and math.hypot(*part["poincare"]) >= 1:
            assert mean is std is None
            continue
        if kind == "torus" and space.spec.get("unit") == "deg":
            part = [math.degrees(angle) for angle in part]
        is_scalar = factor in {"gains.p", "a"} or space.spec["type"] == "real"
        place = space.check(placed(space, seen.at, factor, part[0] if is_scalar else part))
        if mean is None:
            assert std is None
            # By a rounding, it may lie on the border.
            step = place.row + 1e-9 * (place.row - space.manifold.random(1, generator(0))[0])
            assert place.outside or not bool(problem.domain.contains(step))
            continue
        assert place.outside == ()
        places.append(place.point)
        means.append(mean)
        stds.append(std)
    assert len(places) > len(indices) / 4
    mean, std = predicted(problem, known, places)
    assert means == pytest.approx(mean, rel=1e-6, abs=1e-6)
    assert stds == pytest.approx(std, rel=1e-4, abs=1e-5)


def test_only_what_can_be_drawn_has_a_field():
    kinds = {name: [(one.factor, one.kind) for one in viewed(name)[2].fields] for name in ("pose", "boxes", "spd2")}

    assert kinds == {
        "pose": [],
        "boxes": [("arm", "real"), ("gains.p", "real"), ("wrist", "torus"), ("place", "disc")],
        "spd2": [],
    }


def test_the_same_question_has_the_same_answer_to_the_last_digit():
    assert views(*asked("product")) == views(*asked("product"))


def test_without_two_costs_there_is_nothing_to_see():
    problem, known = asked("sphere2", 1)

    assert views(problem, known) is None
