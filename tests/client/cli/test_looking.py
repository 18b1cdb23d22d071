"""Commands that look at a study, and at the service."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import httpx
import pytest
from geodrome.errors import PROBLEMS


@pytest.fixture
def told(live):
    """The command line, and the name of a study with the costs 3, 1 and 2, and a point that failed."""
    command, name = live
    command("study", "create", name, "--space", "{type: real, bounds: [0, 1]}")
    for number, cost in enumerate(("3", "1", "2"), start=1):
        command("ask", name, "--worker", "panda-1")
        command("tell", name, str(number), cost)
    command("add", name, "0.5", "--outcome", "failed", "--reason", "e-stop")
    return command, name


def numbers(out):
    return [json.loads(line)["number"] for line in out.splitlines()]


def test_trials_are_filtered_sorted_and_paged(told):
    command, name = told

    def listed(*options):
        return numbers(command("trials", name, *options, "--json")[1])

    assert listed() == [1, 2, 3, 4]
    assert listed("--state", "completed", "--worker", "panda-1") == [1, 2, 3]
    assert listed("--limit", "2") == [1, 2]
    assert listed("--after", "2", "--limit", "1") == [3]
    assert listed("--sort", "cost") == [2, 3, 1, 4]
    assert listed("--sort", "cost", "--descending", "--limit", "2") == [1, 3]
    assert listed("--sort", "told", "--descending") == [4, 3, 2, 1]
    assert listed("--descending") == [4, 3, 2, 1]


def test_trials_are_a_table_for_people_and_for_spreadsheets(told):
    command, name = told

    _, table, _ = command("trials", name)
    _, csv, _ = command("trials", name, "--csv", "--state", "failed")

    assert [line.split()[:3] for line in table.splitlines()[1:4]] == [
        ["1", "completed", "3"],
        ["2", "completed", "1"],
        ["3", "completed", "2"],
    ]
    assert "e-stop" in table
    assert csv.splitlines()[0].startswith("number,state,attempt,retry_of,worker,asked_at,told_at,origin,point,cost")
    assert csv.splitlines()[1].startswith("4,failed,")
    assert command("trials", name, "--csv", "--json")[0] == 2
    assert command("trials", name, "--state", "happy")[0] == 2
    assert command("trials", f"{name}-x")[0] == 1


def test_one_trial_is_shown_whole(told):
    command, name = told

    _, shown, _ = command("trial", name, "2")

    assert all(word in shown for word in ("completed", "panda-1", '"kind": "initial"'))
    assert json.loads(command("trial", name, "2", "--json")[1])["cost"] == 1
    assert command("trial", name, "9")[0] == 1


def test_costs_are_predicted(told, tmp_path):
    command, name = told
    file = tmp_path / "points.yaml"
    file.write_text("- 0.5\n- 1e-3\n")

    _, table, _ = command("study", "predict", name, "0.25")
    printed = json.loads(command("study", "predict", name, "-f", str(file), "--json")[1])["predictions"]

    assert table.splitlines()[1].split()[-1] == "0.25"
    assert "%" in table
    assert [set(one) for one in printed] == [{"mean", "std", "feasible"}] * 2
    assert command("study", "predict", name, "nowhere")[0] == 1
    assert command("study", "predict", name)[0] == 2


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_the_model_is_seen_along_geodesics(live, goal):
    command, name = live
    command("study", "create", name, "--space", "{type: sphere, dim: 2}", "--goal", goal)
    for point, cost in (("[1, 0, 0]", "1"), ("[0, 1, 0]", "2"), ("[0, 0, 1]", "4")):
        command("add", name, point, "--cost", cost)

    _, table, _ = command("study", "views", name)
    seen = json.loads(command("study", "views", name, "--json")[1])

    assert len(table.splitlines()) == 1 + len(seen["slices"]) == 3
    best = min if goal == "minimize" else max
    for line, one in zip(table.splitlines()[1:], seen["slices"], strict=True):
        axis, low, high, mean, *_ = line.split()
        assert (int(axis), float(low), float(high)) == (
            one["axis"],
            *(pytest.approx(one["distances"][end], rel=1e-3) for end in (0, -1)),
        )
        assert float(mean) == pytest.approx(best(one["mean"]), rel=1e-5)
    assert command("study", "views", name, "--form", "unit=turns")[0] == 2


def test_without_a_model_nothing_is_predicted(live):
    command, name = live
    command("study", "create", name, "--space", "{type: real, bounds: [0, 1]}")
    assert command("study", "views", name) == (0, "no model yet\n", "")

    assert command("study", "predict", name, "0.5") == (0, "no model yet\n", "")
    assert command("study", "predict", name, "0.5", "--json") == (0, '{"predictions":null}\n', "")


def test_events_are_listed_in_order(told):
    command, name = told

    _, lines, _ = command("study", "events", name)
    _, printed, _ = command("study", "events", name, "--json", "--after", "1", "--limit", "3")

    assert lines.splitlines()[0].endswith("study  created")
    assert any(line.endswith("trial 1  completed  cost 3.0") for line in lines.splitlines())
    assert any(line.endswith("trial 4  failed  reason e-stop") for line in lines.splitlines())
    assert [json.loads(line)["position"] for line in printed.splitlines()] == [2, 3, 4]
    assert command("study", "events", f"{name}-x")[0] == 1


def test_events_are_followed_until_ctrl_c(told):
    command, name = told
    program = [sys.executable, "-m", "geodrome.cli", "study", "events", name, "--follow", "--json"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        kinds = [json.loads(follower.stdout.readline())["kind"]]
        command("study", "close", name)
        while kinds[-1] != "closed":
            kinds.append(json.loads(follower.stdout.readline())["kind"])
        follower.send_signal(signal.SIGINT)
        _, complaints = follower.communicate(timeout=20)

    assert kinds[0] == "created"
    assert (follower.returncode, complaints) == (0, "")


def test_spaces_are_listed_with_their_fields(live):
    command, _ = live

    _, table, _ = command("spaces")
    _, fields, _ = command("spaces", "spd")
    product = json.loads(command("spaces", "product", "--json")[1])

    assert all(name in table for name in ("real", "rotation", "product"))
    assert all(name in fields for name in ("eigenvalues", "log_euclidean"))
    assert product["$defs"]
    assert set(json.loads(command("spaces", "--json")[1])["types"]) >= {"real", "product"}
    assert command("spaces", "flat")[0] == 2


def test_problems_are_explained_as_the_service_explains_them(command, server):
    _, table, _ = command("problems")
    _, page, _ = command("problems", "study-paused")
    printed = json.loads(command("problems", "--json")[1])["problems"]

    assert all(code in table for code in PROBLEMS)
    assert "tells are still accepted" in " ".join(page.split())
    assert printed == [httpx.get(f"{server}/problems/{code}").json() for code in PROBLEMS]
    assert json.loads(command("problems", "internal", "--json")[1])["status"] == 500
    assert command("problems", "no-such")[0] == 2


def test_the_service_says_how_it_is(live, closed_port):
    command, _ = live

    code, table, _ = command("health")
    printed = json.loads(command("health", "--json")[1])

    assert code == 0
    assert "a worker is there" in table
    assert (printed["database"], printed["compute"]) == (True, True)
    assert command("health", "--url", f"http://127.0.0.1:{closed_port}")[0] == 1
