"""Cases from the field: costs on the wire."""

from __future__ import annotations

import pytest

from tests.service.cases.wire import add, observed

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("body", ['{"cost": "NaN"}', '{"cost": NaN}'], ids=["string", "token"])
def test_a_cost_of_nan_is_refused_and_nothing_breaks(lab, http, body):
    """L38, fastapi/fastapi#459, pydantic/pydantic#3994."""
    trial = lab.ask()

    answer = http.post(f"{lab.path}/trials/{trial['number']}/tell", content=body, headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-cost")
    assert '"outcome": "failed"' in answer.json()["detail"]
    listing = http.get(f"{lab.path}/trials")
    assert (listing.status_code, listing.json()["trials"]) == (200, [trial])


def test_a_cost_of_null_is_nan_as_cpp_writes_it(lab):
    """L40, nlohmann/json#693."""
    trial = lab.ask()

    refused = lab.tell(trial["number"], outcome="completed", cost=None)
    failed = lab.tell(trial["number"], outcome="failed", cost=None)

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-cost")
    assert "NaN often arrives as null" in refused.json()["detail"]
    assert (failed.status_code, failed.json()["state"]) == (200, "failed")


def test_a_vector_of_one_number_comes_as_the_number(make_lab, http):
    """L41, NeuroJSON/jsonlab#8, #93: what MATLAB makes of lists of one."""
    lab = make_lab(space={"type": "euclidean", "dim": 1, "bounds": [[0, 5]]})

    assert observed(lab, 3.2)["point"] == [3.2]
    batch = http.post(f"{lab.path}/trials/batch", json={"trials": {"point": 3.2, "costs": 1.5}})
    assert (batch.status_code, batch.json()["trials"][0]["values"]) == (201, [1.5])
    assert http.post(f"{lab.path}/predict", json={"points": 3.2}).status_code == 200


def test_a_column_is_a_quaternion_and_three_point_zero_is_a_whole_number(make_lab):
    """L41, NeuroJSON/jsonlab#8, #93."""
    factors = {"tool": {"type": "rotation"}, "count": {"type": "integer", "bounds": [1, 5]}}
    lab = make_lab(space={"type": "product", "factors": factors})

    trial = observed(lab, {"tool": [[1], [0], [0], [0]], "count": 3.0})

    assert trial["point"] == {"tool": [1.0, 0.0, 0.0, 0.0], "count": 3}
    assert type(trial["point"]["count"]) is int


def test_a_point_told_twelve_times_is_replicates(make_lab):
    """L43, bayesian-optimization/BayesianOptimization#158, meta-pytorch/botorch#1679."""
    lab = make_lab(initial_design={"size": 2})
    point = [0.25, -0.5]
    for _ in range(12):
        assert add(lab, point, cost=1.0, std=0).status_code == 201

    asked = lab.ask()

    assert lab.show()["counts"]["completed"] == 12
    assert asked["point"] != point
