"""Commands of whoever runs trials, and of whoever adds points of his own."""

from __future__ import annotations

import io
import json

import pytest


@pytest.fixture
def made(live):
    """The command line, and the name of a study of numbers from −1 to 1."""
    command, name = live
    command("study", "create", name, "--space", "{type: real, bounds: [-1, 1]}")
    return command, name


@pytest.fixture
def turning(live):
    """The command line, and the name of a study of rotations and numbers."""
    command, name = live
    space = "{type: product, factors: {turn: {type: rotation}, gain: {type: real, bounds: [0, 9]}}}"
    command("study", "create", name, "--space", space)
    return command, name


def asked(command, name, *options):
    return json.loads(command("ask", name, *options, "--json")[1])["trials"]


def test_a_worker_gets_its_trial_back_unless_it_wants_a_new_one(made):
    command, name = made
    first = asked(command, name, "--worker", "me", "--lease-s", "60")
    again = asked(command, name, "--worker", "me")
    new = asked(command, name, "--worker", "me", "--new")

    assert [one[0]["number"] for one in (first, again, new)] == [1, 1, 2]
    assert command("ask", name, "--count", "99")[0] == 1


def test_points_are_asked_in_another_form_and_told_in_it(turning):
    command, name = turning

    [trial] = asked(command, name, "--form", "order=xyzw")
    x, y, z, w = trial["point"]["turn"]
    point = json.dumps({"turn": [x, y, z, w], "gain": 2})
    _, told, _ = command("tell", name, "1", "0.5", "--point", point, "--form", "order=xyzw", "--json")
    plain = json.loads(command("trial", name, "1", "--json")[1])

    assert json.loads(told)["point"] == {"turn": pytest.approx([x, y, z, w]), "gain": 2}
    assert plain["point"]["turn"] == pytest.approx([w, x, y, z])
    assert command("ask", name, "--form", "order")[0] == 2
    assert "order" in command("ask", name, "--form", "order=zyx")[2]
    assert command("study", "best", name, "--form", "colour=red")[0] == 2


def test_everything_that_can_be_told_is_kept(made):
    command, name = made
    asked(command, name)

    told = json.loads(
        command(
            "tell", name, "1", "-0.25", "0.75", "--point", "-0.5", "--metric", "t=2", "--metric", "f=1e-3",
            "--metadata", "{note: [slow]}", "--json",
        )[1]
    )  # fmt: skip

    assert (told["cost"], told["values"], told["point"]) == (0.25, [-0.25, 0.75], -0.5)
    assert (told["metrics"], told["metadata"]) == ({"t": 2, "f": 0.001}, {"note": ["slow"]})
    assert command("tell", name, "1", "3")[0] == 1
    assert command("tell", name, "1", "1", "--point", "[1")[0] == 2


@pytest.mark.parametrize(("ending", "state"), [("fail", "failed"), ("lose", "lost"), ("abandon", "abandoned")])
def test_the_ends_without_a_cost_have_commands_of_their_own(made, ending, state):
    command, name = made
    asked(command, name, "--count", "2")

    _, shown, _ = command(ending, name, "1", "--reason", "it [broke]", "--metric", "t=1")
    record = json.loads(command(ending, name, "2", "--reason", "it broke", "--json")[1])

    assert shown == f"trial 1 is {state}, it [broke]\n"
    assert (record["state"], record["reason"]) == (state, "it broke")
    assert command(ending, name, "9", "--reason", "none such")[0] == 1
    assert command(ending, name, "1")[0] == 2


def test_a_heartbeat_keeps_a_running_trial(made):
    command, name = made
    asked(command, name)

    longer = json.loads(command("heartbeat", name, "1", "--lease-s", "9000", "--json")[1])
    _, shown, _ = command("heartbeat", name, "1")
    command("tell", name, "1", "0")

    assert longer["lease_expires_at"] > longer["asked_at"]
    assert "lease ends" in shown
    assert command("heartbeat", name, "1")[0] == 1


def test_an_observation_of_ones_own_is_added(made):
    command, name = made

    added = json.loads(
        command("add", name, "-0.5", "--cost", "1", "--cost", "3", "--std", "0.1", "--metric", "t=1", "--json")[1]
    )["trials"]
    _, failed, _ = command("add", name, "0.5", "--outcome", "failed", "--reason", "e-stop")
    again = json.loads(command("add", name, "-0.5", "--cost", "9", "--skip-if-exists", "--json")[1])["trials"]

    assert (added[0]["point"], added[0]["cost"], added[0]["std"], added[0]["metrics"]) == (-0.5, 2, 0.1, {"t": 1})
    assert ("failed" in failed, "e-stop" in failed) == (True, True)
    assert [trial["number"] for trial in again] == [1]
    assert "enqueue" in command("add", name, "0.5")[2]
    assert command("add", name)[0] == 2
    assert command("add", name, "sideways", "--cost", "1")[0] == 1


def test_a_file_of_observations_is_added_all_or_none(made, tmp_path):
    command, name = made
    file = tmp_path / "own.yaml"
    file.write_text("- {point: 0.5, cost: 1e-3}\n- {point: -0.5, outcome: failed, reason: stuck}\n- {point: 0.1}\n")
    bad = tmp_path / "bad.yaml"
    bad.write_text("- {point: 0.5, cost: 1}\n- {point: [1, 2], cost: 1}\n")

    added = json.loads(command("add", name, "-f", str(file), "--json")[1])["trials"]
    code, _, err = command("add", name, "-f", str(bad))

    assert [trial["state"] for trial in added] == ["completed", "failed", "queued"]
    assert added[0]["cost"] == 0.001
    assert (code, "/trials/1/point" in err) == (1, True)
    assert len(command("trials", name, "--json")[1].splitlines()) == 3
    assert command("add", name, "-f", str(file), "--cost", "1")[0] == 2


def test_what_is_no_list_of_observations_is_wrong_usage(command, tmp_path):
    file = tmp_path / "own.yaml"
    for text in ("point: 1", "[1, 2]", "[]", json.dumps([{"point": 0}] * 1001)):
        file.write_text(text)
        assert command("add", "x", "-f", str(file))[0] == 2


def test_points_are_queued_and_asked_in_their_order(made, tmp_path):
    command, name = made
    file = tmp_path / "points.json"
    file.write_text("[0.25, 1e-3]")

    _, shown, _ = command("enqueue", name, "-0.75", "0.5")
    queued = json.loads(command("enqueue", name, "-f", str(file), "--json")[1])["trials"]

    assert shown.count("queued") == 2
    assert [trial["point"] for trial in queued] == [0.25, 0.001]
    assert [trial["point"] for trial in asked(command, name, "--count", "4")] == [-0.75, 0.5, 0.25, 0.001]
    assert command("enqueue", name, "7")[0] == 1
    assert command("enqueue", name)[0] == 2
    assert command("enqueue", name, "0.1", "-f", str(file))[0] == 2


def test_a_table_of_trials_goes_into_another_study(turning, tmp_path):
    command, name = turning
    for number, cost in enumerate(("0.5", "-0.25"), start=1):
        asked(command, name)
        command("tell", name, str(number), cost, "--metric", f"t={number}")
    asked(command, name)
    command("fail", name, "3", "--reason", "=danger")
    file = tmp_path / "trials.csv"
    file.write_text(command("trials", name, "--csv")[1])
    exported = tmp_path / "export.csv"
    command("study", "export", name, "--format", "csv", "-o", str(exported))
    space = json.loads(command("study", "show", name, "--json")[1])["space"]
    command("study", "create", f"{name}-b", "--space", json.dumps(space))

    added = json.loads(command("add", f"{name}-b", "-f", str(file), "--json")[1])["trials"]

    before = [json.loads(line) for line in command("trials", name, "--json")[1].splitlines()]
    assert file.read_text().splitlines() == exported.read_text().splitlines()
    for one, other in zip(before, added, strict=True):
        assert {key: one[key] for key in ("state", "cost", "metrics", "reason")} == {
            key: other[key] for key in ("state", "cost", "metrics", "reason")
        }
        assert one["point"]["turn"] == pytest.approx(other["point"]["turn"])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("point,cost\n1,2,3\n", "line 2 has more or fewer cells"),
        ("point,prize\n1,2\n", "column 'prize' has no meaning"),
        ("point,cost\n1,cheap\n", "line 2, cost: 'cheap' is no number"),
        ("cost\n1\n", "line 2 has no point"),
        ("point[0],point[2],cost\n1,2,3\n", "the list has parts 0, 2, not 0 to 1"),
        ("point,state\n1,running\n", "of a trial that is running nothing is known"),
        ("point[a],cost\n1,2\n", "is no place in a point"),
        ("point,point.k,cost\n1,2,3\n", "is within a number"),
    ],
)
def test_a_table_that_says_something_else_is_refused_with_its_line(wide, tmp_path, table, said):
    file = tmp_path / "own.csv"
    file.write_text(table)

    code, out, err = wide("add", "x", "-f", str(file))

    assert (code, out) == (2, "")
    assert said in err


def test_points_come_from_the_input_too(made, monkeypatch):
    command, name = made
    monkeypatch.setattr("sys.stdin", io.StringIO("[0.5]"))

    code, out, _ = command("enqueue", name, "-f", "-")

    assert (code, "queued" in out) == (0, True)
