"""Cases from the field: rotation matrices and quaternions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.service.cases.wire import add, asked, distance, observed, predicted, refusal

MATRIX = {"type": "rotation", "representation": "matrix"}
WXYZ = {"type": "rotation", "order": "wxyz"}
IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_reflection_that_looks_planar_is_refused(make_lab):
    """L01, scipy/scipy#15002."""
    fault = refusal(make_lab(space=MATRIX), [[0.15514354, -0.98789194, 0], [-0.98789194, -0.15514354, 0], [0, 0, 1]])

    assert fault["detail"] == "this is a reflection, det = -1.000"


def test_a_rotation_of_32_bits_is_accepted(make_lab):
    """L02, KieranWynn/pyquaternion#66."""
    single = [
        [-0.70710677, -0.70710677, 0],
        [-0.70710677, 0.70710677, -9.7931776e-12],
        [6.9248223e-12, -6.9248223e-12, -1],
    ]
    lab = make_lab(space=MATRIX)

    stored = observed(lab, single)["point"]

    assert np.linalg.det(stored) == pytest.approx(1, abs=1e-12)
    assert distance(WXYZ, stored, [0, 0.382683, -0.923880, 0]) < 2e-6


def test_a_matrix_of_four_digits_is_projected(make_lab):
    """L04, bdaiinstitute/spatialmath-python#28."""
    trial = observed(make_lab(space=WXYZ), [[0.5, -0.7071, 0.5], [0.5, 0.7071, 0.5], [-0.7071, 0, 0.7071]])

    assert trial["point"] == pytest.approx([0.853553, -0.146447, 0.353553, 0.353553], abs=2e-5)
    [correction] = trial["corrections"]
    assert correction["deviation"] == pytest.approx(1.9e-5, rel=0.02)


def test_a_matrix_off_by_5e_8_is_the_identity(make_lab):
    """L05, bdaiinstitute/spatialmath-python#112."""
    trial = observed(make_lab(space=MATRIX), [[1, 0, 0], [0, 1, 0], [0, 0, 1.000000025]])

    assert distance(MATRIX, trial["point"], IDENTITY) < 1e-6
    assert trial["corrections"] == []


def test_a_rounded_reflection_is_called_a_reflection(make_lab):
    """L07, scipy/scipy#9845."""
    fault = refusal(make_lab(space=MATRIX), [[-1, 0, 0], [0, -0.9, 0.436], [0, -0.436, -0.9]])

    assert fault["detail"] == "this is a reflection, det = -1.000"


def test_a_turn_near_pi_has_finite_distances_and_predictions(make_lab):
    """L08, facebookresearch/pytorch3d#188."""
    almost_half = [
        [-0.99970424, 0.000973952, 0.024300903],
        [0.000737710, -0.99752367, 0.070327967],
        [0.024309222, 0.070325091, 0.99722791],
    ]
    lab = make_lab(space=MATRIX)

    trial = observed(lab, almost_half, cost=2.0)
    observed(lab, IDENTITY, cost=1.0)

    assert distance(MATRIX, trial["point"], IDENTITY) == pytest.approx(3.141474, abs=1e-6)
    [prediction] = predicted(lab, almost_half)
    assert math.isfinite(prediction["mean"])
    assert math.isfinite(prediction["std"])


def test_q_and_its_negative_are_one_rotation_and_two_directions(make_lab):
    """L10, AMLab-Amsterdam/lie_learn#23, moble/quaternion#149."""
    q = [0.6677, 0.31122, 0.44055, -0.5129]
    negative = [-number for number in q]
    lab = make_lab(space=WXYZ)

    one, other = observed(lab, q, cost=1.0), observed(lab, negative, cost=1.2)

    assert one["point"] == other["point"]
    assert add(lab, negative, cost=1.0, skip_if_exists=True).json()["number"] == 1
    first, second = predicted(lab, q, negative)
    assert first == second


def test_on_the_sphere_q_and_its_negative_are_two_points(make_lab):
    """L10: the type says which is meant."""
    q = [0.6677, 0.31122, 0.44055, -0.5129]
    lab = make_lab(space={"type": "sphere", "dim": 3})

    assert observed(lab, q)["point"] != observed(lab, [-number for number in q])["point"]


@pytest.mark.slow
@pytest.mark.parametrize("with_position", [False, True], ids=["S3", "R3 x S3"])
def test_suggestions_keep_their_norm(make_lab, with_position):
    """L11, JuliaManifolds/Manopt.jl#306 and #67: iterates drifted to norms of 1.004 and 3.2.

    Of 300 rounds, the last 40 are answered by the model.
    """
    sphere = {"type": "sphere", "dim": 3}
    position = {"type": "euclidean", "dim": 3, "bounds": [[-1, 1]] * 3}
    product = {"type": "product", "factors": {"position": position, "q": sphere}}
    lab = make_lab(space=product if with_position else sphere, initial_design={"size": 260})

    def q(trial):
        return trial["point"]["q"] if with_position else trial["point"]

    seen = []
    for count in (*[26] * 10, *[4] * 10):
        for trial in asked(lab, count):
            seen.append(q(trial))
            w, x, y, z = q(trial)
            lab.tell(trial["number"], cost=w * w + 2 * x * x + 3 * y * y - z * x)

    assert len(seen) == 300
    assert lab.trial(300)["origin"]["kind"] == "model"
    assert all(abs(math.hypot(*one) - 1) < 1e-12 for one in seen)


def test_four_digits_and_six_are_one_point(make_lab):
    """L13, moveit/moveit#1458."""
    lab = make_lab(space=WXYZ)

    four, six = observed(lab, [0.7071, 0, 0, 0.7071]), observed(lab, [0.707107, 0, 0, 0.707107])

    assert distance(WXYZ, four["point"], six["point"]) < 1e-6
    assert [c["deviation"] for c in four["corrections"]] == [pytest.approx(9.59e-6, rel=0.01)]


@pytest.mark.parametrize(
    ("point", "says"), [([0, 0, 0, 0], "norm 0: was it never set?"), ({"w": 0.0}, "missing x, y, z")]
)
def test_an_unset_quaternion_is_never_the_identity(make_lab, point, says):
    """L14, fzi-forschungszentrum-informatik/cartesian_controllers#234, ros-navigation/navigation2#1049."""
    assert says in refusal(make_lab(space=WXYZ), point)["detail"]
