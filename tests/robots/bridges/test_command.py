"""Another program as a robot: each line that it may write becomes the right outcome, and none outlives its trial."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import textwrap
import threading
import time
from uuid import uuid4

import pytest
from geodrome import Client, Infeasible, RobotFault
from geodrome_robots import Limits, Measurement, Stop, Stopped, check_robot, from_command, run

GAIN = {"type": "real", "bounds": [0.1, 10.0]}
SERVE = """
import json, os, signal, subprocess, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    point, seed = asked["point"], asked["seed"]
    {answer}
    sys.stdout.flush()
"""


def program(answer: str, before: str = "") -> list[str]:
    """A program that runs ``answer`` for each line that it reads; ``-S`` because it starts faster."""
    body = SERVE.format(answer=textwrap.indent(textwrap.dedent(answer).strip(), "    ").strip())
    return [sys.executable, "-I", "-S", "-c", textwrap.dedent(before) + body]


@pytest.fixture
def made():
    """Makes robots of programs and closes them."""
    with contextlib.ExitStack() as stack:

        def make(answer, before="", **options):
            robot = from_command(program(answer, before), name="press", space=GAIN, **options)
            stack.callback(robot.close)
            return robot

        yield make


def evaluate(robot, point=2.0, *, stop=None):
    return robot.evaluate(point, seed=7, stop=stop or Stop())


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_keeps_the_rules_of_a_robot(made):
    check_robot(made("print(json.dumps({'cost': point}))", deterministic=True))


def test_a_cost_with_metrics_and_the_point_that_was_run(made):
    robot = made("print(json.dumps({'cost': 2 * point, 'metrics': {'seed': seed}, 'point': point - 0.5}))")

    assert evaluate(robot) == Measurement(4.0, metrics={"seed": 7}, executed=1.5)


def test_one_program_is_kept_for_all_trials(made):
    robot = made("print(json.dumps({'cost': os.getpid()}))")

    assert len({evaluate(robot).cost for _ in range(3)}) == 1


def test_a_bad_point_and_a_broken_lab_are_told_apart_and_the_program_goes_on(made):
    robot = made(
        """
        outcome = {1: "failed", 2: "lost"}.get(point)
        print(json.dumps({"outcome": outcome, "reason": "why"} if outcome else {"cost": os.getpid()}))
        """
    )
    before = evaluate(robot, 3)

    with pytest.raises(Infeasible, match=r"^why$"):
        evaluate(robot, 1)
    with pytest.raises(RobotFault, match=r"^why$"):
        evaluate(robot, 2)
    assert evaluate(robot, 3) == before


def test_an_outcome_without_a_reason_still_says_who_speaks(made):
    with pytest.raises(Infeasible, match="press says that the run failed"):
        evaluate(made('print(\'{"outcome": "failed"}\')'))


def test_banners_are_no_answers_and_go_to_the_log(made, caplog):
    caplog.set_level(logging.INFO, logger="geodrome.robots")
    robot = made("print('  >> moving'); print(); print(json.dumps({'cost': 1}))", "print('MATLAB (R)')")

    assert evaluate(robot).cost == 1
    assert {"press: MATLAB (R)", "press:   >> moving"} <= set(caplog.messages)


def test_standard_error_goes_to_the_log(made, caplog, eventually):
    robot = made("print('warm', file=sys.stderr, flush=True); print('{\"cost\": 1}')")

    evaluate(robot)

    eventually(lambda: "press: warm" in caplog.messages)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("print('{\"cost\": ')", r"press answered \{\"cost\":.*Invalid JSON"),
        ("print('{cost: 1}')", "Invalid JSON"),
        ("print('{}')", "a run without a cost .* is answered by"),
        ("print('{\"cost\": NaN}')", "a run without a cost .* is answered by"),
        ("print('{\"cost\": null}')", "a run without a cost .* is answered by"),
        ("print('{\"cost\": 1e999}')", "a run without a cost .* is answered by"),
        ('print(\'{"cost": "1"}\')', "cost: Input should be a valid number"),
        ('print(\'{"cost": 1, "metric": {}}\')', "metric: Extra inputs are not permitted"),
        ('print(\'{"cost": 1, "metrics": {"peak_N": NaN}}\')', "metrics: peak_N: Input should be a finite number"),
        ('print(\'{"outcome": "failed", "cost": 1}\')', "no other has one"),
        ('print(\'{"outcome": "abandoned"}\')', "outcome: Input should be"),
    ],
)
def test_an_answer_that_is_none_is_a_fault_that_shows_it(made, answer, message):
    with pytest.raises(RobotFault, match=f"(?s){message}"):
        evaluate(made(answer))


def test_empty_metrics_may_be_written_as_matlab_does(made):
    assert evaluate(made('print(\'{"cost": 1, "metrics": []}\')')).metrics == {}


@pytest.mark.parametrize(
    ("answer", "code"), [("sys.exit(3)", 3), ("sys.exit(0)", 0), ("os.kill(os.getpid(), signal.SIGKILL)", -9)]
)
def test_a_program_that_ends_is_a_fault_with_its_last_words(made, answer, code):
    robot = made(f"print('no licence', file=sys.stderr, flush=True); {answer}")

    with pytest.raises(RobotFault, match=f"ended with the exit code {code}\nstderr: no licence"):
        evaluate(robot)


def test_a_program_is_started_anew_after_a_fault(made, tmp_path):
    flag = tmp_path / "flag"
    robot = made(
        f"""
        if not os.path.exists({str(flag)!r}):
            open({str(flag)!r}, "w").close()
            sys.exit(1)
        print('{{"cost": 1}}')
        """
    )

    with pytest.raises(RobotFault, match="exit code 1"):
        evaluate(robot)
    assert evaluate(robot).cost == 1


def test_a_program_that_left_between_two_trials_is_started_again(made, eventually, caplog):
    robot = made("print(json.dumps({'cost': os.getpid()}), flush=True); sys.exit(4)")
    first = evaluate(robot).cost
    eventually(lambda: not is_running(int(first)))

    assert evaluate(robot).cost != first
    assert "ended between two trials with the exit code 4" in caplog.text


def test_an_answer_too_many_is_not_taken_for_the_next(made, eventually):
    robot = made("print(json.dumps({'cost': point})); print(json.dumps({'cost': -point}))")
    evaluate(robot, 1)
    eventually(lambda: not robot._process._lines.empty())

    with pytest.raises(RobotFault, match="wrote what nobody asked for"):
        evaluate(robot, 2)
    assert evaluate(robot, 3).cost == 3


WITH_A_CHILD = """
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
with open({path!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
{stubborn}
time.sleep(60)
"""


@pytest.mark.parametrize("stubborn", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"], ids=["", "ignores SIGTERM"])
def test_a_trial_that_is_broken_off_ends_the_program_and_all_that_it_started(made, tmp_path, eventually, stubborn):
    path = tmp_path / "pids"
    robot = made(WITH_A_CHILD.format(path=str(path), stubborn=stubborn))
    stop = Stop()

    def break_off():
        eventually(lambda: path.exists() and len(path.read_text().split()) == 2)
        stop.want("the trial was taken away")

    thread = threading.Thread(target=break_off)
    thread.start()
    with pytest.raises(Stopped, match="taken away"):
        evaluate(robot, stop=stop)
    thread.join()
    pids = [int(pid) for pid in path.read_text().split()]
    eventually(lambda: not any(is_running(pid) for pid in pids))


def test_a_program_may_bring_its_robot_to_rest_when_it_is_ended(made, tmp_path):
    path = tmp_path / "rests"
    robot = made(
        "print('moving', file=sys.stderr, flush=True); time.sleep(60)",
        f"""
        import signal, sys
        def rest(number, frame):
            open({str(path)!r}, "w").close()
            sys.exit(0)
        signal.signal(signal.SIGTERM, rest)
        """,
    )

    with pytest.raises(Infeasible, match=r"timeout: the trial took longer than 0\.5 s"):
        evaluate(robot, stop=Stop(0.5))
    assert path.exists()


def test_its_input_ends_when_the_robot_is_closed(made, tmp_path):
    path = tmp_path / "left"
    command = program("print('{\"cost\": 1}')")
    command[-1] += f"\nopen({str(path)!r}, 'w').close()\n"
    robot = from_command(command, name="press", space=GAIN)
    evaluate(robot)

    robot.close()

    assert path.exists()


def test_a_program_that_greets_is_ready_when_it_says_so(made):
    robot = made("print('{\"cost\": 1}')", "print('{\"ready\": true}', flush=True)\n", start_s=20)

    assert robot.ready()
    assert evaluate(robot).cost == 1


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ('print(\'{"ready": false, "reason": "the e-stop is pressed"}\', flush=True)\n', "the e-stop is pressed"),
        ("import time; time.sleep(60)\n", r"press said nothing for 0\.5 s"),
        ("print('{\"cost\": 1}', flush=True)\n", "press answered"),
        ("import sys; sys.exit('no licence')\n", "stderr: no licence"),
    ],
)
def test_a_program_that_does_not_greet_is_not_ready_and_says_why(made, before, message):
    robot = made("print('{\"cost\": 1}')", before, start_s=0.5 if "sleep" in before else 20)

    readiness = robot.ready()

    assert not readiness
    assert message.replace("\\", "") in readiness.reason


def test_a_program_that_does_not_exist_is_told_at_once():
    robot = from_command(["no-such-program"], name="press", space=GAIN)

    with pytest.raises(RobotFault, match=r"press cannot be started, no-such-program: No such file"):
        robot.ready()


def test_it_describes_itself_without_starting_anything():
    robot = from_command(["/opt/press", "--quiet"], name="press", space=GAIN)

    described = robot.describe()

    assert described["model"] == "the program press"
    assert json.loads(json.dumps(described)) == described


def test_a_deadline_of_the_runner_ends_the_program_and_the_run_goes_on(made, server):
    robot = made("time.sleep(60 if seed == 2 else 0); print(json.dumps({'cost': point}))")
    with Client(server) as client:
        study = client.create_study(f"press-{uuid4().hex}", space=GAIN, initial_design={"size": 20})

        run(robot, study, 3, limits=Limits(trial_s=1.5))

        assert [trial.state for trial in study.trials()] == ["completed", "failed", "completed"]


def test_an_interrupt_ends_the_program_and_loses_the_trial(made, server, tmp_path, eventually):
    path = tmp_path / "pids"
    robot = made(WITH_A_CHILD.format(path=str(path), stubborn=""))

    def interrupt():
        eventually(lambda: path.exists() and len(path.read_text().split()) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    with Client(server) as client:
        study = client.create_study(f"press-{uuid4().hex}", space=GAIN, initial_design={"size": 20})
        thread = threading.Thread(target=interrupt)
        thread.start()
        begin = time.monotonic()

        report = run(robot, study, 3)

        thread.join()
        assert report.interrupted
        assert time.monotonic() - begin < 20
        assert next(trial.state for trial in study.trials()) == "lost"
    eventually(lambda: not any(is_running(int(pid)) for pid in path.read_text().split()))
