"""Joint angles on tori and between stops, and whole numbers: what is wrapped, what is refused, what comes back."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import History, PointError, Problem, space_from_spec, suggest
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.torus import Torus, wrapped
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import generator

RAD = space_from_spec({"type": "torus", "dim": 2})
DEG = space_from_spec({"type": "torus", "dim": 2, "unit": "deg"})
JOINTS = space_from_spec({"type": "joints", "bounds": [[-170, 170], [-120, 120]], "unit": "deg"})
COUNT = space_from_spec({"type": "integer", "bounds": [-2, 8]})


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def fault(space, point):
    with pytest.raises(PointError) as error:
        space.check(point)
    (only,) = error.value.faults
    return only


# Tori


@given(angle=st.floats(-1e4, 1e4))
def test_wrapping_changes_an_angle_by_whole_turns(angle):
    found = float(wrapped(tensor(angle))[0])

    assert -math.pi < found <= math.pi
    assert (angle - found) / (2 * math.pi) == pytest.approx(round((angle - found) / (2 * math.pi)), abs=1e-11)
    if -math.pi < angle <= math.pi:
        assert found == angle


@pytest.mark.parametrize("angle", [math.pi, -math.pi, math.nextafter(-math.pi, -4), 3 * math.pi])
def test_half_a_turn_is_written_one_way(angle):
    assert float(wrapped(tensor(angle))[0]) == pytest.approx(math.copysign(math.pi, 1), abs=1e-15)


def test_any_angle_is_read_as_its_place_on_the_circle():
    assert RAD.check([0.5, 2 * math.pi + 0.25]).point == pytest.approx([0.5, 0.25], abs=1e-15)
    assert RAD.check([-math.pi, 3 * math.pi]).point == [math.pi, math.pi]
    assert DEG.check([190, -540]).point == [-170.0, 180.0]
    assert DEG.check([720.5, -180]).point == [0.5, 180.0]
    assert RAD.check([[0.5], [0.25]]).point == [0.5, 0.25]


def test_the_raw_value_of_a_wrapped_angle_is_told():
    """An encoder that has counted several turns: the record keeps what it said."""
    (correction,) = DEG.check([190, 730]).corrections[1:]

    assert (correction.pointer, correction.got, correction.deviation) == ("/1", 730.0, 720.0)
    assert correction.detail == "730 deg was wrapped to 10"
    assert RAD.check([math.pi, -3.0]).corrections == ()


def test_degrees_are_radians_in_the_model():
    assert torch.equal(DEG.check([180, -90]).row, tensor(math.pi, -math.pi / 2))
    assert DEG.point(tensor(math.pi / 4, -1.0)) == pytest.approx([45, -math.degrees(1)], abs=1e-13)


def test_half_a_turn_is_answered_inside_also_as_a_float32():
    """The float32 nearest to pi is larger than pi."""
    for row in (tensor(math.pi, math.pi), -tensor(math.pi, math.pi) * (1 - 1e-15)):
        for space, half in ((RAD, math.pi), (DEG, 180.0)):
            point = space.point(row)
            assert all(-half < angle <= half for angle in torch.tensor(point, dtype=torch.float32).tolist())


@pytest.mark.parametrize(
    ("space", "point", "pointer", "says"),
    [
        (RAD, [1e7, 0.0], "/0", "1e+07 rad has lost its digits"),
        (DEG, [0.0, 6e7], "/1", "6e+07 deg has lost its digits"),
        (RAD, [1.0], "", "expected 2 numbers, got 1"),
        (RAD, 0.5, "", "expected a list of 2 numbers, got 0.5"),
        (RAD, [math.nan, 0.0], "/0", "expected a finite number"),
        (RAD, ["0.5", 0.0], "/0", "expected a number, got '0.5'"),
    ],
)
def test_what_is_no_angle_is_refused(space, point, pointer, says):
    found = fault(space, point)

    assert found.pointer == pointer
    assert says in found.detail


def test_the_short_way_leads_across_half_a_turn():
    manifold = Torus(2)
    x, y = tensor(3.0, 0.5), tensor(-3.0, 0.5)

    assert float(manifold.distance(x, y)) == pytest.approx(2 * math.pi - 6, abs=1e-15)
    assert torch.equal(manifold.exp(x, manifold.log(x, y)), y)


def test_derivatives_pass_through_a_wrap():
    x = tensor(3.0, -0.2).requires_grad_()

    distance = Torus(2).distance(x, tensor(-3.0, 0.1))
    (gradient,) = torch.autograd.grad(distance, x)

    assert gradient.tolist() == pytest.approx([-(2 * math.pi - 6) / distance.item(), -0.3 / distance.item()], abs=1e-14)


# Joints


def test_joints_are_never_wrapped():
    assert JOINTS.check([169, -120]).point == [169.0, -120.0]

    found = JOINTS.check([190, 0])

    assert found.point == [190.0, 0.0]
    (outside,) = found.outside
    assert (outside.pointer, outside.detail) == ("/0", "190 is outside [-170, 170] by 20")
    assert "joints are never wrapped" in outside.rule


# Whole numbers


def test_a_whole_number_comes_back_as_one():
    for sent in (3, 3.0):
        found = COUNT.check(sent).point
        assert found == 3
        assert isinstance(found, int)
    assert float(COUNT.check(3).row) == 0.5
    assert COUNT.point(tensor(0.46)) == 3


@pytest.mark.parametrize(
    ("point", "says"),
    [
        (3.5, "3.5 is no whole number; its neighbours are 3 and 4"),
        (-0.5, "-0.5 is no whole number; its neighbours are -1 and 0"),
        (True, "expected a number, got True"),
        ("3", "expected a number, got '3'"),
        (math.inf, "expected a finite number"),
        (1e17, "1e+17 is too large to be told from its neighbours"),
        ([3], "expected a number, got [3]"),
    ],
)
def test_what_is_no_whole_number_is_refused(point, says):
    assert says in fault(COUNT, point).detail


def test_a_whole_number_beyond_the_bounds_is_said_to_be_outside():
    (outside,) = COUNT.check(11).outside

    assert outside.detail == "11 is outside [-2, 8] by 3"


@given(seed=st.integers(0, 1000), steps=st.sampled_from([1, 2, 7, 10**6, 2**53]))
def test_the_domain_is_the_lattice(seed, steps):
    manifold = Integer(steps)
    x = manifold.random(20, generator(seed))
    beside = (x + 0.3 / steps).clamp(0, 1)

    assert bool(manifold.contains(x).all())
    if steps < 2**53:  # there, neighbours differ by the last digit
        assert torch.equal(manifold.clamp(beside), x)
        assert bool((manifold.contains(beside) == (beside == x).squeeze(-1)).all())
    assert bool(torch.isfinite(manifold.barrier(x)).all())
    assert bool(torch.isfinite(manifold.barrier(manifold.clamp(x, margin=0.02))).all())


def test_suggestions_are_whole_numbers_and_new_ones_while_there_are_any():
    space = space_from_spec({"type": "product", "factors": {"n": {"type": "integer", "bounds": [0, 4]}}})
    none = space.rows([])
    X, costs, numbers = none, [], []
    for number in range(8):
        known = History(X, tensor(*costs), pending=none, failed=none, abandoned=none)
        (item,) = suggest(Problem(space), known, 1, seed=number)
        numbers.append(item.point["n"])
        X, costs = torch.cat([X, item.row.unsqueeze(0)]), [*costs, (item.point["n"] - 3.2) ** 2]

    assert all(isinstance(found, int) and 0 <= found <= 4 for found in numbers)
    assert set(numbers[:7]) == {0, 1, 2, 3, 4}
    assert item.kind == "model"
    assert "every point is known already" in item.note
