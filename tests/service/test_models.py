"""The model in natural units: lengthscales, noise, and how far it can be trusted."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest

from tests.core.cases import drawn

BALL = {"type": "hyperbolic", "dim": 3, "radius": 3.0}
TURN = {"type": "rotation"}
GAIN = {"type": "real", "bounds": [0, 40], "unit": "N"}


def turned(*, about: float, by: float) -> list[float]:
    return [math.cos(by / 2), math.sin(by / 2) * math.cos(about), math.sin(by / 2) * math.sin(about), 0.0]


def observed(http, lab, points, costs):
    bodies = [{"point": point, "cost": cost} for point, cost in zip(points, costs, strict=True)]
    assert http.post(f"{lab.path}/trials/batch", json={"trials": bodies}).status_code == 201


ROTATIONS = [turned(about=index, by=0.3 * index) for index in range(8)]
COSTS = [0.3, 0.2, 0.5, 0.9, 1.4, 1.2, 2.0, 2.5]


def test_there_is_no_model_before_two_costs(http, lab):
    assert http.get(f"{lab.path}/model").json() == {"model": None}

    observed(http, lab, [[0, 0]], [1.0])

    assert http.get(f"{lab.path}/model").json() == {"model": None}


def test_a_lengthscale_of_rotations_is_that_of_the_engine_in_degrees(http, make_lab):
    lab = make_lab(space=TURN)
    observed(http, lab, ROTATIONS, COSTS)
    torch.set_num_threads(1)
    space = space_from_spec(TURN)
    empty = space.rows([])
    known = History(space.rows(ROTATIONS), torch.tensor(COSTS, dtype=torch.float64), empty, empty, empty)
    radians = suggest(Problem(space), known)[0].hyperparameters["lengthscales"][""]

    found = http.get(f"{lab.path}/model").json()["model"]

    [scale] = found["lengthscales"]
    assert scale == {"factor": "", "value": pytest.approx(radians * 180 / math.pi, rel=1e-12), "unit": "deg"}
    assert found["status"] == "converged"
    assert 0.25 <= found["nu"] <= 20
    assert (found["observations"], found["points"]) == (8, 8)
    assert 0 <= found["calibration"]["within_one"] <= found["calibration"]["within_two"] <= 1
    assert found["calibration"]["error"] > 0


@pytest.mark.parametrize("kernel", ["matern", "flat_matern"])
def test_in_hyperbolic_space_the_model_says_which_kernel_the_costs_chose(http, make_lab, kernel):
    """With 150 costs that are drawn from a kernel, the engine chooses it."""
    space = space_from_spec(BALL)
    history = drawn(space, kernel, seed=0, count=150)
    lab = make_lab(space=BALL)
    observed(http, lab, [space.point(row) for row in history.X], history.Y.tolist())

    found = http.get(f"{lab.path}/model").json()["model"]

    assert lab.show()["kernel"] == {"type": "auto", "nu": "learn"}
    assert lab.show()["notes"] == []
    assert found["kernel"] == kernel
    asked = lab.ask()
    assert asked["origin"]["kind"] == "model"
    kept = http.get(f"{lab.path}/export").json()["trials"][asked["number"] - 1]["recipe"]
    assert kept["hyperparameters"]["kernel"] == kernel


def test_each_factor_has_its_own_and_repeats_are_one_point(http, make_lab):
    lab = make_lab(space={"type": "product", "factors": {"tool": TURN, "gain": GAIN}}, kernel={"nu": "inf"})
    points = [{"tool": turn, "gain": 5.0 * index} for index, turn in enumerate(ROTATIONS)]
    observed(http, lab, [*points, points[0]], [*COSTS, 0.31])

    found = http.get(f"{lab.path}/model").json()["model"]

    assert [(scale["factor"], scale["unit"]) for scale in found["lengthscales"]] == [("tool", "deg"), ("gain", "N")]
    assert found["nu"] == "inf"
    assert (found["observations"], found["points"]) == (9, 8)


def test_an_unknown_study_has_no_model(http):
    assert http.get("/v1/studies/nobody/model").json()["code"] == "study-not-found"
