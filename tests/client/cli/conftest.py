"""The command line in this process, alone and against a live server."""

from __future__ import annotations

import uuid

import pytest
from geodrome import cli


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command line in this process: exit code, standard output, error stream."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")

    def run(*arguments: str):
        with pytest.raises(SystemExit) as exited:
            cli.main(arguments)
        out, err = capsys.readouterr()
        return exited.value.code or 0, out, err

    return run


@pytest.fixture
def wide(monkeypatch, command):
    """Likewise, with errors on one line."""
    monkeypatch.setenv("COLUMNS", "400")
    return command


@pytest.fixture
def live(monkeypatch, command, server):
    """The command line against the live server, and a name for a study."""
    monkeypatch.setenv("GEODROME_URL", server)
    return command, f"c-{uuid.uuid4().hex[:8]}"
