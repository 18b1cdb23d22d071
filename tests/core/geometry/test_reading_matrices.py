"""Reading positive definite matrices: their forms, what is mended, what is refused."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import PointError, space_from_spec
from geodrome_core.geometry.symmetric_vectors import from_vector, to_vector

SPD = {"type": "spd", "dim": 2}
STIFFNESS = {"type": "spd", "dim": 2, "eigenvalues": [10.0, 3000.0]}


def read(spec, point):
    return space_from_spec(spec).check(point)


def fault(spec, point):
    with pytest.raises(PointError) as error:
        read(spec, point)
    (only,) = error.value.faults
    return only


def test_the_four_forms_of_a_matrix_are_one_point():
    expected = [[4.0, 0.0], [0.0, 9.0]]

    assert read(SPD, [[4, 0], [0, 9]]).point == expected
    assert read(SPD, {"diag": [4, 9]}).point == expected
    assert read(SPD, {"diag": [[4], [9]]}).point == expected
    assert read(SPD, {"cholesky_lower": [[2, 0], [0, 3]]}).point == expected


SIX = [1, 2, 3, 0.28284271, 0.56568542, 0.42426407]


def test_the_orders_of_six_numbers_give_two_matrices():
    spec = {"type": "spd", "dim": 3}

    by_diagonals, voigt = read(spec, {"mandel": SIX}), read(spec, {"voigt": SIX})

    for found, expected in (
        (by_diagonals, [[1, 0.2, 0.3], [0.2, 2, 0.4], [0.3, 0.4, 3]]),
        (voigt, [[1, 0.3, 0.4], [0.3, 2, 0.2], [0.4, 0.2, 3]]),
    ):
        torch.testing.assert_close(torch.tensor(found.point), torch.tensor(expected), atol=1e-8, rtol=0.0)


def test_six_numbers_without_the_name_of_their_order_are_no_matrix():
    spec = {"type": "spd", "dim": 3}

    assert fault(spec, SIX).pointer == ""
    assert "{mandel: […]}, {voigt: […]}" in fault(spec, {"kelvin": SIX}).rule
    assert "{voigt" not in fault({"type": "spd", "dim": 4, "metric": "cholesky"}, {"voigt": SIX}).rule


@pytest.mark.parametrize(("size", "order"), [(2, "mandel"), (2, "voigt"), (3, "mandel"), (3, "voigt"), (6, "mandel")])
def test_vectors_of_matrices_come_back_and_have_their_norm(size, order):
    space = space_from_spec({"type": "spd", "dim": size, "metric": "log_euclidean"})
    x = space.manifold.random(1, torch.Generator().manual_seed(size))[0].unflatten(0, (size, size))

    vector = to_vector(x, order)

    torch.testing.assert_close(from_vector(vector, order, size), x, atol=1e-12, rtol=0.0)
    torch.testing.assert_close(
        torch.tensor(space.check({order: vector.tolist()}).point), x.float(), atol=1e-5, rtol=0.0
    )
    assert float(torch.linalg.vector_norm(vector)) == pytest.approx(float(torch.linalg.matrix_norm(x)), abs=1e-12)


def test_a_cholesky_factor_is_multiplied_by_its_transpose():
    assert read(SPD, {"cholesky_lower": [[2, 0], [1, 3]]}).point == [[4.0, 2.0], [2.0, 10.0]]
    assert read(SPD, {"cholesky_lower": [[-2, 0], [1, 3]]}).point == [[4.0, -2.0], [-2.0, 10.0]]


def test_an_upper_factor_is_not_taken_for_a_lower_one():
    """Half of it would be dropped in silence, and the rest is another matrix."""
    found = fault(SPD, {"cholesky_lower": [[2, 1], [0, 3]]})

    assert found.pointer == "/cholesky_lower/0/1"
    assert "above the diagonal" in found.detail


@pytest.mark.parametrize(
    ("point", "pointer"),
    [
        ({"diag": [4, "9"]}, "/diag/1"),
        ({"diag": [4]}, "/diag"),
        ({"cholesky_lower": [[2, 0], [1, None]]}, "/cholesky_lower/1/1"),
        ({"cholesky_lower": [[2, 0]]}, "/cholesky_lower"),
        ([[4, 0], [0, True]], "/1/1"),
        ([[4, 0], [0]], "/1"),
        ([4, 0, 0, 9], ""),
        ({"diag": [4, 9], "cholesky_lower": [[2, 0], [0, 3]]}, ""),
        ({"mandel": [4, 9]}, "/mandel"),
        ({"voigt": [4, 9, None]}, "/voigt/2"),
        ({"kelvin": [4, 9, 0]}, ""),
        ("I", ""),
    ],
)
def test_a_fault_in_a_matrix_is_pointed_at(point, pointer):
    assert fault(SPD, point).pointer == pointer


@pytest.mark.parametrize("relative", [1e-9, 9e-7])
def test_a_little_asymmetry_is_mended_and_that_is_said(relative):
    found = read(SPD, [[9.0, 1.0], [1.0 + 9 * relative, 4.0]])

    assert found.point[0][1] == found.point[1][0] == pytest.approx(1.0 + 4.5 * relative, rel=1e-15)
    (correction,) = found.corrections
    assert correction.deviation == pytest.approx(relative, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_more_asymmetry_is_refused_at_any_scale(scale):
    found = fault(SPD, [[9.0 * scale, 1.0 * scale], [1.0001 * scale, 4.0 * scale]])

    assert "not symmetric: relative difference 1.11e-05" in found.detail


@pytest.mark.parametrize(
    ("point", "shown"),
    [
        ({"diag": [1.0, -1.0]}, "-1, 1"),
        ({"diag": [0.0, 1.0]}, "0, 1"),
        ({"diag": [0.0, 0.0]}, "0, 0"),
        ({"diag": [1e-12, 1.0]}, "1e-12, 1"),
        ({"diag": [-3.0, -2.0]}, "-3, -2"),
        ([[1.0, 2.0], [2.0, 1.0]], "-1, 3"),
    ],
)
def test_a_matrix_that_is_not_positive_definite_is_refused_with_its_eigenvalues(point, shown):
    found = fault(SPD, point)

    assert found.detail == f"the matrix is not positive definite: eigenvalues {shown}"


def test_a_badly_conditioned_matrix_is_accepted_down_to_1e_12():
    assert read(SPD, {"diag": [1.1e-12, 1.0]}).point == [[1.1e-12, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("values", [[10.0, 3000.0], [10.0 * (1 - 9e-10), 500.0], [10.0, 3000.0 * (1 + 9e-10)]])
def test_eigenvalues_beyond_their_bounds_by_a_rounding_are_clamped(values):
    space = space_from_spec(STIFFNESS)

    found = space.check({"diag": values})

    assert found.outside == ()
    assert bool(space.manifold.contains(found.row))
    torch.testing.assert_close(
        found.row, torch.diag(torch.tensor(values, dtype=torch.float64)).flatten(), atol=0.0, rtol=1e-9
    )
    assert space.check(found.point).point == found.point


@pytest.mark.parametrize("values", [[10.0 * (1 - 1e-8), 500.0], [10.0, 3000.0 * (1 + 1e-8)], [1.0, 5000.0]])
def test_eigenvalues_further_outside_are_kept_and_marked(values):
    space = space_from_spec(STIFFNESS)

    found = space.check({"diag": values})

    assert found.point == [[values[0], 0.0], [0.0, values[1]]]
    (outside,) = found.outside
    assert "leave [10, 3000]" in outside.detail
    assert not bool(space.manifold.contains(found.row))


def test_a_small_eigenvalue_is_measured_against_its_own_bound():
    """Relative to the upper bound, anything down to zero would pass for 1e-6."""
    found = read({"type": "spd", "dim": 2, "eigenvalues": [1e-6, 1e3]}, {"diag": [2e-8, 1e3]})

    assert len(found.outside) == 1
