"""Every example is a program that runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import geodrome
import pytest

EXAMPLES = Path(__file__).parents[2] / "client" / "examples"
PROGRAMS = {".py": [sys.executable], ".sh": ["sh"]}
RUN_HERE = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in PROGRAMS)
LAST_LINES = {
    "ask_tell.py": "best overshoot: ",
    "ask_tell.sh": "trial 1 is told, cost 0.44",
    "run_loop.py": "best cost: ",
}


def run(name: str, url: str) -> str:
    path = EXAMPLES / name
    environment = {**os.environ, "GEODROME_URL": url}
    done = subprocess.run(
        [*PROGRAMS[path.suffix], str(path)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_for_python_and_the_shell_is_run():
    assert sorted(LAST_LINES) == RUN_HERE


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_example_runs_and_says_what_it_found(server, name):
    printed = run(name, server)

    assert printed.splitlines()[-1].startswith(LAST_LINES[name])


@pytest.mark.parametrize("name", ["ask_tell.cpp", "ask_tell.m"])
def test_an_example_that_is_not_run_everywhere_speaks_of_the_calls_that_the_others_make(name):
    text = (EXAMPLES / name).read_text()

    assert all(
        word in text
        for word in ("/v1/studies", "/ask", "/tell", "Idempotency-Key", "GEODROME_URL", "202", "GEODROME_KEY")
    )


def test_the_example_in_cpp_runs_where_it_can_be_compiled(server, tmp_path):
    """``CPATH`` and ``LIBRARY_PATH`` may say where headers and libraries are."""
    compiler = shutil.which("g++")
    headers = "#include <curl/curl.h>\n"
    syntax = [compiler or "", "-x", "c++", "-fsyntax-only", "-"]
    if (
        compiler is None
        or subprocess.run(syntax, input=headers, text=True, capture_output=True, check=False).returncode
    ):
        pytest.skip("needs g++ and libcurl")
    program = tmp_path / "ask_tell"
    source = EXAMPLES / "ask_tell.cpp"
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", source, "-lcurl", "-o", program], check=True)

    done = subprocess.run(
        [program], env={**os.environ, "GEODROME_URL": server}, capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"trial 1 is completed, cost \d\S*\n", done.stdout)


def test_the_loop_leaves_its_trials_in_the_study(server):
    run("run_loop.py", server)

    with geodrome.Client(server) as client:
        states = {trial.state.value for trial in client.study("reach").trials()}

    assert states <= {"completed", "failed"}
    assert "completed" in states
