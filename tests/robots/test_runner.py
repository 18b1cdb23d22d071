"""The runner against a live service: each thing that happens to a robot becomes the right outcome."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from geodrome import Client, Infeasible, InvalidCost, RobotFault, Study, StudyExists
from geodrome.schemas import Outcome
from geodrome_robots.orientation import Orientation
from geodrome_robots.robot import Measurement, Readiness
from geodrome_robots.runner import open_study, run
from rich.console import Console


@pytest.fixture
def client(server: str) -> Iterator[Client]:
    with Client(server) as client:
        yield client


@pytest.fixture
def new_study(client, pointer) -> Callable[..., Study]:
    def new_study(**definition: Any) -> Study:
        # More initial points than any test here spends: the loop is under test, not the model.
        settings = {"initial_design": {"size": 20}, **definition}
        return client.create_study(f"pointer-{uuid4().hex}", space=pointer.space, **settings)

    return new_study


def on_call(number: int, error: BaseException) -> Callable[[int], None]:
    """Raises ``error`` in the evaluation of this number."""

    def before(calls: int) -> None:
        if calls == number:
            raise error

    return before


def test_every_trial_is_told_with_its_cost_and_metrics(pointer, new_study):
    study = new_study()
    seen = []

    report = run(pointer(), study, 3, worker="arm-1", on_trial=seen.append)

    trials = list(study.trials())
    assert [trial.state for trial in trials] == ["completed"] * 3
    assert [trial.cost for trial in trials] == [1 - abs(trial.point[0]) for trial in trials]
    assert [trial.metrics for trial in trials] == [{"seed": trial.number} for trial in trials]
    assert {trial.worker for trial in trials} == {"arm-1"}
    assert list(report.trials) == seen
    assert report.best.measurement.cost == min(trial.cost for trial in trials)


def test_a_bad_point_is_told_as_failed_and_counts(pointer, new_study):
    study = new_study()

    report = run(pointer(on_call(2, Infeasible("joint 4 at its limit"))), study, 3)

    trials = list(study.trials())
    assert [trial.state for trial in trials] == ["completed", "failed", "completed"]
    assert trials[1].reason == "joint 4 at its limit"
    assert (report.count(Outcome.COMPLETED), report.count(Outcome.FAILED)) == (2, 1)


def test_a_broken_lab_is_told_as_lost_and_its_point_comes_again(pointer, new_study):
    study = new_study()
    robot = pointer(on_call(2, RobotFault("the simulator died")))

    report = run(robot, study, 3)

    trials = list(study.trials())
    assert [trial.state for trial in trials] == ["completed", "lost", "completed", "completed"]
    assert trials[1].reason == "the simulator died"
    assert (trials[2].retry_of, trials[2].point) == (2, trials[1].point)
    assert (report.count(Outcome.COMPLETED), report.count(Outcome.LOST), robot.stops) == (3, 1, 1)


def test_a_robot_that_faults_three_times_in_a_row_is_left_alone(pointer, new_study):
    def broken(calls: int) -> None:
        raise RobotFault("no power")

    robot = pointer(broken)

    with pytest.raises(RobotFault, match="pointer faulted 3 times in a row, lastly: no power"):
        run(robot, new_study(), 3)
    assert robot.calls == 3


def test_nothing_is_asked_for_a_robot_that_is_not_ready(pointer, new_study):
    class Stopped(pointer):
        def ready(self) -> Readiness:
            return Readiness(is_ready=False, reason="the e-stop is pressed")

    study = new_study()

    with pytest.raises(RobotFault, match="pointer is not ready: the e-stop is pressed"):
        run(Stopped(), study, 1)
    assert list(study.trials()) == []


def test_the_operators_interrupt_stops_the_robot_and_tells_the_trial_as_lost(pointer, new_study):
    study = new_study()
    robot = pointer(on_call(2, KeyboardInterrupt()))

    report = run(robot, study, 5)

    trials = list(study.trials())
    assert report.interrupted
    assert len(report.trials) == 1
    assert (trials[1].state, trials[1].reason) == ("lost", "stopped by the operator")
    assert robot.stops == 1


def test_an_error_in_the_robots_code_is_raised_after_the_trial_is_told_as_lost(pointer, new_study):
    study = new_study()
    robot = pointer(on_call(1, ZeroDivisionError("no mass")))

    with pytest.raises(ZeroDivisionError):
        run(robot, study, 1)
    trial = next(study.trials())
    assert (trial.state, trial.reason, robot.stops) == ("lost", "ZeroDivisionError: no mass", 1)


def test_a_cost_that_is_not_finite_is_raised_and_leaves_no_trial_running(pointer, new_study):
    class Broken(pointer):
        def evaluate(self, point: Any, *, seed: int) -> Measurement:
            return Measurement(float("nan"))

    study = new_study()

    with pytest.raises(InvalidCost):
        run(Broken(), study, 1)
    assert next(study.trials()).state == "lost"


def test_the_point_that_was_executed_is_stored(pointer, new_study):
    class Clipped(pointer):
        def evaluate(self, point: Any, *, seed: int) -> Measurement:
            return Measurement(0.0, executed=[1.0, 0.0, 0.0, 0.0])

    study = new_study()

    report = run(Clipped(), study, 1)

    assert next(study.trials()).point == [1.0, 0.0, 0.0, 0.0]
    assert report.best.point == [1.0, 0.0, 0.0, 0.0]


def test_a_spent_budget_ends_the_run(pointer, new_study):
    report = run(pointer(), new_study(budget={"trials": 2}), 5)

    assert (len(report.trials), report.interrupted) == (2, False)


def test_a_worker_that_comes_back_gets_the_trial_that_it_left_running(pointer, new_study):
    study = new_study()
    left = study.ask(worker="arm-1")

    report = run(pointer(), study, 1, worker="arm-1")

    assert report.trials[0].number == left.number


def test_the_progress_bar_shows_the_best_cost(pointer, new_study):
    drawn = io.StringIO()

    report = run(pointer(), new_study(), 2, console=Console(file=drawn, width=100))

    assert "pointer" in drawn.getvalue()
    assert "2/2" in drawn.getvalue()
    assert f"best {report.best.measurement.cost:.6g}" in drawn.getvalue()


def test_a_study_that_maximizes_is_refused(pointer, new_study):
    with pytest.raises(ValueError, match="is to maximize, but robots measure costs"):
        run(pointer(), new_study(objective={"goal": "maximize"}), 1)


def test_a_study_keeps_what_its_robot_says_and_mixes_no_two_weightings(client):
    name = f"orientation-{uuid4().hex}"
    study = open_study(client, Orientation("balanced"), name=name)

    loaded = open_study(client, Orientation("balanced"), name=name, if_exists="load")

    assert loaded.record.id == study.record.id
    assert study.record.metadata["robot"] == Orientation("balanced").describe()
    assert (study.record.space.frame, study.record.space.order) == ("panda_hand", "wxyz")
    with pytest.raises(StudyExists):
        open_study(client, Orientation("printed"), name=name, if_exists="load")
