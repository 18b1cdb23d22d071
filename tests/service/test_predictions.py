"""Predictions at points: what the model says, and when it says nothing."""

from __future__ import annotations

import pytest


def test_predictions_follow_what_was_told_and_are_unsure_far_away(http, make_lab):
    lab = make_lab(space={"type": "sphere", "dim": 2})
    told = [([0, 0, 1], 1.0), ([0, 1, 0], 2.0), ([1, 0, 0], 3.0), ([0, 0.6, 0.8], 1.2)]
    bodies = [{"point": point, "cost": cost, "std": 0} for point, cost in told]
    http.post(f"{lab.path}/trials/batch", json={"trials": bodies})

    answer = http.post(f"{lab.path}/predict", json={"points": [[0, 0, 1], [1, 0, 0], [-0.6, -0.8, 0]]})

    near, other, far = answer.json()["predictions"]
    assert (near["mean"], other["mean"]) == (pytest.approx(1.0, abs=0.05), pytest.approx(3.0, abs=0.05))
    assert near["std"] < 0.05 < far["std"]
    assert near["feasible"] is None


def test_after_failures_there_is_a_chance_of_success(http, lab):
    points = [[x / 4 - 1, y / 2 - 0.5] for x in range(9) for y in range(3)]
    bodies = [{"point": point} | ({"cost": point[0]} if point[0] < 0 else {"outcome": "failed"}) for point in points]
    http.post(f"{lab.path}/trials/batch", json={"trials": bodies})

    good, bad = http.post(f"{lab.path}/predict", json={"points": [[-0.7, 0], [0.7, 0]]}).json()["predictions"]

    assert good["feasible"] > 0.8
    assert bad["feasible"] < 0.3


def test_without_two_costs_there_is_no_prediction(http, lab):
    http.post(f"{lab.path}/trials", json={"point": [0, 0], "cost": 1})

    answer = http.post(f"{lab.path}/predict", json={"points": [[0, 0]]})

    assert (answer.status_code, answer.json()) == (200, {"predictions": None})


def test_every_wrong_point_is_named(http, lab):
    answer = http.post(f"{lab.path}/predict", json={"points": [[0, 0], [0], "x"]})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-point")
    assert [error["pointer"][:9] for error in answer.json()["errors"]] == ["/points/1", "/points/2"]
