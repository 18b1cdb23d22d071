"""Poses: positions with orientations, in the forms that robots write."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import PointError, SpaceError, space_from_spec

BOUNDS = [[-1, 1], [-1, 1], [-1, 1]]
POSE = {"type": "pose", "position": {"bounds": BOUNDS}, "orientation": {"order": "wxyz"}}
SPACE = space_from_spec(POSE)
TURN = [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]
ROWS = [[0, -1, 0, 0.5], [1, 0, 0, -0.25], [0, 0, 1, 0.125], [0, 0, 0, 1]]


def point_faults(point, space=SPACE):
    with pytest.raises(PointError) as error:
        space.check(point)
    return error.value.faults


def spec_faults(**changes):
    with pytest.raises(SpaceError) as error:
        space_from_spec({**POSE, **changes})
    return [(fault.pointer, fault.rule) for fault in error.value.faults]


def test_a_pose_is_a_product_of_a_position_and_an_orientation():
    assert list(SPACE.factors) == ["position", "orientation"]
    assert SPACE.check({"position": [0.5, -0.25, 0.125], "orientation": TURN}).point == {
        "position": [0.5, -0.25, 0.125],
        "orientation": pytest.approx(TURN),
    }


@pytest.mark.parametrize(
    "matrix",
    [
        ROWS,
        {"matrix": [number for row in ROWS for number in row], "layout": "row_major"},
        {"matrix": [row[column] for column in range(4) for row in ROWS], "layout": "column_major"},
    ],
    ids=["rows", "row_major", "column_major"],
)
def test_a_homogeneous_matrix_is_the_same_pose(matrix):
    nested = space_from_spec({"type": "product", "factors": {"grasp": POSE, "gain": {"type": "real"}}})

    found = SPACE.check(matrix)

    assert found.point == {"position": [0.5, -0.25, 0.125], "orientation": pytest.approx(TURN)}
    assert nested.check({"grasp": matrix, "gain": 1}).point["grasp"] == found.point


def test_the_last_row_tells_which_layout_it_is():
    (fault,) = point_faults({"matrix": [number for row in ROWS for number in row], "layout": "column_major"})

    assert fault.detail.endswith("transposed it would be that of a pose: is it laid out the other way?")
    assert fault.got == [0.5, -0.25, 0.125, 1.0]


@pytest.mark.parametrize(
    ("point", "pointer"),
    [
        ({"matrix": [0] * 15, "layout": "row_major"}, "/matrix"),
        ({"matrix": [0] * 16, "layout": "C"}, "/layout"),
        ({"matrix": [0] * 16, "layout": "row_major"}, ""),
        ({"matrix": [0] * 16}, "/position"),
        ([[0] * 4] * 3 + [[0] * 3], "/3"),
        ({"position": {"inch": [0, 0, 0]}, "orientation": TURN}, "/position"),
        ({"position": {"mm": [0, 0]}, "orientation": TURN}, "/position/mm"),
        ({"position": [0, 0, 0], "orientation": [0, 0, 0, 0]}, "/orientation"),
    ],
)
def test_what_is_no_pose_is_pointed_at(point, pointer):
    assert point_faults(point)[0].pointer == pointer


def test_positions_come_in_the_unit_of_the_spec_or_in_one_that_is_named():
    millimetres = space_from_spec({**POSE, "position": {"bounds": [[-500, 500]] * 3, "unit": "mm"}})

    assert SPACE.check({"position": {"mm": [246, -249, 619]}, "orientation": TURN}).point["position"] == pytest.approx(
        [0.246, -0.249, 0.619], abs=1e-15
    )
    assert millimetres.check({"position": {"m": [0.25, 0, 0]}, "orientation": TURN}).point["position"] == [250, 0, 0]
    assert millimetres.check({"position": {"mm": [250, 0, 0]}, "orientation": TURN}).point["position"] == [250, 0, 0]


def test_millimetres_taken_for_metres_are_told_so():
    found = SPACE.check({"position": [246, 0, 0], "orientation": TURN})

    assert [(fault.pointer, fault.detail) for fault in found.outside] == [
        (
            "/position/0",
            "246 is outside [-1, 1] by 245 m; in mm it would be 0.246 m: say {mm: […]} if it is",
        )
    ]


@pytest.mark.parametrize(
    ("spec", "point", "hint"),
    [
        ({"type": "real", "bounds": [0, 1]}, 600, "; are these mm for m (it would be 0.6)?"),
        ({"type": "real", "bounds": [0, 1]}, 3, ""),
        ({"type": "real", "bounds": [500, 900]}, 0.6, ""),
        ({"type": "joints", "bounds": [[-3, 3]]}, [90], "; are these deg for rad (it would be 1.5708)?"),
    ],
)
def test_a_number_far_outside_may_be_one_of_another_unit(spec, point, hint):
    (fault,) = space_from_spec(spec).check(point).outside

    assert fault.detail.partition(" by ")[2].partition("; ")[2] == hint.removeprefix("; ")


def test_what_is_wrong_with_a_pose_s_spec_is_pointed_at():
    assert spec_faults(position=None) == [("/position", "an object with bounds")]
    assert spec_faults(position={"bounds": BOUNDS[:2]}) == [("/position/bounds", "[low, high] for x, y and z")]
    assert spec_faults(position={"bounds": BOUNDS, "unit": "inch"}) == [("/position/unit", "one of m, mm")]
    assert spec_faults(orientation={"dim": 4}) == [("/orientation/dim", "3, for the orientation of a pose")]
    assert spec_faults(orientation={"type": "sphere"})[0][0] == "/orientation"
    assert spec_faults(bounds=BOUNDS)[0][0] == "/bounds"
    assert space_from_spec({**POSE, "position": {}}).unbounded == ("/position",)


def test_poses_are_written_inside_also_as_floats_of_32_bits():
    for row in SPACE.manifold.random(50, torch.Generator().manual_seed(1)):
        point = SPACE.point(row)

        assert SPACE.check(point).outside == ()
        assert torch.tensor(point["position"], dtype=torch.float32).abs().max() <= 1
