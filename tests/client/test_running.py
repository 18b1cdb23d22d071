"""The loop: what each way of ending an evaluation tells the service."""

from __future__ import annotations

import httpx
import pytest
from geodrome import Infeasible, InvalidCost, RobotFault, ServiceUnreachable

OUTCOMES = [
    pytest.param(Infeasible("joint limit"), "failed", "joint limit", id="the point is bad"),
    pytest.param(RobotFault("no power"), "lost", "no power", id="the lab broke"),
    pytest.param(RobotFault(), "lost", "RobotFault", id="no reason given"),
    pytest.param(Infeasible("x" * 9000), "failed", "x" * 4096, id="a reason longer than the wire takes"),
]
ENDINGS = [
    pytest.param(KeyboardInterrupt(), "KeyboardInterrupt", id="ctrl-c"),
    pytest.param(ZeroDivisionError("division by zero"), "division by zero", id="a bug"),
]


def raising(error):
    def evaluate(point):
        raise error

    return evaluate


@pytest.mark.parametrize(("error", "state", "reason"), OUTCOMES)
def test_an_evaluation_without_a_cost_is_told_and_the_run_goes_on(asked, trial_body, error, state, reason):
    study, script = asked(*[httpx.Response(200, json=trial_body(state=state, reason=reason))] * 2)

    trials = study.run(raising(error), 2, progress=False)

    assert [trial.state.value for trial in trials] == [state, state]
    assert script.bodies[1] == {"outcome": state, "reason": reason}


@pytest.mark.parametrize(("error", "reason"), ENDINGS)
def test_anything_else_is_told_as_lost_and_goes_on_its_way(asked, trial_body, error, reason):
    study, script = asked(httpx.Response(200, json=trial_body(state="lost")))

    with pytest.raises(type(error)):
        study.run(raising(error), 5, progress=False)

    assert script.bodies[-1] == {"outcome": "lost", "reason": reason}
    assert script.answers == []


def test_what_stopped_the_run_is_seen_even_if_the_service_is_gone(asked):
    study, _ = asked(httpx.DecodingError("gone"))

    with pytest.raises(KeyboardInterrupt):
        study.run(raising(KeyboardInterrupt()), 1, progress=False)


def test_a_cost_that_is_not_finite_gives_the_trial_back_and_stops(asked, trial_body):
    study, script = asked(httpx.Response(200, json=trial_body(state="lost")))

    with pytest.raises(InvalidCost):
        study.run(lambda point: float("nan"), 5, progress=False)

    assert script.bodies[-1]["outcome"] == "lost"


def test_a_tell_that_went_astray_is_not_followed_by_a_contradiction(asked):
    study, script = asked(httpx.DecodingError("cut off"))

    with pytest.raises(ServiceUnreachable):
        study.run(lambda point: 1.0, 1, progress=False)

    assert [body.get("outcome") for body in script.bodies] == [None, "completed"]


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_the_bar_shows_the_best_cost_so_far(asked, study_body, trial_body, goal, capsys):
    fields = {"objective": {"goal": goal, "unit": "N"}, "best": trial_body(state="completed", cost=2.0)}
    study, script = asked(*[httpx.Response(200, json=trial_body(cost=cost)) for cost in (4.0, 1.5)], **fields)
    script.answers.insert(0, httpx.Response(200, json=study_body(**fields)))

    study.run(lambda point: 0.0, 2)

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "2/2" in shown.err
    assert {"minimize": "best 1.5 N", "maximize": "best 4 N"}[goal] in shown.err
