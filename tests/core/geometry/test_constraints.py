"""Linear constraints between reals: what they leave, points in it, and what is wrong with some."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import SpaceError, space_from_spec

UNIT = {"type": "real", "bounds": [0, 1]}
FOUR = {"type": "product", "factors": dict.fromkeys("abcd", UNIT)}
GAIN = {"type": "real", "bounds": [1e-5, 1e5], "scale": "log"}
GAINS = {"type": "product", "factors": {"a": GAIN, "b": GAIN}}
MIXED = {
    "type": "product",
    "factors": {
        "offset": {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [0, 10]]},
        "tool": {"type": "rotation"},
        "arm": {
            "type": "product",
            "factors": {
                "gain": {"type": "real", "bounds": [1, 100], "scale": "log"},
                "stops": {"type": "joints", "bounds": [[-90, 90]], "unit": "deg"},
                "count": {"type": "integer", "bounds": [1, 3]},
            },
        },
    },
}


def linear(coefficients, **ends):
    return {"type": "linear", "coefficients": coefficients, **ends}


SUM = linear(dict.fromkeys("abcd", 1), upper=1)
DOMAINS = {
    "sum": (FOUR, [SUM]),
    "thin": (FOUR, [linear(dict.fromkeys("abcd", 1), upper=0.01)]),
    "corner": (FOUR, [linear(dict.fromkeys("abcd", 1), lower=3.99)]),
    "band": (FOUR, [linear({"a": 1, "b": -1}, lower=-1e-3, upper=1e-3)]),
    "narrow band": (FOUR, [linear({"a": 1, "b": 1, "c": -2}, lower=0, upper=1e-4), SUM]),
    "small gains": (GAINS, [linear({"a": 1, "b": 1}, upper=1e-3)]),
    "ratio of gains": (GAINS, [linear({"a": 1, "b": -10}, lower=0)]),
    "ten": (
        {"type": "product", "factors": dict.fromkeys("abcdefghij", UNIT)},
        [linear(dict.fromkeys("abcdefghij", 1), upper=1)],
    ),
    "mixed": (
        MIXED,
        [
            linear({"offset[1]": 2, "arm.gain": 1, "arm.stops[0]": -0.1}, lower=1, upper=30),
            linear({"offset[0]": 1}, upper=0),
        ],
    ),
}
every_domain = pytest.mark.parametrize("name", DOMAINS)


def space_of(name):
    spec, constraints = DOMAINS[name]
    return space_from_spec(spec).constrained(constraints)


def rows(name, count):
    return space_of(name).manifold.random(count, torch.Generator().manual_seed(4))


def at(point, name):
    """The number of a point that a constraint names."""
    name, _, index = name.partition("[")
    for part in name.split("."):
        point = point[part]
    return point[int(index[:-1])] if index else point


def holds_in_32_bits(constraints, point):
    """Whether the sum of the rounded numbers keeps to the bounds, added up in 32 and in 64 bits."""
    for constraint in constraints:
        weights = torch.tensor(list(constraint["coefficients"].values()), dtype=torch.float32)
        values = torch.tensor([at(point, name) for name in constraint["coefficients"]], dtype=torch.float32)
        for total in (torch.dot(weights, values).item(), torch.dot(weights.double(), values.double()).item()):
            if not constraint.get("lower", -math.inf) <= total <= constraint.get("upper", math.inf):
                return False
    return True


def faults(constraints, spec=MIXED):
    with pytest.raises(SpaceError) as error:
        space_from_spec(spec).constrained(constraints)
    return error.value


@every_domain
def test_random_points_lie_in_the_domain_and_differ(name):
    x = rows(name, 200)

    assert bool(space_of(name).manifold.contains(x).all())
    assert len(x.unique(dim=0)) == 200


@every_domain
def test_any_point_is_moved_to_where_floats_of_32_bits_satisfy_the_constraints(name):
    space, (spec, constraints) = space_of(name), DOMAINS[name]
    anywhere = space_from_spec(spec).manifold.random(100, torch.Generator().manual_seed(5))

    for row in space.manifold.clamp(anywhere):
        point = space.point(row)
        assert holds_in_32_bits(constraints, point)
        assert space.check(point).outside == ()


@every_domain
def test_a_margin_is_kept_and_points_inside_it_stay_as_they_are(name):
    manifold = space_of(name).manifold
    x = rows(name, 50)

    kept = manifold.clamp(x, margin=0.1)

    slack = manifold.polytope.slack(manifold.polytope.reals.values(kept[:, manifold.polytope.reals.columns]))
    assert bool((slack >= 0.2 * manifold.polytope.depths * (1 - 1e-9)).all())
    assert torch.equal(manifold.clamp(kept), kept)


def test_points_are_spread_evenly_over_a_simplex():
    """Of the uniform law on {x >= 0, sum x <= 1} in four dimensions, each mean is 1/5 and that of the sum 4/5."""
    x = rows("thin", 2000) * 100

    torch.testing.assert_close(x.mean(0), torch.full((4,), 0.2, dtype=torch.float64), atol=0.02, rtol=0.0)
    assert float(x.sum(-1).mean()) == pytest.approx(0.8, abs=0.02)


def test_a_walk_reaches_all_of_a_simplex_that_random_points_never_hit():
    """Of ten numbers with a sum up to 1, one in 3.6 million points of the box has it; means are 1/11."""
    x = rows("ten", 2000)

    torch.testing.assert_close(x.mean(0), torch.full((10,), 1 / 11, dtype=torch.float64), atol=0.015, rtol=0.0)
    assert float(x.amax()) > 0.4


def test_gains_on_a_log_scale_are_spread_over_their_decades():
    space = space_of("small gains")

    gains = torch.tensor([[point["a"], point["b"]] for point in map(space.point, rows("small gains", 300))])

    counts = torch.histc(torch.log10(gains.flatten()), bins=2, min=-5, max=-3)
    assert float(counts.min()) > 200


def test_what_a_constraint_is_about_is_named_as_in_points():
    space = space_of("mixed")
    point = {"offset": [-0.5, 9], "tool": [1, 0, 0, 0], "arm": {"gain": 20, "stops": [10], "count": 2}}

    (fault,) = space.check(point).outside

    assert (fault.pointer, fault.rule) == ("", "2 offset[1] + arm.gain - 0.1 arm.stops[0] <= 30")
    assert fault.detail == "2 offset[1] + arm.gain - 0.1 arm.stops[0] <= 30 does not hold, by 7"


def test_a_point_that_leaves_by_rounding_is_inside():
    space = space_from_spec(FOUR).constrained([linear({"a": 1, "b": 1, "c": 1}, upper=0.6)])

    assert space.check({"a": 0.1, "b": 0.2, "c": 0.3 + 1e-12, "d": 0}).outside == ()
    assert len(space.check({"a": 0.1, "b": 0.2, "c": 0.3 + 1e-6, "d": 0}).outside) == 1


@pytest.mark.parametrize(
    ("constraint", "pointer", "says"),
    [
        ("a <= 1", "/0", "expected a constraint"),
        ({"type": "nonlinear"}, "/0", "expected a constraint"),
        (linear({}, upper=1), "/0/coefficients", "got {}"),
        (linear({"gain": 1}, upper=1), "/0/coefficients/gain", "nothing is named 'gain'"),
        (linear({"offset": 1}, upper=1), "/0/coefficients/offset", "name one of them, from offset[0] to offset[1]"),
        (linear({"offset[2]": 1}, upper=1), "/0/coefficients/offset[2]", "name one of them, from offset[0]"),
        (linear({"arm.gain[0]": 1}, upper=1), "/0/coefficients/arm.gain[0]", "one number, which has no index"),
        (linear({"tool": 1}, upper=1), "/0/coefficients/tool", "tool is no real: constraints hold between reals"),
        (linear({"arm.count": 1}, upper=1), "/0/coefficients/arm.count", "arm.count is no real"),
        (linear({"arm.gain": 0}, upper=1), "/0/coefficients/arm.gain", "the coefficient is 0"),
        (linear({"arm.gain": "1"}, upper=1), "/0/coefficients/arm.gain", "the coefficient is '1'"),
        (linear({"arm.gain": 1}), "/0/upper", "needs an upper or a lower bound"),
        (linear({"arm.gain": 1}, lower=float("inf")), "/0/lower", "lower is inf"),
        (linear({"arm.gain": 1}, max=1), "/0/max", "unknown"),
    ],
)
def test_what_is_wrong_with_a_constraint_is_pointed_at(constraint, pointer, says):
    error = faults([constraint])

    assert not error.empty
    assert error.faults[0].pointer == pointer
    assert says in error.faults[0].detail


def test_a_real_without_bounds_cannot_be_constrained():
    (fault,) = faults([linear({"a": 1}, upper=1)], {"type": "product", "factors": {"a": {"type": "real"}}}).faults

    assert fault.detail == "a has no bounds"


@pytest.mark.parametrize(
    ("constraints", "says"),
    [
        ([linear({"a": 1, "b": 1}, upper=-1)], "at least 0 and at most -1"),
        ([linear({"a": 1, "b": 1}, upper=0)], "no value but 0"),
        ([linear({"a": 1, "b": -1}, lower=0, upper=0)], "no room"),
        ([linear({"a": 1, "b": -1}, lower=0, upper=1e-12)], "no room|floats of 32 bits"),
        ([linear({"a": 1, "b": -1}, lower=0.5, upper=0.5 + 1e-8)], "no room|floats of 32 bits"),
        (
            [linear({"a": 1, "b": 1}, upper=0.9), linear({"a": 1, "b": -1}, lower=0), linear({"b": 1}, lower=0.5)],
            "no p|at least",
        ),
        (
            [
                linear({"a": 1, "b": 1}, upper=1),
                linear({"b": 1, "c": 1}, upper=1),
                linear({"a": 1, "c": 1}, upper=1),
                linear({"a": 1, "b": 1, "c": 1}, lower=1.6),
            ],
            "no point within the bounds satisfies all constraints",
        ),
    ],
)
def test_constraints_without_room_are_told_apart_from_mistakes(constraints, says):
    error = faults(constraints, FOUR)

    assert error.empty
    (fault,) = error.faults
    assert any(part in fault.detail for part in says.split("|"))


def test_points_of_a_simplex_of_many_dimensions_are_not_drawn_to_its_middle():
    """Of 30 numbers with a sum up to 1, that sum is 30/31 on average."""
    names = [f"x{index}" for index in range(30)]
    space = space_from_spec({"type": "product", "factors": dict.fromkeys(names, UNIT)})

    x = space.constrained([linear(dict.fromkeys(names, 1), upper=1)]).manifold.random(300, torch.Generator())

    assert float(x.sum(-1).mean()) == pytest.approx(30 / 31, abs=0.02)
