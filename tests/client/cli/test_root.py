"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import geodrome
import pytest
import typer
from geodrome import mounts

ROTATION = '{"type": "rotation"}'


def test_help_names_every_command(command):
    code, out, _ = command("--help")

    assert code == 0
    assert all(
        name in out
        for name in ("serve", "worker", "keys", "db", "replay", "demo", "study", "ask", "tell", "watch", "robot")
    )


def test_the_version_is_that_of_the_package(command):
    assert command("--version") == (0, f"{geodrome.__version__}\n", "")


def test_the_program_is_installed():
    done = subprocess.run(
        [sys.executable, "-m", "geodrome.cli", "study", "--help"], capture_output=True, text=True, check=True
    )

    assert all(name in done.stdout for name in ("create", "list", "show", "best", "model", "export", "import"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fly"], "No such command"),
        (["ask"], "STUDY"),
        (["study", "create", "x"], "--space"),
        (["study", "create", "x", "--space", "rotation"], "neither JSON nor @file.json"),
        (["study", "create", "x", "--space", "@missing.json"], "missing.json"),
        (["study", "create", "x", "--space", ROTATION, "--nu", "rough"], "a number or inf"),
        (["study", "create", "x", "--space", ROTATION, "--goal", "win"], "minimize"),
        (["tell", "x", "first", "1.0"], "'number'"),
        (["tell", "x", "1", "cheap"], "'cost'"),
        (["tell", "x", "1", "--outcome", "broken"], "abandoned"),
        (["tell", "x", "1", "1.0", "--metric", "force"], "name=value"),
        (["tell", "x", "1", "1.0", "--stdd", "2"], "--stdd"),
        (["enqueue", "x", "--fille", "y"], "no such option: --fille"),
        (["study", "predict", "x", "--all"], "no such option: --all"),
        (["add", "x", "--all", "--cost", "1"], "no such option: --all"),
        (["study", "list", "--url", "127.0.0.1:8100"], "http://"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(command, arguments, said):
    code, out, err = command(*arguments)

    assert code == 2
    assert out == ""
    assert said.lower() in err.lower()


def test_a_service_that_is_not_there_exits_with_1_and_no_traceback(command, closed_port):
    code, out, err = command("study", "list", "--url", f"http://127.0.0.1:{closed_port}", "--timeout-s", "1")

    assert code == 1
    assert out == ""
    assert "refused" in err
    assert "Traceback" not in err


def test_a_problem_exits_with_1_and_says_what_the_service_said(live):
    command, name = live

    code, out, err = command("study", "show", name)

    assert code == 1
    assert out == ""
    assert "No such study" in err
    assert name in err


def test_a_study_is_made_shown_and_listed(live, tmp_path):
    command, name = live
    space = tmp_path / "space.json"
    space.write_text('{"type": "spd", "dim": 2, "eigenvalues": [10, 3000], "unit": "N/m"}')
    options = ["--nu", "inf", "--goal", "maximize", "--seed", "4", "--budget", "9", "--lease-s", "60"]

    code, out, _ = command("study", "create", name, "--space", f"@{space}", *options, "--initial-size", "3", "--json")

    made = json.loads(out)
    assert code == 0
    assert (made["kernel"]["nu"], made["objective"]["goal"], made["seed"]) == ("inf", "maximize", 4)
    assert (made["budget"]["trials"], made["lease_s"], made["initial_design"]["size"]) == (9, 60, 3)
    code, out, _ = command("study", "show", name)
    assert code == 0
    assert all(word in out for word in (name, "eigenvalues", "maximize", "nu inf", "9 of 9 left"))
    code, out, _ = command("study", "list", "--prefix", name)
    assert code == 0
    assert out.splitlines()[1].split()[:3] == [name, "spd", "active"]


def test_a_name_that_is_taken_is_refused_unless_it_may_be_loaded(live):
    command, name = live
    create = ["study", "create", name, "--space", ROTATION]
    command(*create)

    refused, _, err = command(*create)
    loaded, out, _ = command(*create, "--if-exists", "load")

    assert refused == 1
    assert "exists" in err
    assert loaded == 0
    assert name in out


def test_a_script_asks_tells_and_reads_the_best(live):
    command, name = live
    command("study", "create", name, "--space", ROTATION)

    _, out, _ = command("ask", name, "--count", "2", "--worker", "me", "--json")
    first, second = json.loads(out)["trials"]
    _, told, _ = command("tell", name, str(first["number"]), "0.44", "--std", "0", "--metric", "t=2", "--json")
    command("tell", name, str(second["number"]), "-0.5")
    _, best, _ = command("study", "best", name, "--json")

    assert first["worker"] == "me"
    assert (json.loads(told)["cost"], json.loads(told)["std"], json.loads(told)["metrics"]) == (0.44, 0.0, {"t": 2.0})
    assert json.loads(best)["observed"]["cost"] == -0.5


def test_a_person_sees_the_point_and_what_is_stored(live):
    command, name = live
    command("study", "create", name, "--space", '{"type": "real", "bounds": [0, 1]}')

    _, nothing, _ = command("study", "best", name)
    _, asked, _ = command("ask", name, "--json")
    _, again, _ = command("ask", name)
    _, told, _ = command("tell", name, "1", "0.25")
    _, failed, _ = command("tell", name, "2", "--outcome", "failed", "--reason", "e-stop [red]")
    _, best, _ = command("study", "best", name)

    point = json.loads(asked)["trials"][0]["point"]
    assert "no cost yet" in nothing
    assert "initial" in again
    assert told == "trial 1 is completed, cost 0.25\n"
    assert failed == "trial 2 is failed, e-stop [red]\n"
    assert "cost 0.25 in trial 1" in best
    assert repr(point) in best


@pytest.mark.parametrize("cost", ["nan", "inf"])
def test_a_cost_that_is_not_finite_exits_with_1_and_a_way_out(live, cost):
    command, name = live
    command("study", "create", name, "--space", ROTATION)
    command("ask", name)

    code, _, err = command("tell", name, "1", cost)

    assert code == 1
    assert "say that it failed" in err


# ---- commands that other parts bring


@pytest.mark.parametrize("name", sorted(mounts.MOUNTS))
def test_a_mounted_command_exists_where_the_table_says(name):
    app = typer.Typer()

    mounts.mount(app, name, mounts.MOUNTS[name])

    assert [info.help for info in app.registered_commands if "Needs" in (info.help or "")] == []
    # What is listed without importing it is what it says of itself.
    app.callback()(lambda: None)
    command = typer.main.get_command(app).commands[name]
    assert mounts.MOUNTS[name].help == command.help.partition("\n\n")[0].replace("\n", " ")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("serve", "geodrome serve needs the service: pip install 'geodrome[service]'"),
        ("demo", "geodrome demo needs the service and the robots: pip install 'geodrome[service,robots]'"),
        ("robot", "geodrome robot needs the robots: pip install 'geodrome[robots]'"),
    ],
)
def test_a_command_whose_extra_is_missing_says_how_to_install_it(name, hint):
    # The client alone: nothing but what the base install brings can be imported.
    program = (
        "import sys\n"
        "for name in ('geodrome_service', 'geodrome_robots'): sys.modules[name] = None\n"
        "from geodrome.cli import main\n"
        f"main([{name!r}, '--port', '1'])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert hint in done.stderr
    assert "Traceback" not in done.stderr


def test_help_works_without_any_extra():
    program = (
        "import sys\n"
        "for name in ('geodrome_service', 'geodrome_robots'): sys.modules[name] = None\n"
        "from geodrome.cli import main\n"
        "main(['--help'])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert "install the extra service" in done.stdout


def test_help_imports_no_other_part():
    program = (
        "import sys\n"
        "from geodrome.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(sorted({'geodrome_service', 'geodrome_robots', 'numpy', 'torch'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "word", "completed"),
    [
        ("geodrome stu", 1, {"study"}),
        ("geodrome study p", 2, {"pause", "predict"}),
        ("geodrome robot ", 2, {"run", "check", "list"}),
        ("geodrome trials x --sor", 3, {"--sort"}),
    ],
)
def test_a_shell_completes_commands_of_every_part(line, word, completed):
    environment = {
        **os.environ, "_GEODROME_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(word),
    }  # fmt: skip
    program = [sys.executable, "-c", "from geodrome.cli import main; main([])"]

    done = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)

    assert set(done.stdout.split()) == completed


def test_completion_is_shown_for_the_shell_that_asks():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m geodrome.cli --show-completion; true"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "_geodrome_completion()" in done.stdout


def test_a_module_that_is_missing_while_the_command_runs_is_named():
    program = (
        "import sys\n"
        "for name in ('fastapi', 'uvicorn'): sys.modules[name] = None\n"
        "from geodrome.cli import main\n"
        "main(['serve', '--port', '0'])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 1
    assert "geodrome serve needs the service" in done.stderr


def test_proxies_of_the_lab_are_not_asked_for_this_machine(live, monkeypatch):
    command, name = live
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    code, _, _ = command("study", "create", name, "--space", ROTATION)

    assert code == 0


def test_a_study_is_written_to_a_file_and_read_under_another_name(live, tmp_path):
    command, name = live
    command("study", "create", name, "--space", ROTATION)
    command("ask", name)
    command("tell", name, "1", "0.5")
    file = tmp_path / "study.json"

    assert command("study", "export", name, "-o", str(file)) == (0, "", "")
    code, out, _ = command("study", "import", str(file), "--name", f"{name}-copy", "--json")

    assert (code, json.loads(out)["name"], json.loads(out)["counts"]["completed"]) == (0, f"{name}-copy", 1)
    assert json.loads(file.read_text())["format"] == "geodrome-study"


def test_without_a_file_an_export_goes_to_the_output(live):
    command, name = live
    command("study", "create", name, "--space", ROTATION)

    done = subprocess.run(
        [sys.executable, "-m", "geodrome.cli", "study", "export", name, "--format", "csv"],
        capture_output=True,
        check=True,
    )

    assert done.stdout.startswith(b"number,state,")


def test_a_file_that_cannot_be_read_or_written_is_wrong_usage(live, tmp_path):
    command, name = live
    command("study", "create", name, "--space", ROTATION)

    assert command("study", "import", str(tmp_path / "missing"))[0] == 2
    assert command("study", "export", name, "-o", str(tmp_path))[0] == 2


def test_the_model_is_shown_to_people_and_to_scripts(live):
    command, name = live
    command("study", "create", name, "--space", ROTATION)
    assert command("study", "model", name)[1] == "no model yet\n"
    for number, cost in enumerate(("0.5", "0.7"), start=1):
        command("ask", name)
        command("tell", name, str(number), cost)

    code, shown, _ = command("study", "model", name)
    printed = json.loads(command("study", "model", name, "--json")[1])["model"]

    assert code == 0
    assert all(word in shown for word in ("lengthscale", "deg", "noise", "left out"))
    assert printed["lengthscales"][0]["unit"] == "deg"
