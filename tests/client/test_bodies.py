"""What a user hands over becomes JSON, or is refused with the field's name."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from geodrome import InvalidCost, InvalidPoint, InvalidRequest, Rotation
from geodrome.bodies import jsonable


def test_arrays_and_array_scalars_become_lists_and_numbers():
    body = {
        "cost": np.float32(0.5),
        "point": {"tool": np.eye(2), "gain": np.float64(2.0)},
        "metrics": {"n": np.int64(3)},
    }

    plain = jsonable(body)

    assert json.loads(json.dumps(plain)) == {
        "cost": 0.5,
        "point": {"tool": [[1.0, 0.0], [0.0, 1.0]], "gain": 2.0},
        "metrics": {"n": 3},
    }


def test_tensors_become_lists():
    torch = pytest.importorskip("torch")

    assert jsonable({"point": torch.zeros(2)}) == {"point": [0.0, 0.0]}


def test_models_become_objects_and_none_is_left_out():
    plain = jsonable({"space": Rotation(order="xyzw"), "seed": None})

    assert plain["space"]["order"] == "xyzw"
    assert "seed" not in plain


def test_rotations_are_quaternions_in_three_dimensions_and_matrices_in_all_others():
    orientation, planar = (jsonable({"space": Rotation(dim=dim)})["space"] for dim in (3, 2))

    assert (orientation["representation"], orientation["order"]) == ("quaternion", "wxyz")
    assert (planar["representation"], planar["order"]) == ("matrix", None)


def test_a_number_keeps_all_its_digits():
    cost = 0.1 + 0.2

    assert json.loads(json.dumps(jsonable({"cost": cost})))["cost"] == cost


@pytest.mark.parametrize(
    ("body", "error", "pointers"),
    [
        ({"cost": math.nan}, InvalidCost, ["/cost"]),
        ({"cost": np.float32("inf")}, InvalidCost, ["/cost"]),
        ({"costs": [1.0, -math.inf, math.nan]}, InvalidCost, ["/costs/1", "/costs/2"]),
        ({"cost": 1.0, "std": math.nan}, InvalidCost, ["/std"]),
        ({"point": {"tool": np.array([[1.0], [np.nan]])}}, InvalidPoint, ["/point/tool/1/0"]),
        ({"metrics": {"force": math.inf}}, InvalidRequest, ["/metrics/force"]),
    ],
)
def test_a_number_that_is_not_finite_is_refused_with_its_place(body, error, pointers):
    with pytest.raises(InvalidRequest) as caught:
        jsonable(body)

    assert type(caught.value) is error
    assert [fault.pointer for fault in caught.value.errors] == pointers


def test_a_value_without_a_json_form_is_refused_with_its_type():
    with pytest.raises(InvalidRequest, match="type object has no JSON form"):
        jsonable({"metadata": {"arm": object()}})
