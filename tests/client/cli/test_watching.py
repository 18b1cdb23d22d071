"""``geodrome watch``: in a terminal, in a pipe, and what its board makes of events."""

from __future__ import annotations

import io
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from geodrome import schemas
from geodrome.cli.board import Board
from rich.console import Console

START = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def board(study_body):
    """A board of a study with a budget of 10, of which 4 are spent."""
    body = study_body(budget={"trials": 10}, budget_left=6)
    return Board(schemas.Study.model_validate(body))


def happened(position, kind, number=1, **details):
    at = START + timedelta(minutes=position)
    return schemas.Event(position=position, at=at, kind=kind, number=number, details=details)


def drawn(board):
    console = Console(file=io.StringIO(), width=120)
    console.print(board.shown())
    return console.file.getvalue()


def test_the_board_knows_who_runs_what_and_at_which_pace(board):
    for trial in range(1, 4):
        board.note(happened(2 * trial, "running", trial, worker="panda-1"))
        board.note(happened(2 * trial + 1, "completed", trial, told={"cost": float(trial)}))
    board.note(happened(9, "running", 4, worker=None))

    assert board.pace_s == 120
    assert board.left_s == 720
    assert (board.robots["panda-1"].results, board.robots["panda-1"].running) == (3, set())
    assert board.robots["(no name)"].running == {4}
    shown = drawn(board)
    assert all(said in shown for said in ("4 of 10 spent", "a result in 0:02:00", "0:12:00 at this pace", "trial 4"))
    assert "mean cost 2 of 3" in shown


def test_a_trial_that_is_lost_runs_no_more_and_is_no_result(board):
    board.note(happened(1, "running", worker="ur5"))
    board.note(happened(2, "lost", reason="e-stop \x1b[2J"))

    assert board.robots["ur5"].running == set()
    assert (board.robots["ur5"].results, board.pace_s, board.left_s) == (0, None, None)
    assert "\x1b[2J" not in drawn(board)


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({}, False),
        ({"state": "paused"}, False),
        ({"state": "closed"}, True),
        ({"budget": {"trials": 3}, "budget_left": 0}, True),
        ({"budget": {"trials": 3}, "budget_left": 1}, False),
    ],
)
def test_a_study_has_ended_when_it_is_closed_or_its_budget_spent(study_body, fields, ended):
    assert Board(schemas.Study.model_validate(study_body(**fields))).has_ended is ended


@pytest.fixture
def made(live):
    command, name = live
    command("study", "create", name, "--space", "{type: real, bounds: [0, 1]}", "--budget", "2")
    command("ask", name, "--worker", "panda-1", "--count", "2")
    command("tell", name, "1", "0.5")
    return command, name


def watcher(name, *options, **streams):
    program = [sys.executable, "-m", "geodrome.cli", "watch", name, *options]
    return subprocess.Popen(program, stderr=subprocess.PIPE, **streams)


def test_in_a_pipe_each_event_is_a_line_until_the_budget_is_spent(made):
    command, name = made
    with watcher(name, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        command("tell", name, "2", "0.25")
        rest, complaints = process.communicate(timeout=30)

    assert (process.returncode, complaints) == (0, "")
    assert first == f"study {name} is active: 1 running, 1 completed; best 0.5 in trial 1\n"
    assert rest.splitlines()[0].endswith("trial 2  completed  cost 0.25")
    assert rest.splitlines()[-1] == f"study {name} is active: 2 completed; best 0.25 in trial 2"


def test_for_scripts_the_events_are_json(made, server):
    command, name = made
    seen = threading.Event()

    def change():
        for count in itertools.count():
            if seen.is_set():
                return
            httpx.patch(f"{server}/v1/studies/{name}", json={"metadata": {"count": count}})

    with watcher(name, "--json", stdout=subprocess.PIPE, text=True) as process:
        changer = threading.Thread(target=change)
        changer.start()
        first = process.stdout.readline()
        seen.set()
        changer.join()
        command("study", "close", name)
        lines = process.communicate(timeout=30)[0].splitlines()

    assert process.returncode == 0
    assert json.loads(first)["kind"] == "changed"
    assert json.loads(lines[-1])["kind"] == "closed"


def test_in_a_terminal_it_is_drawn_until_ctrl_c(made):
    _, name = made
    terminal, side = pty.openpty()
    with watcher(name, stdout=side, env={**os.environ, "COLUMNS": "100", "LINES": "40", "TERM": "xterm"}) as process:
        os.close(side)
        drawn = b""
        while b"last seen" not in drawn or b"panda-1" not in drawn:
            drawn += os.read(terminal, 65536)
        process.send_signal(signal.SIGINT)
        reader = threading.Thread(target=emptied, args=(terminal,), daemon=True)
        reader.start()
        complaints = process.communicate(timeout=30)[1]
    os.close(terminal)

    assert (process.returncode, complaints) == (0, b"")
    assert b"1 of 2 spent" in drawn


def emptied(terminal):
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


def test_a_study_that_has_ended_is_told_and_one_that_is_not_there_refused(made):
    command, name = made
    command("study", "close", name)

    code, out, _ = command("watch", name)

    assert code == 0
    assert out.splitlines() == [f"study {name} is closed: 1 running, 1 completed; best 0.5 in trial 1"] * 2
    assert command("watch", f"{name}-x")[0] == 1
