"""An action server as a robot, through a live service; rclpy is a double of the same names (``fake_ros``)."""

from __future__ import annotations

import importlib
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from geodrome_robots.bridges import plain_client, ros2
from geodrome_robots.bridges.plain_client import Refused, Service
from geodrome_robots.bridges.ros2 import ActionRobot, Broken, Limits, Parameter, flatten

FAKE = Path(__file__).with_name("fake_ros")
EXAMPLE = Path(__file__).parents[3] / "robot_adapters" / "examples" / "ros2"


@pytest.fixture
def ros(monkeypatch):
    """The modules of the double, as a node imports them; nobody else sees them afterwards."""
    monkeypatch.syspath_prepend(FAKE)
    names = ["rclpy", "rclpy.action", "rclpy.node", "geodrome_interfaces.action"]
    yield {name: importlib.import_module(name) for name in names}
    for name in [name for name in sys.modules if name.split(".")[0] in {"rclpy", "geodrome_interfaces"}]:
        del sys.modules[name]


class Bench:
    """A study, an action server that does what a test wants, and the bridge between them."""

    def __init__(self, ros, study, url):
        self.ros = ros
        self.study = study
        self.node = ros["rclpy.node"].Node("geodrome")
        self.client = ros["rclpy.action"].ActionClient(self.node, None, "run_trial")
        self.service = Service(url)

    def serve(self, execute=None, **attributes):
        kind = self.ros["rclpy.action"].Server
        methods = {} if execute is None else {"execute": lambda server, goal: execute(goal)}
        self.client.server = type("Scripted", (kind,), {**methods, **attributes})()

    def result(self, **fields):
        return self.ros["geodrome_interfaces.action"].RunTrial.Result(**fields)

    def run(self, trials=1, *, spin=None, **limits):
        goal = self.ros["geodrome_interfaces.action"].RunTrial.Goal
        robot = ActionRobot(
            self.service,
            self.study.name,
            self.client,
            make_goal=lambda trial, parameters: make_goal(goal(), trial, parameters),
            spin=spin or (lambda seconds: self.ros["rclpy"].spin_once(self.node, timeout_sec=seconds)),
            worker="arm-1",
            limits=Limits(**limits),
        )
        return robot.run(trials)

    @property
    def trials(self):
        return list(self.study.trials())


def make_goal(goal, trial, parameters):
    goal.number, goal.parameters = trial["number"], parameters
    return goal


@pytest.fixture
def bench(ros, new_study, server):
    return Bench(ros, new_study(), server)


def waiting():
    while True:
        yield True


def silent(goal):
    while True:
        yield False


def test_a_succeeded_goal_is_completed_with_its_cost_and_metrics(bench):
    def execute(goal):
        yield True
        values = {"metric_names": ["peak_N", "slip_mm"], "metric_values": [3.0, math.nan]}
        return ros2.SUCCEEDED, bench.result(cost=0.5, **values)

    bench.serve(execute)

    told = bench.run(2)

    trials = bench.trials
    assert [(trial.state, trial.cost, trial.metrics) for trial in trials] == [("completed", 0.5, {"peak_N": 3.0})] * 2
    assert {trial.worker for trial in trials} == {"arm-1"}
    assert [body["number"] for body in told] == [1, 2]


def test_the_goal_holds_the_point_flat_and_the_quaternion_by_name(bench):
    bench.run()

    (trial,) = bench.trials
    (goal,) = bench.client.goals
    (xx, xy), (yx, yy) = trial.point["stiffness"]
    assert (goal.number, goal.parameters[0]) == (1, Parameter("stiffness", 2, 2, [xx, xy, yx, yy]))
    assert [(p.name, *p.data) for p in goal.parameters[1:]] == [
        (f"tool.{axis}", value) for axis, value in zip("xyzw", trial.point["tool"], strict=True)
    ]


@pytest.mark.parametrize(
    ("space", "point", "expected"),
    [
        ({"type": "real"}, 2, [Parameter("point", 1, 1, [2.0])]),
        ({"type": "sphere"}, [0, 0, 1.0], [Parameter("point", 3, 1, [0.0, 0.0, 1.0])]),
        (
            {"type": "rotation", "representation": "matrix", "order": None},
            [[0, 1], [-1, 0]],
            [Parameter("point", 2, 2, [0.0, 1.0, -1.0, 0.0])],
        ),
        (
            {
                "type": "product",
                "factors": {
                    "arm": {
                        "type": "product",
                        "factors": {
                            "flange": {
                                "type": "pose",
                                "orientation": {"type": "rotation", "representation": "quaternion", "order": "wxyz"},
                            }
                        },
                    }
                },
            },
            {"arm": {"flange": {"position": [1.0, 2.0, 3.0], "orientation": [1.0, 0.0, 0.5, 0.0]}}},
            [
                Parameter("arm.flange.position", 3, 1, [1.0, 2.0, 3.0]),
                Parameter("arm.flange.orientation.w", 1, 1, [1.0]),
                Parameter("arm.flange.orientation.x", 1, 1, [0.0]),
                Parameter("arm.flange.orientation.y", 1, 1, [0.5]),
                Parameter("arm.flange.orientation.z", 1, 1, [0.0]),
            ],
        ),
    ],
    ids=["a number", "a vector", "a matrix", "nested, with a pose"],
)
def test_points_are_flattened_as_messages_can_carry_them(space, point, expected):
    assert flatten(space, point) == expected


@pytest.mark.parametrize("reason", ["joint 4 at its limit", ""])
def test_an_aborted_goal_has_failed(bench, reason):
    def execute(goal):
        yield True
        return ros2.ABORTED, bench.result(reason=reason)

    bench.serve(execute)

    bench.run()

    (trial,) = bench.trials
    assert (trial.state, trial.reason) == ("failed", reason or "aborted by the robot")


def ended(status, **fields):
    def execute(bench):
        def script(goal):
            yield True
            return status, bench.result(**fields)

        return script

    return execute


@pytest.mark.parametrize(
    ("attributes", "execute", "reason"),
    [
        ({"accepts": lambda server, goal: False}, None, "the action server rejected the goal"),
        ({}, ended(ros2.CANCELED), "the goal was cancelled by somebody else"),
        ({}, ended(0), "the goal ended with status 0"),
        ({}, ended(ros2.SUCCEEDED, cost=math.nan), "the action succeeded with the cost nan: abort a bad run"),
        ({}, ended(ros2.SUCCEEDED, metric_names=["peak_N"]), "not as many metric_names as metric_values"),
        ({}, lambda bench: silent, "the action server gave no feedback for 0.2 s"),
        ({"answers_goals": False}, None, "the action server gave no feedback for 0.2 s"),
    ],
    ids=["rejected", "cancelled", "unknown", "no cost", "no metrics", "silent", "no answer"],
)
def test_what_says_nothing_about_the_point_is_lost_and_three_in_a_row_end_the_run(
    bench, monkeypatch, attributes, execute, reason
):
    monkeypatch.setattr(ros2, "CANCEL_S", 0.1)
    bench.serve(execute and execute(bench), **attributes)

    with pytest.raises(Broken, match=f"3 trials in a row were lost, lastly: .*{reason}"):
        bench.run(silence_s=0.2)

    assert [trial.state for trial in bench.trials][:3] == ["lost"] * 3
    assert len(bench.client.cancelled) == (3 if execute and execute(bench) is silent else 0)


def test_a_server_that_goes_away_loses_the_trial_and_nothing_more_is_asked(bench):
    def execute(goal):
        yield True
        bench.client.server.is_there = False
        yield from silent(goal)

    bench.serve(execute)

    with pytest.raises(Broken, match="there was no action server for 0 s"):
        bench.run(server_s=0)

    assert [(t.state, t.reason) for t in bench.trials][0] == ("lost", "the action server went away")  # noqa: RUF015
    assert not any(trial.state == "running" for trial in bench.trials)


def test_nothing_is_asked_while_there_is_no_server(bench):
    bench.serve(is_there=False)

    with pytest.raises(Broken, match="no action server"):
        bench.run()
    assert bench.trials == []


def test_a_goal_that_is_accepted_too_late_is_cancelled(bench, monkeypatch):
    monkeypatch.setattr(ros2, "CANCEL_S", 0.1)
    bench.serve(lambda goal: waiting(), answers_goals=False)
    with pytest.raises(Broken):
        bench.run(silence_s=0.1)

    bench.client.server.answers_goals = True
    bench.ros["rclpy"].spin_once(bench.node, timeout_sec=0.1)

    assert len(bench.client.cancelled) == 3


def test_a_trial_that_takes_too_long_is_cancelled_and_failed(bench):
    bench.serve(lambda goal: waiting())

    bench.run(deadline_s=0.3)

    (trial,) = bench.trials
    assert (trial.state, trial.reason) == ("failed", "timeout: the trial took longer than 0.3 s")
    assert len(bench.client.cancelled) == 1


def test_feedback_extends_the_lease(ros, new_study, server):
    bench = Bench(ros, new_study(lease_s=0.6), server)

    def execute(goal):
        for _ in range(300):
            yield True
        return ros2.SUCCEEDED, bench.result(cost=1.0)

    bench.serve(execute)
    bench.run()

    (trial,) = bench.trials
    assert trial.state == "completed"
    assert "late" not in trial.flags


def test_a_trial_that_is_taken_away_is_cancelled_and_not_told(ros, new_study, server):
    bench = Bench(ros, new_study(lease_s=3), server)

    def execute(goal):
        yield True
        if goal.number == 1:
            bench.study.trial(1).abandon(reason="never again")
            yield from waiting()
        return ros2.SUCCEEDED, bench.result(cost=1.0)

    bench.serve(execute)

    told = bench.run(deadline_s=20)

    assert [trial.state for trial in bench.trials] == ["abandoned", "completed"]
    assert [body["number"] for body in told] == [2]
    assert len(bench.client.cancelled) == 1


def test_a_result_that_nobody_wants_any_more_does_not_end_the_run(bench):
    def execute(goal):
        yield True
        if goal.number == 1:
            bench.study.trial(1).abandon(reason="never again")
        return ros2.SUCCEEDED, bench.result(cost=1.0)

    bench.serve(execute)

    bench.run(2)

    assert [trial.state for trial in bench.trials] == ["abandoned", "completed"]


def test_ctrl_c_cancels_the_goal_and_loses_the_trial(bench):
    bench.serve(lambda goal: waiting())
    spins = []

    def spin(seconds):
        spins.append(seconds)
        if len(spins) == 3:
            raise KeyboardInterrupt
        bench.ros["rclpy"].spin_once(bench.node, timeout_sec=seconds)

    with pytest.raises(KeyboardInterrupt):
        bench.run(spin=spin)

    assert [(t.state, t.reason) for t in bench.trials if t.number == 1] == [("lost", "stopped by the operator")]
    assert len(bench.client.cancelled) == 1


def test_a_study_whose_budget_is_spent_ends_the_run(ros, new_study, server):
    bench = Bench(ros, new_study(budget={"trials": 1}), server)

    with pytest.raises(Refused, match="study-closed"):
        bench.run(2)
    assert [trial.state for trial in bench.trials] == ["completed"]


def test_the_example_node_runs_without_any_package(new_study, server, tmp_path):
    """Beside the node lie copies of two files; Python sees neither its own packages nor the environment."""
    study = new_study()
    for module in (plain_client, ros2):
        shutil.copy(module.__file__, tmp_path)
    shutil.copy(EXAMPLE / "geodrome_node.py", tmp_path)
    code = f"import runpy, sys; sys.path[:0] = [{str(tmp_path)!r}, {str(FAKE)!r}]; sys.argv = sys.argv[1:]; "
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "geodrome_node.py"), study.name, "3"]

    done = subprocess.run(
        [*command, "--worker", "arm-2", "--ros-args", "-r", "run_trial:=press"],
        env={**os.environ, "GEODROME_URL": server},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    trials = list(study.trials())
    assert [(trial.state, trial.worker) for trial in trials] == [("completed", "arm-2")] * 3
    squares = sum(x * x for row in trials[0].point["stiffness"] for x in row) + 1
    assert trials[0].cost == pytest.approx(squares)


def test_the_action_and_the_message_have_the_fields_that_the_bridge_uses():
    goal, result, feedback = (EXAMPLE / "RunTrial.action").read_text().split("---")
    message = (EXAMPLE / "Parameter.msg").read_text()

    assert all(field in goal for field in ("int64 number", "Parameter[] parameters"))
    assert all(field in result for field in ("float64 cost", "string[] metric_names", "float64[] metric_values"))
    assert "string reason" in result
    assert "progress" in feedback
    assert all(f" {field}\n" in message for field in Parameter._fields)
