"""Points are read as the service writes them, in every form: it wrote the ones here."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from geodrome.figures.coordinates import coordinates, read, wrapped
from geodrome.figures.distances import diameter, distances, natural
from geodrome.figures.factors import factors
from geodrome.figures.rotations import from_quaternion, from_rotvec, to_rotvec
from geodrome.spaces import SPD, Rotation, Torus
from geodrome_core import space_from_spec
from geodrome_core.geometry.forms import Form
from scipy.spatial.transform import Rotation as ScipyRotation

from tests.client.figures.spaces import SPACES

FORMS = [
    {"order": "wxyz"},
    {"order": "xyzw"},
    {"representation": "matrix"},
    {"representation": "quaternion"},
    {"representation": "quaternion", "order": "xyzw"},
    {"unit": "deg"},
    {"unit": "rad"},
    {"encoding": "mandel"},
    {"encoding": "voigt"},
    {"encoding": "cholesky_lower"},
    {"model": "lorentz"},
    {"model": "poincare"},
]

PAIRS = [
    (name, said)
    for name, spec in SPACES.items()
    for said in FORMS
    if not Form(**said).faults(space_from_spec(spec)._codecs.values())
]
"""Spaces with the forms that their points can have."""

every_space = pytest.mark.parametrize("name", SPACES)


def random_points(name, count=6):
    """Points of a space as the service stores them, and their rows."""
    space = space_from_spec(SPACES[name])
    rows = space.manifold.random(count, torch.Generator().manual_seed(3))
    points = [space.point(row) for row in rows]
    return space, points, space.rows(points)


@pytest.mark.parametrize(("name", "said"), PAIRS, ids=str)
def test_a_point_in_another_form_has_the_same_coordinates(record, form, name, said):
    space, points, _ = random_points(name)
    other = space.in_form(Form(**said))

    for factor in factors(record(SPACES[name]).space):
        for point in points:
            own, theirs = coordinates(factor, point), coordinates(factor, other.written(point), form(**said))
            np.testing.assert_allclose(theirs, own, atol=1e-12 * max(1, np.abs(own).max()))


@every_space
def test_distances_are_those_of_the_model(record, name):
    space, points, rows = random_points(name)
    found = factors(record(SPACES[name]).space)

    for factor, (key, manifold) in zip(found, space.factors.items(), strict=True):
        own = rows if factor.name is None else rows[:, space.manifold.columns[key]]
        expected = manifold.distance(own[0], own)
        places = np.array([coordinates(factor, point) for point in points])
        got = distances(factor.spec, places[0], places)

        assert factor.name in (None, key)
        if not isinstance(factor.spec, SPD) or factor.spec.metric == "affine_invariant":
            want = [natural(factor.spec, value) for value in expected.tolist()]
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-6)
        assert (got <= diameter(factor.spec) * (1 + 1e-9)).all()


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_a_quaternion_is_read_in_the_order_of_its_space(order):
    x, y, z, w = 0.1, -0.5, 0.7, 0.5
    norm = math.hypot(w, x, y, z)
    values = {"w": w / norm, "x": x / norm, "y": y / norm, "z": z / norm}

    got = read(Rotation(order=order), [values[letter] for letter in order])

    np.testing.assert_allclose(got, ScipyRotation.from_quat([x, y, z, w]).as_matrix(), atol=1e-15)


def test_both_signs_of_a_quaternion_are_one_rotation():
    q = np.array([0.1, -0.5, 0.7, 0.5])

    assert (from_quaternion(q) == from_quaternion(-q)).all()


@pytest.mark.parametrize(
    "form_of",
    [
        lambda turn: dict(zip("xyzw", turn.as_quat().tolist(), strict=True)),
        lambda turn: {"rotvec": turn.as_rotvec().tolist()},
        lambda turn: {"matrix": turn.as_matrix().flatten().tolist(), "layout": "row_major"},
        lambda turn: {"matrix": turn.as_matrix().T.flatten().tolist(), "layout": "column_major"},
    ],
    ids=["by name", "rotvec", "rows", "columns"],
)
def test_rotations_of_ones_own_are_read_as_the_service_reads_them(form_of):
    turn = ScipyRotation.from_rotvec([0.5, -1, 2])

    np.testing.assert_allclose(read(Rotation(), form_of(turn)), turn.as_matrix(), atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, math.pi - 1e-9, math.pi])
@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 2, -2], [0, -3, 4]])
def test_a_rotation_vector_survives_its_matrix(axis, angle):
    rotvec = angle * np.array(axis) / np.linalg.norm(axis)

    got = to_rotvec(from_rotvec(rotvec))

    at_the_border = angle > math.pi - 1e-6 and not np.allclose(got, rotvec, atol=1e-6)
    np.testing.assert_allclose(-got if at_the_border else got, rotvec, atol=2e-8)
    assert np.linalg.norm(got) <= math.pi + 1e-12


def test_angles_are_wrapped_into_one_turn_with_its_upper_end():
    angles = np.array([math.pi, -math.pi, 3 * math.pi, 0.0, 6.0])

    np.testing.assert_allclose(wrapped(angles), [math.pi, math.pi, math.pi, 0.0, 6.0 - 2 * math.pi])
    assert read(Torus(dim=1, unit="deg"), [-180.0]) == pytest.approx([math.pi])


def test_symmetric_vectors_stand_in_the_order_that_they_name():
    matrix = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    root = math.sqrt(2)
    mandel = [4, 3, 2, root * 1.0, root * 0.2, root * 0.5]
    voigt = [4, 3, 2, root * 0.2, root * 0.5, root * 1.0]

    np.testing.assert_allclose(read(SPD(dim=3), {"mandel": mandel}), matrix)
    np.testing.assert_allclose(read(SPD(dim=3), {"voigt": voigt}), matrix)
    np.testing.assert_allclose(read(SPD(dim=3), {"diag": [1, 2, 3]}), np.diag([1, 2, 3]))
    np.testing.assert_allclose(read(SPD(dim=3), {"cholesky_lower": np.linalg.cholesky(matrix).tolist()}), matrix)


def test_names_of_nested_products_may_be_joined_in_points(record):
    (tool, *_) = factors(record(SPACES["product"]).space)
    q = [0.0, 0.0, 0.6, 0.8]

    assert tool.name == "arm.tool"
    assert tool.of({"arm.tool": q}) == tool.of({"arm": {"tool": q}}) == q
