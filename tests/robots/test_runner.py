"""The runner against a live service: each thing that happens to a robot becomes the right outcome."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from geodrome import (
    Client,
    Infeasible,
    InvalidCost,
    InvalidRequest,
    RobotFault,
    ServiceUnreachable,
    Study,
    StudyExists,
)
from geodrome.schemas import Outcome
from geodrome_robots.journal import Journal
from geodrome_robots.loop import Limits
from geodrome_robots.opening import open_study
from geodrome_robots.robot import Measurement, Readiness
from geodrome_robots.runner import run
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.orientation import Orientation
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

    robot = pointer(on_call(2, Infeasible("joint 4 at its limit")))

    report = run(robot, study, 3)

    trials = list(study.trials())
    assert robot.stops == 1
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
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            return Measurement(float("nan"))

    study = new_study()

    with pytest.raises(InvalidCost):
        run(Broken(), study, 1)
    assert next(study.trials()).state == "lost"


def test_the_point_that_was_executed_is_stored(pointer, new_study):
    class Clipped(pointer):
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
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


def test_a_study_of_a_robot_has_the_kernel_that_is_asked_for(client):
    name = f"orientation-{uuid4().hex}"

    study = open_study(client, Orientation("balanced"), name=name, kernel="euclidean_matern")

    assert study.record.kernel.type == "euclidean_matern"
    with pytest.raises(StudyExists):
        open_study(client, Orientation("balanced"), name=name, if_exists="load")
    with pytest.raises(InvalidRequest, match="/kernel/type"):
        open_study(client, Orientation("balanced"), name=f"{name}-2", kernel="cholesky_matern")


def test_the_first_point_is_measured_again_after_the_second_and_a_second_cost_is_kept(pointer, new_study):
    class Drifting(pointer):
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            return Measurement(super().evaluate(point, seed=seed, stop=stop).cost + 0.5 * self.calls)

    study = new_study()

    report = run(Drifting(), study, 3, check_noise=True)

    trials = list(study.trials())
    assert [trial.origin.kind for trial in trials] == ["initial", "initial", "told", "initial"]
    assert trials[2].point == trials[0].point == report.noise.point
    assert trials[2].cost == report.noise.again == pytest.approx(report.noise.first + 1.0)
    assert report.noise.std == pytest.approx(1 / 2**0.5)


def test_a_robot_that_measures_the_same_again_adds_nothing(pointer, new_study):
    study = new_study()

    report = run(pointer(), study, 3, check_noise=True)

    assert report.noise.std == 0
    assert len(list(study.trials())) == 3


def test_a_trial_is_kept_for_as_long_as_the_robot_runs(pointer, new_study):
    study = new_study(lease_s=1.0)

    report = run(pointer(lambda _: time.sleep(2.5)), study, 1)

    [trial] = study.trials()
    assert (trial.state, trial.flags) == ("completed", [])
    assert report.trials[0].number == 1


def test_a_trial_that_a_person_abandons_meanwhile_is_broken_off(pointer, new_study):
    class Patient(pointer):
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            if seed == 1:
                study.tell(1, outcome=Outcome.ABANDONED, reason="it is about to hit the table")
                stop.wait(60)
            return super().evaluate(point, seed=seed, stop=stop)

    study = new_study(lease_s=0.6)
    robot = Patient()

    report = run(robot, study, 2)

    assert [(trial.number, trial.outcome) for trial in report.trials] == [(1, "abandoned"), (2, "completed")]
    assert "is abandoned" in report.trials[0].reason
    assert robot.stops == 1
    assert [trial.state for trial in study.trials()] == ["abandoned", "completed"]


def test_a_robot_that_is_not_ready_is_waited_for(pointer, new_study):
    class Starting(pointer):
        def ready(self) -> Readiness:
            return Readiness(is_ready=time.monotonic() > begin + 1, reason="it boots")

    begin = time.monotonic()

    report = run(Starting(), new_study(), 1, limits=Limits(ready_s=30))

    assert report.count(Outcome.COMPLETED) == 1


def test_a_result_that_could_not_be_told_is_told_by_the_next_run(pointer, new_study, tmp_path):
    def goes_away(*_: Any, **__: Any) -> None:
        raise ServiceUnreachable("the service has gone away")

    study, robot, path = new_study(), pointer(), tmp_path / "pointer.journal"
    told, study.tell = study.tell, goes_away
    with Journal(path) as journal, pytest.raises(ServiceUnreachable):
        run(robot, study, 1, worker=journal.worker, journal=journal)
    assert [trial.state for trial in study.trials()] == ["running"]
    study.tell = told

    with Journal(path, resume=True) as journal:
        run(robot, study, 1, worker=journal.worker, journal=journal)

    assert [trial.state for trial in study.trials()] == ["completed", "completed"]
    assert robot.calls == 2, "the point of trial 1 was run once"


def test_an_interrupt_while_a_result_is_told_does_not_lose_it(pointer, new_study, tmp_path):
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    study, path = new_study(), tmp_path / "pointer.journal"
    told, study.tell = study.tell, interrupted
    with Journal(path) as journal:
        report = run(pointer(), study, 1, journal=journal)
        study.tell = told
        assert report.interrupted
        assert [result.number for result in journal.pending(study.record.id)] == [1]
