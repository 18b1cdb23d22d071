"""Networks that go away, servers and runners that are killed: every finished evaluation is in the study, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from geodrome import Client

from tests.robots.network import Network

PATIENT = """
import random
from geodrome_robots import Measurement, Robot

class Arm(Robot):
    '''Takes its time, and writes down each evaluation that it finished.'''

    name = "arm"
    space = {"type": "sphere", "dim": 2}

    def describe(self):
        return {
            "name": "arm", "version": "1", "model": "none", "parameters": {"direction": {"meaning": "where to"}},
            "cost": {"meaning": "chance", "unit": None}, "deterministic": False,
        }

    def evaluate(self, point, *, seed, stop):
        with open("begun.txt", "a") as begun:
            print(seed, file=begun)
        stop.wait(0.4)
        cost = random.random()
        with open("finished.txt", "a") as finished:
            print(seed, cost, file=finished)
        return Measurement(cost)
"""


class Lab:
    """A directory from which runners are started, each a process of its own."""

    def __init__(self, directory: Path, url: str) -> None:
        (directory / "patient.py").write_text(PATIENT)
        self.directory = directory
        self.url = url

    def start(self, trials: int, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "geodrome.cli", "robot", "run", "patient:Arm", "--url", self.url]
        command += ["--study", "arm", "--trials", str(trials), "--no-check-noise", "--json", *options]
        environment = {**os.environ, "PYTHONPATH": str(self.directory)}
        with (self.directory / "errors.txt").open("a") as errors:
            return subprocess.Popen(
                command, cwd=self.directory, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            )

    def lines(self, name: str) -> list[str]:
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []

    def finished(self) -> list[tuple[int, float]]:
        """Number and cost of each evaluation that the robot finished."""
        return [(int(number), float(cost)) for number, cost in map(str.split, self.lines("finished.txt"))]

    def untold(self) -> set[int]:
        """Numbers of the results that the journal holds and the service may not have."""
        entries = [json.loads(line) for line in self.lines("arm.journal")]
        return {e["number"] for e in entries if "body" in e} - {e["number"] for e in entries if "told" in e}

    def stored(self) -> list[tuple[int, float]]:
        """Number and cost of each completed trial."""
        with Client(self.url) as client:
            trials = client.study("arm").trials()
            return [(trial.number, trial.cost) for trial in trials if trial.cost is not None]


def killed(runner: subprocess.Popen[str]) -> None:
    runner.kill()
    runner.communicate()


@pytest.fixture
def service(start_server, tmp_path):
    return start_server(tmp_path / "lab.db")


@pytest.fixture
def lab(service, tmp_path):
    return Lab(tmp_path, service.url)


@pytest.mark.slow
def test_network_server_and_runner_fail_and_every_finished_evaluation_is_stored_once(
    service, start_server, tmp_path, eventually
):
    network = Network(service.url)
    lab = Lab(tmp_path, network.url)
    runner = lab.start(1000)
    eventually(lambda: len(lab.finished()) >= 3, 60)

    network.cut()
    time.sleep(20)
    assert runner.poll() is None, "the runner waits for its network"
    assert len(lab.untold()) <= 1
    network.mend()
    before = len(lab.finished())
    eventually(lambda: len(lab.finished()) >= before + 3, 60)

    service.stop(signal.SIGKILL)
    network.service = start_server(tmp_path / "lab.db").url
    before = len(lab.finished())
    eventually(lambda: len(lab.finished()) >= before + 3, 60)

    eventually(lambda: len(lab.lines("begun.txt")) > len(lab.finished()), 60)
    network.cut()  # while the robot moves: a runner that asks has no result to keep
    eventually(lambda: bool(lab.untold()), 60)
    killed(runner)
    network.mend()
    [left] = lab.untold()
    again = lab.start(4, "--resume")
    report = json.loads(again.communicate(timeout=120)[0])

    assert again.returncode == 0, lab.lines("errors.txt")
    assert len(report["trials"]) == 4
    assert left not in [trial["number"] for trial in report["trials"]], "a finished evaluation is not repeated"
    assert sorted(lab.stored()) == sorted(lab.finished())
    assert lab.untold() == set()


def test_a_runner_that_is_killed_while_its_robot_moves_gets_the_trial_back(lab, eventually):
    runner = lab.start(10)
    eventually(lambda: len(lab.lines("begun.txt")) > len(lab.finished()) >= 1, 60)
    killed(runner)
    interrupted = int(lab.lines("begun.txt")[-1])

    again = lab.start(1, "--resume")
    report = json.loads(again.communicate(timeout=60)[0])

    assert [trial["number"] for trial in report["trials"]] == [interrupted]
    assert sorted(lab.stored()) == sorted(lab.finished())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_a_runner_leaves_a_lost_trial_and_no_moving_robot(lab, eventually, number):
    runner = lab.start(10)
    eventually(lambda: len(lab.lines("begun.txt")) > len(lab.finished()) >= 1, 60)
    runner.send_signal(number)
    report = json.loads(runner.communicate(timeout=60)[0])

    assert runner.returncode == 130
    assert report["interrupted"]
    with Client(lab.url) as client:
        trials = {trial.number: trial for trial in client.study("arm").trials()}
    last = trials[int(lab.lines("begun.txt")[-1])]
    assert (last.state, last.reason) == ("lost", "stopped by the operator")
    assert sorted(lab.stored()) == sorted(lab.finished())


def test_two_runners_never_evaluate_the_same_point(lab):
    runners = [lab.start(6, "--worker", name, "--journal", f"{name}.journal") for name in ("left", "right")]
    reports = [json.loads(runner.communicate(timeout=120)[0]) for runner in runners]

    numbers = [trial["number"] for report in reports for trial in report["trials"]]
    assert len(numbers) == 12
    assert len(set(numbers)) == 12
    points = [tuple(trial["point"]) for report in reports for trial in report["trials"]]
    assert len(set(points)) == 12
    assert sorted(lab.stored()) == sorted(lab.finished())
