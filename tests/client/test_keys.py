"""A server with keys, from the command that makes them to the programs that use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import geodrome
import pytest

EXAMPLES = Path(__file__).parents[2] / "client" / "examples"
GEODROME = [sys.executable, "-m", "geodrome.cli"]


class Guarded(NamedTuple):
    """A server that wants keys, and one for each role."""

    url: str
    database: str
    keys: dict[str, str]


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def guarded(start_server: Callable[..., object], tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    database = str(tmp_path_factory.mktemp("guarded") / "geodrome.db")
    keys = {}
    for role in ("viewer", "robot", "admin"):
        made = run([*GEODROME, "keys", "create", "--role", role], GEODROME_DATABASE_URL=database)
        assert made.returncode == 0, made.stderr
        keys[role] = made.stdout.strip()
    server = start_server(Path(database))
    with geodrome.Client(server.url, key=keys["admin"]) as client:
        client.create_study("elbow", space=geodrome.Real(bounds=(0, 1)))
    return Guarded(server.url, database, keys)


def test_without_a_key_everything_is_refused(guarded):
    with geodrome.Client(guarded.url) as client, pytest.raises(geodrome.Unauthorized, match="needs a key"):
        client.study("elbow")


def test_a_robot_asks_and_tells_and_makes_no_study(guarded):
    with geodrome.Client(guarded.url, key=guarded.keys["robot"]) as client:
        trial = client.study("elbow").ask()
        told = trial.tell(cost=trial.point**2)
        with pytest.raises(geodrome.Forbidden, match="to make one needs the role admin"):
            client.create_study("mine", space=geodrome.Real(bounds=(0, 1)))

    assert told.cost == trial.point**2


def test_a_viewer_only_looks(guarded):
    with geodrome.Client(guarded.url, key=guarded.keys["viewer"]) as client:
        study = client.study("elbow")
        list(study.trials())
        with pytest.raises(geodrome.Forbidden, match="needs the role robot"):
            study.ask()


def test_a_revoked_key_ends_on_a_server_that_runs(guarded, eventually):
    made = run([*GEODROME, "keys", "create", "--role", "viewer", "--json"], GEODROME_DATABASE_URL=guarded.database)
    record = json.loads(made.stdout)
    with geodrome.Client(guarded.url, key=record["key"]) as client:
        client.study("elbow")
        run([*GEODROME, "keys", "revoke", str(record["id"]), "--database", guarded.database])

        def is_refused() -> bool:
            try:
                client.study("elbow")
            except geodrome.Unauthorized:
                return True
            return False

        eventually(is_refused)


def test_the_command_line_takes_its_key_from_the_environment(guarded):
    command = [*GEODROME, "study", "show", "elbow", "--url", guarded.url]

    refused = run(command, GEODROME_KEY="")
    shown = run(command, GEODROME_KEY=guarded.keys["viewer"])

    assert refused.returncode == 1
    assert "needs a key" in refused.stderr
    assert shown.returncode == 0
    assert "elbow" in shown.stdout


@pytest.mark.parametrize("program", [["sh", "ask_tell.sh"], [sys.executable, "ask_tell.py"]])
def test_examples_take_their_key_from_the_environment(guarded, program):
    interpreter, name = program
    command = [interpreter, str(EXAMPLES / name)]

    done = run(command, GEODROME_URL=guarded.url, GEODROME_KEY=guarded.keys["admin"])

    assert done.returncode == 0, done.stderr + done.stdout
