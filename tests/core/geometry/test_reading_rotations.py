"""Reading rotations: orders, signs, matrices that are nearly rotations, and those that are not."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from geodrome_core import PointError, space_from_spec
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as ScipyRotation

from tests.strategies import generator, seeds

WXYZ = space_from_spec({"type": "rotation", "representation": "quaternion", "order": "wxyz"})
XYZW = space_from_spec({"type": "rotation", "representation": "quaternion", "order": "xyzw"})
MATRIX = space_from_spec({"type": "rotation", "representation": "matrix"})
SPACES = {"wxyz": WXYZ, "xyzw": XYZW, "matrix": MATRIX}

every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)

IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def fault(space, point):
    with pytest.raises(PointError) as error:
        space.check(point)
    (only,) = error.value.faults
    return only


def angle(space, one, other):
    """Rotation angle between two points in JSON, in radians."""
    return float(space.manifold.distance(space.check(one).row, space.check(other).row))


def random_quaternion(seed: int) -> list[float]:
    q = torch.randn(4, generator=generator(seed), dtype=torch.float64)
    return (q / torch.linalg.vector_norm(q)).tolist()


# Forms and orders


def test_the_default_is_a_quaternion_with_its_scalar_first():
    assert space_from_spec({"type": "rotation"}).check(IDENTITY).point == [1.0, 0.0, 0.0, 0.0]


@every_space
@given(seed=seeds)
def test_all_forms_of_a_rotation_are_one_point(space, seed):
    w, x, y, z = random_quaternion(seed)
    theirs = ScipyRotation.from_quat([x, y, z, w])

    forms = [
        theirs.as_matrix().tolist(),
        {"w": w, "x": x, "y": y, "z": z},
        {"rotvec": theirs.as_rotvec().tolist()},
        {"rotvec": [[number] for number in theirs.as_rotvec().tolist()]},
    ]
    if space is not MATRIX:
        forms.append([w, x, y, z] if space is WXYZ else [x, y, z, w])

    for one, other in itertools.combinations(forms, 2):
        assert angle(space, one, other) < 1e-14
    expected = torch.from_numpy(theirs.as_matrix()).flatten()
    torch.testing.assert_close(space.check(forms[0]).row, expected, atol=1e-14, rtol=0.0)


@every_space
@given(seed=seeds)
def test_a_quaternion_and_its_negative_are_one_canonical_point(space, seed):
    w, x, y, z = random_quaternion(seed)
    one = space.check({"w": w, "x": x, "y": y, "z": z})

    other = space.check({"w": -w, "x": -x, "y": -y, "z": -z})

    assert other.point == one.point
    assert torch.equal(other.row, one.row)
    if space is not MATRIX:
        assert one.point[space.spec["order"].index("w")] > 0


@pytest.mark.parametrize(
    ("point", "canonical"),
    [
        ([0, -1, 0, 0], [0.0, 1.0, 0.0, 0.0]),
        ([0, 0, -0.6, 0.8], [0.0, 0.0, 0.6, -0.8]),
        ([-0.0, 0, 0, -1], [0.0, 0.0, 0.0, 1.0]),
        ([-0.6, 0.0, 0.0, -0.8], [0.6, 0.0, 0.0, 0.8]),
    ],
)
def test_the_first_number_that_is_not_zero_is_positive(point, canonical):
    found = WXYZ.check(point).point

    assert found == pytest.approx(canonical, abs=1e-15)
    assert all(math.copysign(1, value) == 1 for value in found if value == 0)


@given(seed=seeds)
def test_the_orders_are_permutations_of_each_other(seed):
    matrix = ScipyRotation.from_quat(random_quaternion(seed)).as_matrix().tolist()

    w, x, y, z = WXYZ.check(matrix).point

    assert XYZW.check(matrix).point == [x, y, z, w]


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1.0, math.pi, 4.0, 2 * math.pi, 100.0])
def test_rotation_vectors_of_any_length_are_angles_in_radians(turn):
    found = angle(WXYZ, {"rotvec": [0.0, turn, 0.0]}, IDENTITY)

    assert found == pytest.approx(abs((turn + math.pi) % (2 * math.pi) - math.pi), abs=1e-13)


# What is mended


@pytest.mark.parametrize("digits", [3, 4, 6, 8])
@every_space
@given(seed=seeds)
def test_rounded_matrices_are_moved_to_the_nearest_rotation_and_that_is_said(space, digits, seed):
    exact = ScipyRotation.from_quat(random_quaternion(seed)).as_matrix()
    rounded = exact.round(digits)
    deviation = abs(rounded @ rounded.T - torch.eye(3).numpy()).max()

    found = space.check(rounded.tolist())

    r = found.row.unflatten(-1, (3, 3))
    torch.testing.assert_close(r @ r.mT, torch.eye(3, dtype=torch.float64), atol=1e-14, rtol=0.0)
    torch.testing.assert_close(r, torch.from_numpy(exact), atol=10.0**-digits, rtol=0.0)
    told = [correction.deviation for correction in found.corrections]
    assert told == ([pytest.approx(deviation, rel=1e-6)] if deviation > 1e-6 else [])


@given(seed=seeds, digits=st.sampled_from([3, 4, 6]))
def test_rounded_quaternions_are_normalized(seed, digits):
    exact = random_quaternion(seed)
    rounded = [round(value, digits) for value in exact]

    found = WXYZ.check(rounded)

    assert math.hypot(*found.point) == pytest.approx(1, abs=4e-15)
    assert angle(WXYZ, rounded, exact) < 4 * 10.0**-digits


@pytest.mark.parametrize(("norm", "is_told"), [(1 + 1e-7, False), (1 + 1e-5, True), (0.9901, True), (1.0099, True)])
def test_the_norm_of_a_quaternion_may_be_a_percent_off(norm, is_told):
    found = WXYZ.check([0.6 * norm, 0, 0, 0.8 * norm])

    assert found.point == pytest.approx([0.6, 0, 0, 0.8], abs=1e-15)
    assert [c.deviation for c in found.corrections] == ([pytest.approx(abs(norm - 1), rel=1e-6)] if is_told else [])


# What is refused


@pytest.mark.parametrize("norm", [0.98, 1.02, 2.0, 1e-5])
def test_a_quaternion_of_another_norm_is_refused_and_its_normal_form_shown(norm):
    found = fault(WXYZ, [0.6 * norm, 0, 0, 0.8 * norm])

    assert f"norm {norm:.6g}" in found.detail
    assert "[0.6, 0.0, 0.0, 0.8]" in found.detail


@every_space
@pytest.mark.parametrize("point", [[0, 0, 0, 0], [1e-7, 0, 0, 0], {"w": 0, "x": 0.0, "y": 0, "z": 0}])
def test_an_unset_quaternion_is_never_the_identity(space, point):
    """cartesian_controllers issue 234 and navigation2 issue 1049: the message was never filled in."""
    assert "was it never set?" in fault(space, point).detail


def test_missing_components_are_named():
    """The other half of cartesian_controllers issue 234."""
    assert "missing x, y, z" in fault(WXYZ, {"w": 0.0}).detail


@pytest.mark.parametrize(
    ("point", "determinant"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, -1]], "-1.000"),
        ([[-1, 0, 0], [0, -1, 0], [0, 0, -1]], "-1.000"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 1.3]], "-1.300"),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], "0.000"),
    ],
)
def test_a_reflection_is_called_one_before_anything_else_is_said(point, determinant):
    found = fault(MATRIX, point)

    assert found.detail == f"this is a reflection, det = {determinant}"


@pytest.mark.parametrize(("off", "is_refused"), [(0.9e-3, False), (1.1e-3, True), (0.3, True)])
def test_a_matrix_may_be_off_by_three_decimals(off, is_refused):
    """Scaling one row by 1 + off changes R R^T by twice that."""
    point = [[1 + off, 0, 0], [0, 1, 0], [0, 0, 1]]

    if is_refused:
        assert f"max |R R^T - I| = {(1 + off) ** 2 - 1:.3g}" in fault(MATRIX, point).detail
    else:
        assert MATRIX.check(point).point == IDENTITY


@pytest.mark.parametrize(
    ("point", "pointer"),
    [
        ([1, 0, 0, "0"], "/3"),
        ([1, 0, 0, None], "/3"),
        ([1, 0, 0, True], "/3"),
        ({"w": 1, "x": 0, "y": "0", "z": 0}, "/y"),
        ({"rotvec": [0, 0, "1"]}, "/rotvec/2"),
        ({"rotvec": [0, 0]}, "/rotvec"),
        ({"rotvec": 1.0}, "/rotvec"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, "1"]], "/2/2"),
        ([[1, 0, 0], [0, 1, 0], [0, 0]], "/2"),
        ([1, 0, 0], "/0"),
        ([1, 0], ""),
        ([], ""),
        ({}, ""),
        ({"w": 1, "x": 0, "y": 0, "z": 0, "frame": "base"}, ""),
        ("identity", ""),
        (1.0, ""),
        (None, ""),
        ([1, 0, 0, 0, 0, 0, 0, 0, 0], ""),
    ],
)
def test_a_fault_in_a_rotation_is_pointed_at(point, pointer):
    assert fault(WXYZ, point).pointer == pointer


@pytest.mark.parametrize(
    "point",
    [
        {"rotvec": [1e308, 1e308, 1e308]},
        {"rotvec": [1e200, 0.0, 0.0]},
        [[1e160, 1e160, 0], [-1e160, 1e160, 0], [0, 0, 1]],
        [1e200, 1e200, 0, 0],
    ],
)
def test_numbers_too_large_to_square_are_refused(point):
    """They give infinities and NaN on the way, and no comparison with NaN is true."""
    assert fault(WXYZ, point).detail
