"""``geodrome robot``, against a live service."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from geodrome import Client
from geodrome_robots.cli import app
from geodrome_robots.registry import ROBOTS
from typer.testing import CliRunner


@pytest.fixture
def cli(monkeypatch) -> CliRunner:
    monkeypatch.delenv("GEODROME_URL", raising=False)
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


def test_an_unknown_robot_is_wrong_usage(cli):
    result = cli.invoke(app, ["run", "lathe"])

    assert result.exit_code == 2
    assert "no robot is called 'lathe'" in result.stderr


def test_unknown_weights_are_wrong_usage(cli):
    result = cli.invoke(app, ["run", "orientation", "--weights", "heavy"])

    assert result.exit_code == 2
    assert "heavy" in result.stderr
