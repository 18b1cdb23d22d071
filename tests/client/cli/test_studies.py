"""Commands that make, change, list and delete studies."""

from __future__ import annotations

import io
import json

import pytest

YAML = """\
name: {name}
space:
  type: product
  factors:
    k: {{type: spd, dim: 2, eigenvalues: [10, 1000], unit: N/m}}
    d: {{type: real, bounds: [1e-3, 100], scale: log}}
constraints:
  - {{coefficients: {{d: 1}}, upper: 50}}
kernel: {{nu: 1.5}}
budget: {{trials: 6}}
metadata: {{operator: Ada, from: "12:30"}}
"""


@pytest.fixture
def file(live, tmp_path):
    """A study in YAML, named like that of ``live``."""
    path = tmp_path / "study.yaml"
    path.write_text(YAML.format(name=live[1]))
    return path


@pytest.fixture
def made(live):
    """The command line, and the name of a study of numbers from 0 to 1."""
    command, name = live
    command("study", "create", name, "--space", "{type: real, bounds: [0, 1]}", "--budget", "5")
    return command, name


def test_a_whole_study_is_made_of_yaml_with_some_fields_set(live, file):
    command, name = live

    code, out, _ = command(
        "study", "create", "-f", str(file), "--set", "space.k.eigenvalues=[10,3000]",
        "--set", "constraints.0.upper=1e1", "--set", "objective.goal=maximize", "--json",
    )  # fmt: skip

    made = json.loads(out)
    assert (code, made["name"]) == (0, name)
    assert made["space"]["factors"]["k"]["eigenvalues"] == [10, 3000]
    assert made["space"]["factors"]["d"]["bounds"] == [0.001, 100]
    assert (made["constraints"][0]["upper"], made["objective"]["goal"]) == (10, "maximize")
    assert made["metadata"] == {"operator": "Ada", "from": "12:30"}


def test_options_replace_fields_of_the_file_and_set_replaces_both(live, file):
    command, name = live
    other = ["-f", str(file), "--nu", "0.5", "--budget", "7", "--seed", "1", "--set", "seed=2", "--json"]

    made = json.loads(command("study", "create", f"{name}-b", *other)[1])

    assert (made["name"], made["kernel"]["nu"], made["budget"]["trials"], made["seed"]) == (f"{name}-b", 0.5, 7, 2)


def test_json_and_the_input_are_read_too(live, file, monkeypatch):
    command, name = live
    whole = {"name": name, "space": {"type": "rotation"}, "seed": 4}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(whole, indent="\t")))

    code, out, _ = command("study", "create", "-f", "-", "--json")

    assert (code, json.loads(out)["seed"]) == (0, 4)
    assert command("study", "create", "-f", "-", "--set", f"name={name}-c", "--set", f"space=@{file}")[0] == 2


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("name: a\nname: b", [], "the key 'name' is there twice"),
        ("[1, 2]", [], "holds no study"),
        ("space: {type: rotation}", [], "a study needs a name"),
        ("name: a", [], "a study needs a space"),
        ("name: a\nspace: {type: rotation}\nbugdet: 1", [], "no field of a study: bugdet"),
        ("name: a\nspace: {type: rotation}", ["--set", "seed"], "path=value, got 'seed'"),
        ("name: a\nspace: {type: rotation}", ["--set", "name.x=1"], "which has no 'x'"),
        ("name: a\nspace: {type: rotation}", ["--set", "seed=[1"], "--set seed"),
    ],
)
def test_a_file_that_is_no_study_is_wrong_usage(wide, tmp_path, text, options, said):
    path = tmp_path / "s.yaml"
    path.write_text(text)

    code, out, err = wide("study", "create", "-f", str(path), *options)

    assert (code, out) == (2, "")
    assert said in err


def test_what_the_service_refuses_in_a_file_exits_with_1(live, file):
    command, _ = live

    code, out, err = command("study", "create", "-f", str(file), "--set", "space.k.eigenvalues=[3000,10]")

    assert (code, out) == (1, "")
    assert "/space/factors/k" in err


def test_studies_are_listed_by_state_and_so_many(made):
    command, name = made
    command("study", "create", f"{name}-b", "--space", "{type: rotation}")
    command("study", "pause", name)

    paused = json.loads(command("study", "list", "--prefix", name, "--state", "paused", "--json")[1])
    newest = json.loads(command("study", "list", "--prefix", name, "--limit", "1", "--json")[1])

    assert [study["name"] for study in paused["studies"]] == [name]
    assert [study["name"] for study in newest["studies"]] == [f"{name}-b"]
    assert command("study", "list", "--state", "asleep")[0] == 2


def test_a_study_is_paused_resumed_and_closed(made):
    command, name = made

    _, paused, _ = command("study", "pause", name)
    refused, _, why = command("ask", name)
    _, resumed, _ = command("study", "resume", name, "--json")
    _, closed, _ = command("study", "close", name, "--json")
    again, _, err = command("study", "resume", name)

    assert "paused" in paused
    assert (refused, "paused" in why) == (1, True)
    assert (json.loads(resumed)["state"], json.loads(closed)["state"]) == ("active", "closed")
    assert (again, "closed for good" in err) == (1, True)


def test_budget_lease_and_metadata_are_changed(made):
    command, name = made

    _, out, _ = command(
        "study",
        "update",
        name,
        "--budget",
        "9",
        "--lease-s",
        "30",
        "--metadata",
        "{a: [1]}",
        "--state",
        "paused",
        "--json",
    )
    _, shown, _ = command("study", "update", name, "--budget", "none")

    changed = json.loads(out)
    assert (changed["budget"]["trials"], changed["lease_s"], changed["metadata"]) == (9, 30, {"a": [1]})
    assert changed["state"] == "paused"
    assert "unlimited" in shown
    assert command("study", "update", name)[0] == 2
    assert command("study", "update", name, "--budget", "many")[0] == 2
    assert command("study", "update", name, "--metadata", "[1]")[0] == 2
    assert command("study", "update", name, "--lease-s", "-1")[0] == 1


def test_a_study_is_deleted_only_after_a_yes(made, monkeypatch):
    command, name = made
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    declined, out, err = command("study", "delete", name)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    silent, _, _ = command("study", "delete", name)

    assert (declined, silent, out) == (1, 1, "")
    assert f"Delete study {name} with its 0 trials" in err
    assert command("study", "delete", name, "--yes") == (0, f"study {name} is deleted\n", "")
    assert command("study", "delete", name, "--yes")[0] == 1
