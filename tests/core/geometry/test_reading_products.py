"""Reading points of products: their parts, nested and flat, missing, unknown, and given twice."""

from __future__ import annotations

import pytest
from geodrome_core import PointError, space_from_spec

from tests.strategies import SPECS

POSE = SPECS["pose"]
NESTED = SPECS["nested"]


def read(spec, point):
    return space_from_spec(spec).check(point)


def faults(spec, point):
    with pytest.raises(PointError) as error:
        read(spec, point)
    return error.value.faults


def fault(spec, point):
    (only,) = faults(spec, point)
    return only


def test_a_product_is_read_part_by_part_in_any_order():
    space = space_from_spec(POSE)

    found = space.check({"orientation": [0, 0, 0, 1], "position": [0.5, 0, -1]})

    assert found.point == {"position": [0.5, 0.0, -1.0], "orientation": [0.0, 0.0, 0.0, 1.0]}
    assert list(found.point) == ["position", "orientation"]
    assert found.row.tolist() == [0.75, 0.5, 0.0, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_corrections_and_excesses_say_in_which_part():
    found = read(POSE, {"position": [0, 2, 0], "orientation": [0, 0, 0, 1.005]})

    assert [c.pointer for c in found.corrections] == ["/orientation"]
    assert [f.pointer for f in found.outside] == ["/position/1"]


NESTED_POINT = {"gain": 1.0, "tool": {"direction": [0, 0, 1], "stiffness": [[1, 0], [0, 2]]}}


def test_nested_products_nest_their_points():
    space = space_from_spec(NESTED)

    found = space.check(NESTED_POINT)

    assert found.point == NESTED_POINT
    assert list(space.factors) == ["gain", "tool.direction", "tool.stiffness"]


def test_parts_of_a_nested_product_may_be_named_flat():
    flat = {"gain": 1.0, "tool.direction": [0, 0, 1], "tool.stiffness": [[1, 0], [0, 2]]}

    assert read(NESTED, flat).point == NESTED_POINT


def test_a_part_that_is_given_twice_is_refused():
    found = fault(NESTED, {**NESTED_POINT, "tool.direction": [1, 0, 0]})

    assert "twice" in found.detail


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ({"gain": 1.0}, [("/tool/direction", "missing"), ("/tool/stiffness", "missing")]),
        ({**NESTED_POINT, "extra": 1}, [("/extra", "unknown")]),
        ({**NESTED_POINT, "a/b~c": 1}, [("/a~1b~0c", "unknown")]),
        ({**NESTED_POINT, "x.y": 1}, [("/x.y", "unknown")]),
        ({**NESTED_POINT, "": 1}, [("/", "unknown")]),
        ({"gain": 1.0, "tool": {**NESTED_POINT["tool"], "z": 1}}, [("/tool/z", "unknown")]),
        (None, [("", "expected an object, got None")]),
        ([1.0, 2.0], [("", "expected an object, got [1.0, 2.0]")]),
        ({"gain": 1.0, "tool": [1]}, [("/tool", "expected an object, got [1]")]),
    ],
)
def test_missing_and_unknown_parts_are_named(point, expected):
    assert [(fault.pointer, fault.detail) for fault in faults(NESTED, point)] == expected


def test_the_faults_of_all_parts_are_told_at_once():
    point = {"gain": "high", "tool": {"direction": [0, 0, 0], "stiffness": {"diag": [1, None]}}}

    assert [fault.pointer for fault in faults(NESTED, point)] == ["/gain", "/tool/direction", "/tool/stiffness/diag/1"]
