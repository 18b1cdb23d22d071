"""Cases from the field: symmetric positive definite matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.service.cases.wire import add, observed, refusal


def spd(low, high, **more):
    return {"type": "spd", "dim": 3, "eigenvalues": [low, high], **more}


SIX = [1, 2, 3, 0.28284271, 0.56568542, 0.42426407]


def test_a_small_matrix_is_judged_by_its_own_scale(make_lab):
    """L28, geomstats/geomstats#1547."""
    small = [
        [9.4671e-5, 3.7080e-6, 5.8562e-6],
        [3.7080e-6, 7.4874e-5, -1.0567e-9],
        [5.8562e-6, -1.0634e-9, 9.0e-5],
    ]

    trial = observed(make_lab(space=spd(1e-6, 1e-3)), small)

    stored = np.array(trial["point"])
    assert np.array_equal(stored, stored.T)
    assert trial["flags"] == []


def test_an_identified_inertia_is_symmetrized(make_lab):
    """L29, petercorke/robotics-toolbox-python#232."""
    inertia = [
        [0.02, -1.04749986e-9, -2.4445e-9],
        [-5.82e-10, 0.02, -8.5659e-17],
        [-2.4445e-9, -9.315e-10, 0.02],
    ]

    trial = observed(make_lab(space=spd(1e-3, 1)), inertia)

    stored = np.array(trial["point"])
    assert np.array_equal(stored, stored.T)
    [correction] = trial["corrections"]
    assert correction["deviation"] == pytest.approx(5e-8, rel=0.1)


def test_what_is_no_physical_inertia_is_still_positive_definite(make_lab):
    """L31, Gepetto/example-robot-data#130."""
    matrix = [[1.15e-4, 5.2e-5, 2.5e-5], [5.2e-5, 1.53e-4, 3.4e-5], [2.5e-5, 3.4e-5, 1.9e-4]]

    trial = observed(make_lab(space=spd(1e-6, 1e-2)), matrix)

    assert np.linalg.eigvalsh(trial["point"]) == pytest.approx([7.86e-5, 1.47e-4, 2.32e-4], rel=0.01)
    assert trial["flags"] == []


def test_a_numerically_singular_matrix_is_refused(make_lab):
    """L32, kroshu/kuka_robot_descriptions#275."""
    fault = refusal(make_lab(space=spd(1e-6, 1e3)), {"diag": [6.87e-31, 1e-20, 108.56]})

    assert fault["detail"] == "the matrix is not positive definite: eigenvalues 6.87e-31, 1e-20, 108.56"


def test_six_numbers_are_two_matrices_by_the_name_of_their_order(make_lab):
    """L34, NoemieJaquier/GaBOtorch against Voigt's order."""
    lab = make_lab(space=spd(0.1, 10))

    mandel, voigt = observed(lab, {"mandel": SIX})["point"], observed(lab, {"voigt": SIX})["point"]

    assert np.allclose(mandel, [[1, 0.2, 0.3], [0.2, 2, 0.4], [0.3, 0.4, 3]], atol=1e-8)
    assert np.allclose(voigt, [[1, 0.3, 0.4], [0.3, 2, 0.2], [0.4, 0.2, 3]], atol=1e-8)
    assert add(lab, SIX, cost=1).status_code == 422
    assert add(lab, {"mandel": SIX[:5]}, cost=1).json()["errors"][0]["pointer"] == "/point/mandel"


@pytest.mark.parametrize("size", [2, 3, 6])
def test_a_vector_of_a_matrix_comes_back(make_lab, size):
    """L35, adtzlr/felupe#105, dbeurle/neon#142; its norm is checked beside the encoding itself."""
    root = np.random.default_rng(size).standard_normal((size, size))
    matrix = root @ root.T + np.eye(size)
    places = [(i, i + offset) for offset in range(size) for i in range(size - offset)]
    vector = [matrix[i, j] * (1 if i == j else math.sqrt(2)) for i, j in places]
    lab = make_lab(space={"type": "spd", "dim": size, "eigenvalues": [0.1, 100], "metric": "log_euclidean"})

    stored = observed(lab, {"mandel": vector})["point"]

    assert np.allclose(stored, matrix, atol=1e-12, rtol=0)
    assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(stored), abs=1e-12)
