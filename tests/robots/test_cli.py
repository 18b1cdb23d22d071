"""``geodrome robot``, against a live service."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest
from geodrome import Client
from geodrome_robots.cli import app
from geodrome_robots.journal import Journal, Result
from geodrome_robots.opening import open_study
from geodrome_robots.registry import ROBOTS
from typer.testing import CliRunner

BROKEN = """
from geodrome_robots import Measurement, Robot

class Nameless(Robot):
    name = "not a name"
    space = {"type": "real", "bounds": [0.0, 1.0]}

    def describe(self):
        return {"name": "not a name"}

    def evaluate(self, point, *, seed, stop):
        return Measurement(float("nan"))
"""


@pytest.fixture
def cli(monkeypatch, tmp_path) -> CliRunner:
    monkeypatch.delenv("GEODROME_URL", raising=False)
    monkeypatch.chdir(tmp_path)  # journals are written here
    return CliRunner()


def test_list_names_each_robot_with_its_space(cli):
    result = cli.invoke(app, ["list"])

    assert result.exit_code == 0
    assert "orientation" in result.stdout
    assert "rotation" in result.stdout


def test_list_as_json_holds_everything_the_robots_say(cli):
    result = cli.invoke(app, ["list", "--json"])

    listed = json.loads(result.stdout)
    assert [robot["name"] for robot in listed] == list(ROBOTS)
    assert listed[0]["class"] == "geodrome_robots.tasks.orientation:Orientation"
    assert listed[0]["space"]["order"] == "wxyz"
    assert listed[0]["description"]["deterministic"] is True


def test_run_makes_the_study_and_tells_its_best(cli, server):
    study = f"orientation-{uuid4().hex}"
    arguments = ["run", "orientation", "--url", server, "--study", study, "--trials", "3", "--worker", "panda-1"]

    result = cli.invoke(app, [*arguments, "--seed", "7"])

    assert result.exit_code == 0, result.output
    with Client(server) as client:
        record = client.study(study).record
    assert record.seed == 7
    assert record.counts.completed + record.counts.failed == 3
    assert f"best cost {record.best.cost:.6g} at {json.dumps(record.best.point)}" in result.stdout


def test_run_goes_on_with_a_study_and_reports_as_json(cli, server):
    study = f"orientation-{uuid4().hex}"
    arguments = ["run", "orientation", "--url", server, "--study", study, "--weights", "printed"]
    cli.invoke(app, [*arguments, "--trials", "1"])

    result = cli.invoke(app, [*arguments, "--trials", "2", "--json"])

    report = json.loads(result.stdout)
    assert [trial["number"] for trial in report["trials"]] == [2, 3]
    assert report["best"]["measurement"]["cost"] == min(t["measurement"]["cost"] for t in report["trials"])


def test_run_refuses_other_weights_on_the_same_study(cli, server):
    study = f"orientation-{uuid4().hex}"
    arguments = ["run", "orientation", "--url", server, "--study", study, "--trials", "1", "--weights"]
    cli.invoke(app, [*arguments, "printed"])

    result = cli.invoke(app, [*arguments, "balanced"])

    assert result.exit_code == 1
    assert "exists" in result.stderr


def test_check_says_that_a_robot_keeps_the_rules(cli):
    result = cli.invoke(app, ["check", "orientation"])

    assert result.exit_code == 0, result.output
    assert result.stdout == "orientation keeps every rule of a robot\n"


def test_check_tells_every_rule_that_a_robot_breaks(cli, tmp_path, monkeypatch):
    (tmp_path / "broken_robots.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    result = cli.invoke(app, ["check", "broken_robots:Nameless"])

    assert result.exit_code == 1
    assert "name is 'not a name'" in result.stderr
    assert "describe() has no 'version'" in result.stderr
    assert "the cost is nan" in result.stderr


def test_run_measures_the_first_point_of_a_new_study_again(cli, server):
    study = f"orientation-{uuid4().hex}"
    arguments = ["run", "orientation", "--url", server, "--study", study, "--trials", "2"]

    first = cli.invoke(app, arguments)
    second = cli.invoke(app, arguments)

    assert "the same to the last digit" in first.stdout
    assert "measured again" not in second.stdout


def test_run_sends_what_the_journal_holds_only_when_it_is_to_resume(cli, server, orientation):
    study = f"orientation-{uuid4().hex}"
    with Client(server) as client, Journal(Path(f"{study}.journal"), worker="panda-1") as journal:
        opened = open_study(client, orientation, name=study)
        journal.write(Result(opened.record.id, opened.ask(worker="panda-1").number, {"cost": 0.125}))
    arguments = ["run", "orientation", "--url", server, "--study", study, "--trials", "1"]

    refused = cli.invoke(app, arguments)
    resumed = cli.invoke(app, [*arguments, "--resume", "--json"])

    assert refused.exit_code == 1
    assert "holds results that were not told, of the trials 1: --resume tells them" in refused.stderr
    assert [trial["number"] for trial in json.loads(resumed.stdout)["trials"]] == [2]
    with Client(server) as client:
        trials = list(client.study(study).trials())
    assert [(trial.state, trial.worker) for trial in trials] == [("completed", "panda-1")] * 2
    assert trials[0].cost == 0.125


def test_run_makes_the_study_with_the_kernel_that_is_named(cli, server):
    study = f"orientation-{uuid4().hex}"
    arguments = ["run", "orientation", "--url", server, "--study", study, "--trials", "1"]

    made = cli.invoke(app, [*arguments, "--kernel", "euclidean_matern"])
    other = cli.invoke(app, arguments)

    assert made.exit_code == 0, made.stderr
    assert other.exit_code == 1
    assert study in other.stderr
    with Client(server) as client:
        assert client.study(study).record.kernel.type == "euclidean_matern"


def test_an_unknown_robot_is_wrong_usage(cli):
    result = cli.invoke(app, ["run", "lathe"])

    assert result.exit_code == 2
    assert "no robot is called 'lathe'" in result.stderr


def test_unknown_weights_are_wrong_usage(cli):
    result = cli.invoke(app, ["run", "orientation", "--weights", "heavy"])

    assert result.exit_code == 2
    assert "heavy" in result.stderr
