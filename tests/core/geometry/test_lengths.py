"""Distances in natural units: what a person measures between two points."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from geodrome_core import in_natural_units, space_from_spec

HALF = math.sqrt(0.5)

PAIRS = [
    ({"type": "real", "bounds": [10, 110], "unit": "N"}, 20, 45, 25, "N"),
    ({"type": "real", "bounds": [0.1, 1000], "scale": "log", "unit": "1/s"}, 1, 100, 2, "decades"),
    ({"type": "integer", "bounds": [1, 9]}, 2, 5, 3, None),
    ({"type": "torus", "dim": 1}, [3], [-3], 2 * math.pi - 6, "rad"),
    ({"type": "torus", "dim": 1, "unit": "deg"}, [170], [-170], 20, "deg"),
    ({"type": "rotation"}, [1, 0, 0, 0], [HALF, HALF, 0, 0], 90, "deg"),
    ({"type": "rotation", "dim": 2}, [[1, 0], [0, 1]], [[0, -1], [1, 0]], 90, "deg"),
    ({"type": "rotation", "representation": "matrix"}, np.eye(3).tolist(), np.diag([1, -1, -1]).tolist(), 180, "deg"),
    ({"type": "sphere", "dim": 2}, [1, 0, 0], [0, 1, 0], math.pi / 2, "rad"),
    ({"type": "spd", "dim": 2, "eigenvalues": [1, 10]}, [[1, 0], [0, 1]], [[math.e, 0], [0, 1]], 1, None),
]


@pytest.mark.parametrize(("spec", "x", "y", "expected", "unit"), PAIRS)
def test_the_distance_of_two_points_comes_out_as_it_is_measured(spec, x, y, expected, unit):
    space = space_from_spec(spec)
    distance = float(space.manifold.distance(*space.rows([x, y])))

    found = in_natural_units(space, "", distance)

    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("spec", "expected", "unit"),
    [
        ({"type": "euclidean", "dim": 2, "bounds": [[0, 10], [-2, 2]], "unit": "m"}, [5.0, 2.0], "m"),
        ({"type": "joints", "bounds": [[-90, 90], [0, 10]], "unit": "deg"}, [90.0, 5.0], "deg"),
        ({"type": "joints", "bounds": [[-1, 1]]}, [1.0], "rad"),
    ],
)
def test_of_a_vector_each_coordinate_has_its_own_length(spec, expected, unit):
    found = in_natural_units(space_from_spec(spec), "", 0.5)

    assert (found.value, found.unit) == (expected, unit)


def test_lengths_that_differ_by_coordinate_stay_with_theirs():
    space = space_from_spec({"type": "euclidean", "dim": 2, "bounds": [[0, 10], [0, 10]]})

    assert in_natural_units(space, "", [0.5, 0.25]).value == [5.0, 2.5]


def test_each_factor_of_a_product_has_its_own_unit():
    turn = {"type": "rotation"}
    spec = {
        "type": "product",
        "factors": {"arm": {"type": "product", "factors": {"tool": turn}}, "gain": {"type": "real", "bounds": [0, 4]}},
    }
    space = space_from_spec(spec)

    assert in_natural_units(space, "arm.tool", math.pi / 6).value == pytest.approx(30)
    assert in_natural_units(space, "gain", 0.5).value == 2.0


def test_a_space_without_bounds_has_the_length_of_its_rows():
    space = space_from_spec({"type": "real"})

    assert in_natural_units(space, "", 0.5).value == 0.5
    assert torch.equal(space.rows([0.5]), torch.tensor([[0.5]], dtype=torch.float64))


def test_the_parts_of_a_pose_have_the_units_of_their_types():
    pose = {"type": "pose", "position": {"bounds": [[-500, 500]] * 3, "unit": "mm"}, "orientation": {}}
    space = space_from_spec(pose)

    position = in_natural_units(space, "position", 0.1)
    orientation = in_natural_units(space, "orientation", math.pi)

    assert (position.value, position.unit) == ([100.0] * 3, "mm")
    assert (orientation.value, orientation.unit) == (180.0, "deg")
