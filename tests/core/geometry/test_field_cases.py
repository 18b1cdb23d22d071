"""Points that other programs have tripped over, from public reports of people who tune robots."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import PointError, space_from_spec

WXYZ = space_from_spec({"type": "rotation", "representation": "quaternion", "order": "wxyz"})
XYZW = space_from_spec({"type": "rotation", "representation": "quaternion", "order": "xyzw"})
MATRIX = space_from_spec({"type": "rotation", "representation": "matrix"})
SPD = space_from_spec({"type": "spd", "dim": 2})

IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def angle(one, other):
    """Angle between two rotations, given as (space, point)."""
    return float(MATRIX.manifold.distance(*(space.check(point).row for space, point in (one, other))))


def detail(space, point):
    with pytest.raises(PointError) as error:
        space.check(point)
    (fault,) = error.value.faults
    return fault.detail


def test_a_reflection_that_looks_like_a_planar_rotation_is_refused():
    """scipy/scipy issue 15002: it came back as a rotation, silently."""
    reflection = [[0.15514354, -0.98789194, 0], [-0.98789194, -0.15514354, 0], [0, 0, 1]]

    assert detail(MATRIX, reflection) == "this is a reflection, det = -1.000"


def test_a_reflection_of_three_digits_is_still_called_a_reflection():
    """scipy/scipy issue 9845: it is not orthonormal either, but that is not what is wrong with it."""
    reflection = [[-1, 0, 0], [0, -0.9, 0.436], [0, -0.436, -0.9]]

    assert "reflection, det = -1.000" in detail(MATRIX, reflection)


def test_a_rotation_of_32_bits_is_accepted_and_mended():
    """KieranWynn/pyquaternion issue 66: it was refused as not orthogonal."""
    single = [
        [-0.70710677, -0.70710677, 0],
        [-0.70710677, 0.70710677, -9.7931776e-12],
        [6.9248223e-12, -6.9248223e-12, -1],
    ]

    found = WXYZ.check(single)

    assert float(torch.linalg.det(found.row.unflatten(-1, (3, 3)))) == pytest.approx(1, abs=1e-12)
    expected = [0, math.sin(math.pi / 8), -math.cos(math.pi / 8), 0]
    assert abs(sum(a * b for a, b in zip(found.point, expected, strict=True))) > 1 - 1e-9


def test_a_matrix_of_four_digits_is_accepted_and_its_deviation_told():
    """bdaiinstitute/spatialmath-python issue 28."""
    rounded = [[0.5, -0.7071, 0.5], [0.5, 0.7071, 0.5], [-0.7071, 0, 0.7071]]

    found = WXYZ.check(rounded)

    assert found.point == pytest.approx([0.853553, -0.146447, 0.353553, 0.353553], abs=2e-5)
    (correction,) = found.corrections
    assert correction.deviation == pytest.approx(1.9e-5, rel=0.02)


def test_a_matrix_that_is_off_by_5e_8_is_the_identity():
    """bdaiinstitute/spatialmath-python issue 112."""
    found = MATRIX.check([[1, 0, 0], [0, 1, 0], [0, 0, 1.000000025]])

    assert angle((MATRIX, found.point), (MATRIX, IDENTITY)) < 1e-12
    assert found.corrections == ()


def test_the_angle_of_a_turn_just_below_pi_is_its_angle():
    """facebookresearch/pytorch3d issue 188: the logarithm near pi came out as 4244."""
    almost_half = [
        [-0.99970424, 0.000973952, 0.024300903],
        [0.000737710, -0.99752367, 0.070327967],
        [0.024309222, 0.070325091, 0.99722791],
    ]

    found = MATRIX.check(almost_half)

    assert angle((MATRIX, found.point), (MATRIX, IDENTITY)) == pytest.approx(3.141474, abs=1e-6)
    log = MATRIX.manifold.log(MATRIX.check(IDENTITY).row, found.row)
    assert float(torch.linalg.vector_norm(log)) / math.sqrt(2) == pytest.approx(3.141474, abs=1e-6)


def test_a_quaternion_that_comes_back_negated_is_the_same_point():
    """AMLab-Amsterdam/lie_learn issue 23 and moble/quaternion issue 149."""
    q = [0.6677, 0.31122, 0.44055, -0.5129]
    one, other = WXYZ.check(q), WXYZ.check([-value for value in q])
    sphere = space_from_spec({"type": "sphere", "dim": 3})

    assert one.point == other.point
    assert torch.equal(one.row, other.row)
    # On the sphere S^3 they are two points: the type of the space says which is meant.
    assert sphere.check(q).point != sphere.check([-value for value in q]).point


def test_four_digits_of_a_quaternion_name_the_same_point_as_six():
    """moveit/moveit issue 1458: the norm of the first is 0.99999."""
    assert angle((WXYZ, [0.7071, 0, 0, 0.7071]), (WXYZ, [0.707107, 0, 0, 0.707107])) < 1e-6


def test_an_unset_quaternion_is_refused_in_any_form():
    """cartesian_controllers issue 234 and navigation2 issue 1049: it was taken for the identity."""
    assert "never set" in detail(WXYZ, [0, 0, 0, 0])
    assert "missing x, y, z" in detail(WXYZ, {"w": 0.0})


def test_the_order_of_the_spec_decides_what_four_numbers_mean():
    """NVIDIA/IsaacTeleop issue 614: (0, 0, 0, 1) is no rotation, or half a turn about z."""
    assert angle((XYZW, [0, 0, 0, 1]), (WXYZ, [1, 0, 0, 0])) == 0
    assert angle((WXYZ, [0, 0, 0, 1]), (WXYZ, [1, 0, 0, 0])) == pytest.approx(math.pi)


def test_points_cross_from_one_order_to_the_other_unchanged():
    """isri-aist/RoboManipBaselines issue 11: orders were mixed within one program."""
    asked = XYZW.point(XYZW.manifold.random(1, torch.Generator().manual_seed(3))[0])

    x, y, z, w = asked

    assert angle((XYZW, asked), (WXYZ, [w, x, y, z])) < 1e-12


def test_a_small_matrix_is_judged_by_its_own_scale():
    """geomstats/geomstats issue 1547: off-diagonals of -1.0567e-9 and -1.0634e-9 beside 9e-5."""
    found = SPD.check([[7.4874e-5, -1.0567e-9], [-1.0634e-9, 9.0e-5]])

    assert found.point[0][1] == found.point[1][0] == pytest.approx(-1.06005e-9)
    (correction,) = found.corrections
    assert correction.deviation == pytest.approx(6.7e-12 / 9e-5, rel=1e-6)


def test_a_numerically_singular_matrix_is_refused_though_its_entries_are_positive():
    """kroshu/kuka_robot_descriptions issue 275: an inertia of 6.87e-31 beside one of 108.56."""
    assert "6.87e-31, 108.56" in detail(SPD, {"diag": [6.87e-31, 108.56]})


def test_the_shapes_that_matlab_writes_are_read():
    """NeuroJSON/jsonlab issues 8 and 93: arrays of one number become numbers, and vectors become columns."""
    single = space_from_spec({"type": "euclidean", "dim": 1})

    assert single.check(3.2).point == [3.2]
    assert angle((WXYZ, [[1], [0], [0], [0]]), (MATRIX, IDENTITY)) == 0
    assert space_from_spec({"type": "real"}).check(3).point == 3.0


def test_a_known_good_value_outside_the_range_is_kept_and_marked_never_replaced():
    """optuna/optuna issues 2131 and 3298: it was dropped in silence."""
    found = space_from_spec({"type": "real", "bounds": [1, 10]}).check(0)

    assert found.point == 0.0
    assert [fault.detail for fault in found.outside] == ["0 is outside [1, 10] by 1"]
