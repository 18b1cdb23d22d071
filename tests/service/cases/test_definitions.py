"""Cases from the field: what a study is defined by, where it begins, and what it aims at."""

from __future__ import annotations

import math

import pytest

from tests.service.cases.wire import add, asked, observed

FOUR = {"type": "product", "factors": {name: {"type": "real", "bounds": [0, 1]} for name in "abcd"}}
SUM = {"type": "linear", "coefficients": dict.fromkeys("abcd", 1), "upper": 1}


def test_every_point_keeps_to_the_sum_rule_the_first_batch_too(make_lab):
    """L52, facebook/Ax#3862."""
    lab = make_lab(space=FOUR, constraints=[SUM], initial_design={"size": 44})

    trials = asked(lab, 44)
    for trial in trials:
        lab.tell(trial["number"], cost=-sum(trial["point"].values()))
    trials += asked(lab, 6)

    assert {trial["origin"]["kind"] for trial in trials} == {"initial", "model"}
    assert all(sum(trial["point"].values()) <= 1 for trial in trials)


def test_a_known_good_value_outside_is_kept_as_it_is(make_lab):
    """L53, optuna/optuna#2131, #3298."""
    lab = make_lab(space={"type": "real", "bounds": [1, 10]})

    told, queued = add(lab, 0, cost=1), add(lab, 0)

    assert (told.status_code, told.json()["point"], told.json()["flags"]) == (201, 0, ["outside_domain"])
    assert queued.status_code == 422
    assert queued.json()["errors"][0]["detail"] == "0 is outside [1, 10] by 1"


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ([0, 10], "low 0 has no logarithm"),
        ([-3, 1], "low -3 has no logarithm"),
        ([5, 5], "both bounds are 5: nothing to search"),
        ([10, 1], "low 10 is above high 1"),
    ],
)
def test_a_wrong_log_range_is_refused_with_its_own_reason(http, study_name, bounds, says):
    """L55, scikit-optimize/scikit-optimize#1096, rodrigo-arenas/Sklearn-genetic-opt#323."""
    space = {"type": "real", "bounds": bounds, "scale": "log"}

    answer = http.post("/v1/studies", json={"name": study_name, "space": space})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-space")
    assert answer.json()["errors"][0]["detail"] == says
    assert http.get(f"/v1/studies/{study_name}").status_code == 404


def test_wide_gains_cover_their_decades(make_lab):
    """L56, bayesian-optimization/BayesianOptimization#4, microsoft/nni#426."""
    lab = make_lab(space={"type": "real", "bounds": [1e-5, 1e5], "scale": "log"}, initial_design={"size": 40})

    gains = [trial["point"] for trial in asked(lab, 40)]

    assert all(1e-5 <= gain <= 1e5 for gain in gains)
    assert {math.floor((math.log10(gain) + 5) / 2) for gain in gains} >= {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("goal", "best", "within"), [("minimize", 1.5, 0.2), ("maximize", -5.0, 1e-6)])
def test_the_goal_is_pursued(make_lab, goal, best, within):
    """L58, tobegit3hub/advisor#11."""
    lab = make_lab(space={"type": "real", "bounds": [-5, 5]}, objective={"goal": goal}, initial_design={"size": 4})

    for _ in range(25):
        trial = lab.ask()
        lab.tell(trial["number"], cost=trial["point"] ** 2 - 3 * trial["point"] + 2)

    assert lab.show()["best"]["point"] == pytest.approx(best, abs=within)


def test_noise_is_inferred_exact_known_or_measured(make_lab, http):
    """L59, facebook/Ax#118, #752, #501."""
    lab = make_lab(space={"type": "real", "bounds": [0, 1]}, initial_design={"size": 2})

    inferred, exact = observed(lab, 0.1, cost=1.0), add(lab, 0.3, cost=0.5, std=0).json()
    known = add(lab, 0.5, cost=0.4, std=0.3).json()
    repeats = add(lab, 0.7, costs=[0.9, 1.1, 1.0, 0.8, 1.2]).json()

    assert (inferred["std"], exact["std"], known["std"]) == (None, 0.0, 0.3)
    assert repeats["values"] == [0.9, 1.1, 1.0, 0.8, 1.2]
    assert repeats["cost"] == pytest.approx(1.0)
    assert repeats["std"] == pytest.approx(math.sqrt(0.025 / 5))
    recommended = http.get(f"{lab.path}/best").json()["recommended"]
    assert recommended["mean"] < 1.0


def test_the_recommended_point_is_that_of_the_model_s_mean_and_not_the_luckiest(make_lab, http):
    """L59, facebook/Ax#501: one lucky run among many at a bad place."""
    lab = make_lab(space={"type": "real", "bounds": [0, 1]}, initial_design={"size": 2})
    for cost in (-0.5, 1.2, 1.1, 1.3, 0.9, 1.0, 1.2):
        observed(lab, 0.9, cost=cost)
    for cost in (0.02, -0.03, 0.01, 0.04, -0.01, 0.0):
        observed(lab, 0.2, cost=cost)

    best = http.get(f"{lab.path}/best").json()

    assert best["observed"]["point"] == 0.9
    assert abs(best["recommended"]["point"] - 0.2) < 0.35
