"""Reading points: what is accepted, what is mended, what is refused and how that is said.

Tolerances stand on measured data: float32 is 1e-7 off, six decimals 8e-7, four decimals 8e-5, three decimals 8e-4.
"""

from __future__ import annotations

import json
import math

import pytest
import torch
from geodrome_core import PointError, space_from_spec
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import SPECS, generator, seeds

every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)

REAL = {"type": "real", "bounds": [-1.0, 3.0]}
LOG = {"type": "real", "bounds": [1e-5, 1e5], "scale": "log"}
BOX = {"type": "euclidean", "dim": 2, "bounds": [[-1.0, 1.0], [10.0, 20.0]]}
FREE = {"type": "euclidean", "dim": 2}
SINGLE = {"type": "euclidean", "dim": 1}
SPHERE = {"type": "sphere", "dim": 2}
CIRCLE = {"type": "sphere", "dim": 1}
POSE = SPECS["pose"]

NOT_NUMBERS = [None, True, False, "1.0", "NaN", [], [1.0], {}, {"x": 1.0}]


def read(spec, point):
    return space_from_spec(spec).check(point)


def fault(spec, point):
    with pytest.raises(PointError) as error:
        read(spec, point)
    (only,) = error.value.faults
    return only


# Every space


@every_spec
@given(seed=seeds)
def test_canonical_points_come_back_to_the_last_digit_and_give_the_same_row(spec, seed):
    space = space_from_spec(spec)
    answered = space.point(space.manifold.clamp(space.manifold.random(1, generator(seed)))[0])

    once = space.check(answered)
    again = space.check(json.loads(json.dumps(once.point)))

    assert again.point == once.point
    assert json.dumps(again.point) == json.dumps(once.point)  # negative zeros included
    assert again.corrections == ()
    assert torch.equal(again.row, once.row)
    assert torch.equal(space.rows([once.point, answered]), torch.stack([once.row, once.row]))


@every_spec
@given(seed=seeds)
def test_rows_become_points_and_points_rows(spec, seed):
    space = space_from_spec(spec)
    row = space.manifold.clamp(space.manifold.random(1, generator(seed)))[0]

    back = space.check(space.point(row)).row

    torch.testing.assert_close(back, row, atol=1e-6, rtol=1e-6)  # reals are pulled to where a float32 is inside
    assert float(space.manifold.distance(back, row)) < 1e-6


@every_spec
@given(seed=seeds)
def test_points_of_six_decimals_are_read_as_the_points_they_stand_for(spec, seed):
    space = space_from_spec(spec)
    row = space.manifold.random(1, generator(seed))[0]
    shorter = json.loads(json.dumps(space.point(row)), parse_float=lambda text: float(f"{float(text):.7g}"))

    found = space.check(shorter)

    assert float(space.manifold.distance(found.row, row)) < 1e-4
    assert torch.equal(found.row, space.manifold.nearest(found.row)) or float(
        space.manifold.distance(found.row, space.manifold.nearest(found.row))
    ) == pytest.approx(0, abs=1e-14)


def test_rows_of_no_points_are_an_empty_table():
    assert space_from_spec(POSE).rows([]).shape == (0, 3 + 9)


def test_a_fault_in_a_list_of_points_says_in_which():
    with pytest.raises(PointError) as error:
        space_from_spec(BOX).rows([[0, 10], [0, "x"], [0]])

    assert [fault.pointer for fault in error.value.faults] == ["/1/1", "/2"]


def test_the_message_of_an_error_names_every_place_and_fault():
    with pytest.raises(PointError, match=r"/position/1: expected a number, got 'x'; /orientation: the quaternion has"):
        read(POSE, {"position": [0, "x", 0], "orientation": [0, 0, 0, 0]})


# Reals and vectors


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_what_is_no_number_is_no_real(value):
    found = fault(REAL, value)

    assert found.pointer == ""
    assert found.detail == f"expected a number, got {value!r}"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + 400 * "0"])
def test_numbers_must_be_finite(text):
    found = fault(REAL, json.loads(text))

    assert "finite" in found.detail
    assert json.dumps(found.got, allow_nan=False)


def test_whole_numbers_are_numbers():
    assert read(REAL, 2).point == 2.0
    assert isinstance(read(REAL, 2).point, float)
    assert read(REAL, 3.0).row.tolist() == [1.0]


@pytest.mark.parametrize(
    ("spec", "value", "row"),
    [
        (REAL, -1.0, 0.0),
        (REAL, 1.0, 0.5),
        (REAL, 3.0, 1.0),
        (LOG, 1e-5, 0.0),
        (LOG, 1.0, 0.5),
        (LOG, 1e5, 1.0),
        (LOG, 0.1, 0.4),
        ({"type": "real"}, 7.5, 7.5),
        ({"type": "real", "scale": "log"}, 100.0, math.log(100.0)),
    ],
)
def test_reals_are_measured_in_their_unit_box(spec, value, row):
    space = space_from_spec(spec)

    found = space.check(value)

    assert found.row.tolist() == pytest.approx([row], abs=1e-15)
    assert space.point(found.row) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("value", [0, -0.0, -1e-300, -5])
def test_a_log_scale_has_no_place_for_what_is_not_positive(value):
    found = fault(LOG, value)

    assert "has no logarithm" in found.detail


@pytest.mark.parametrize("excess", [1e-12, 9e-10])
def test_a_real_beyond_its_bounds_by_a_rounding_is_clamped(excess):
    found = read(REAL, 3.0 * (1 + excess))

    assert found.point == 3.0
    assert found.outside == ()


@pytest.mark.parametrize(
    ("spec", "point", "pointer", "detail"),
    [
        (REAL, 3.0001, "", "3.0001 is outside [-1, 3] by 0.0001"),
        (REAL, -2, "", "-2 is outside [-1, 3] by 1"),
        (BOX, [0, 25], "/1", "25 is outside [10, 20] by 5"),
        (LOG, 1e-6, "", "1e-06 is outside [1e-05, 100000] by 9e-06"),  # 1e-9 of the upper bound is more than the lower
    ],
)
def test_a_real_further_outside_is_kept_and_marked(spec, point, pointer, detail):
    found = read(spec, point)

    assert found.point == point
    assert [(fault.pointer, fault.detail) for fault in found.outside] == [(pointer, detail)]
    assert not bool(space_from_spec(spec).manifold.contains(found.row))


def test_every_number_outside_its_bounds_is_named():
    assert [fault.pointer for fault in read(BOX, [2, 21]).outside] == ["/0", "/1"]


@pytest.mark.parametrize("value", [value for value in NOT_NUMBERS if value != [1.0]])  # a column may hold [1.0]
def test_what_is_no_number_is_no_component(value):
    found = fault(FREE, [1.0, value])

    assert found.pointer == "/1"


@pytest.mark.parametrize("point", [[], [1.0], [1.0, 2.0, 3.0], None, 1.0, "12", {"0": 1.0, "1": 2.0}])
def test_a_vector_has_its_number_of_components(point):
    found = fault(FREE, point)

    assert found.pointer == ""
    assert "2 numbers" in found.detail


def test_a_column_is_a_vector():
    """MATLAB writes column vectors so: NeuroJSON/jsonlab issues 8 and 93."""
    assert read(FREE, [[1.0], [2.0]]).point == [1.0, 2.0]
    assert read(SPHERE, [[0], [0], [1]]).point == [0.0, 0.0, 1.0]


def test_a_bare_number_is_a_vector_of_one():
    """MATLAB writes arrays of one number so: NeuroJSON/jsonlab issues 8 and 93."""
    assert read(SINGLE, 3.2).point == read(SINGLE, [3.2]).point == read(SINGLE, [[3.2]]).point == [3.2]


# Spheres


@pytest.mark.parametrize("factor", [1 - 0.0099, 1 + 0.0099, 1 + 1.1e-6])
def test_a_direction_within_a_percent_of_length_one_is_normalized_and_that_is_said(factor):
    found = read(SPHERE, [0.6 * factor, 0.0, 0.8 * factor])

    assert found.point == pytest.approx([0.6, 0.0, 0.8], abs=1e-15)
    (correction,) = found.corrections
    assert correction.deviation == pytest.approx(abs(factor - 1), rel=1e-6)
    assert "normalized" in correction.detail


@pytest.mark.parametrize("factor", [1 - 9e-7, 1 + 1e-7])
def test_a_direction_of_32_bits_is_normalized_without_a_word(factor):
    found = read(SPHERE, [0.6 * factor, 0.0, 0.8 * factor])

    assert found.point == pytest.approx([0.6, 0.0, 0.8], abs=1e-15)
    assert found.corrections == ()


@pytest.mark.parametrize("norm", [2e-6, 0.5, 0.989, 1.011, 7.0])
def test_a_direction_of_another_length_is_refused_and_its_normal_form_shown(norm):
    found = fault(SPHERE, [0.6 * norm, 0.0, 0.8 * norm])

    assert f"norm {norm:.6g}" in found.detail
    assert "[0.6, 0.0, 0.8]" in found.detail


@pytest.mark.parametrize("point", [[0, 0, 0], [9e-7, 0, 0], [-0.0, 0.0, 0.0]])
def test_a_direction_that_was_never_set_is_refused(point):
    assert "was it never set?" in fault(SPHERE, point).detail


def test_opposite_directions_are_two_points():
    """The plain sphere, unlike the rotations, tells q and -q apart."""
    space = space_from_spec(CIRCLE)

    one, other = space.check([0.6, 0.8]).row, space.check([-0.6, -0.8]).row

    assert float(space.manifold.distance(one, other)) == pytest.approx(math.pi)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_real_without_bounds_keeps_every_finite_number(value):
    assert read({"type": "real"}, value).point == value
