"""The commands that make, list and revoke keys, and what they mean for a server that is about to start."""

from __future__ import annotations

import json

import pytest
import typer
from geodrome_service import cli, key_commands, server
from geodrome_service.store import keys
from geodrome_service.store.database import Database
from typer.testing import CliRunner


@pytest.fixture
def command(empty_url, monkeypatch):
    """Runs ``geodrome keys`` on an empty database: exit code, standard output, error stream."""
    monkeypatch.setenv("GEODROME_DATABASE_URL", empty_url.render_as_string(hide_password=False))
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str):
        result = CliRunner().invoke(key_commands.app, arguments)
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def serve(empty_url, monkeypatch):
    """Runs ``geodrome serve`` up to the point where the server would start: exit code, error stream, its settings."""
    started = []

    def start(settings, database):
        database.close()
        started.append(settings)

    monkeypatch.setattr(server, "run", start)
    monkeypatch.setenv("COLUMNS", "300")
    app = typer.Typer()
    app.command()(cli.serve)

    def run(*arguments: str):
        database = empty_url.render_as_string(hide_password=False)
        result = CliRunner().invoke(app, [*arguments, "--database", database])
        return result.exit_code, result.stderr, started

    return run


def known(url, text: str) -> bool:
    database = Database(url)
    with database.read() as session:
        hashes = {row.hash for row in keys.every(session)}
    database.close()
    return keys.hash_of(text) in hashes


def test_a_key_is_printed_alone_for_scripts_to_take(command, empty_url):
    code, out, err = command("create", "--role", "robot", "--name", "panda-1")

    assert code == 0
    assert out.startswith("geodrome_")
    assert len(out.split()) == 1
    assert f"key 1 of {empty_url.render_as_string()}" in err
    assert known(empty_url, out.strip())


def test_keys_are_listed_without_their_texts(command):
    _, robot, _ = command("create", "--role", "robot", "--name", "panda-1")
    command("create", "--role", "admin", "--expires-days", "30")
    command("revoke", "1")

    _, table, _ = command("list")
    _, listed, _ = command("list", "--json")

    first, second = json.loads(listed)["keys"]
    assert (first["id"], first["name"], first["role"], first["state"]) == (1, "panda-1", "robot", "revoked")
    assert (second["id"], second["role"], second["state"]) == (2, "admin", "valid")
    assert first["expires_at"] is None
    assert second["expires_at"] is not None
    assert "panda-1" in table
    assert robot.strip() not in table + listed


def test_a_key_can_be_made_by_a_script(command):
    _, out, err = command("create", "--role", "viewer", "--json")

    made = json.loads(out)
    assert (made["id"], made["role"], made["state"]) == (1, "viewer", "valid")
    assert made["key"].startswith("geodrome_")
    assert err == ""


def test_a_key_that_does_not_exist_cannot_be_revoked(command):
    command("create", "--role", "viewer")

    for missing in ("2", "99999999999", "0"):
        code, out, err = command("revoke", missing)

        assert (code, out) == (1, "")
        assert f"no key {missing}" in err


def test_revoking_again_changes_nothing(command):
    command("create", "--role", "viewer")

    assert command("revoke", "1")[0] == 0
    assert command("revoke", "1")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["--role", "boss"], ["--role", "robot", "--expires-days", "0"], ["--role", "robot", "--name", "a\nb"]],
)
def test_wrong_usage_makes_no_key(command, arguments):
    code, out, _ = command("create", *arguments)

    assert (code, out) == (2, "")
    assert json.loads(command("list", "--json")[1]) == {"keys": []}


def test_another_address_is_served_only_with_keys_or_when_told_so(serve, command):
    code, err, started = serve("--host", "0.0.0.0")

    assert (code, started) == (2, [])
    assert "geodrome keys create" in err
    assert "--insecure" in err

    command("create", "--role", "admin")
    code, err, started = serve("--host", "0.0.0.0")

    assert (code, len(started)) == (0, 1), err


@pytest.mark.parametrize("variable", [False, True])
def test_another_address_is_served_without_keys_when_told_so(serve, monkeypatch, variable):
    if variable:
        monkeypatch.setenv("GEODROME_INSECURE", "true")

    code, err, [settings] = serve("--host", "0.0.0.0", *([] if variable else ["--insecure"]))

    assert (code, settings.insecure, settings.needs_keys) == (0, True, False), err


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_this_machine_is_served_without_keys(serve, host):
    assert serve("--host", host)[0] == 0


def test_a_setting_that_breaks_a_rule_is_named(serve, monkeypatch):
    monkeypatch.setenv("GEODROME_RATE_PER_S", "often")

    code, err, started = serve()

    assert (code, started) == (2, [])
    assert "GEODROME_RATE_PER_S" in err
    assert "'often'" in err
