"""Databases are upgraded, checked, backed up and copied by commands."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic import command as alembic
from geodrome_service.store import backups, checks, copying, portable, studies
from geodrome_service.store.backups import CannotBackUp, back_up
from geodrome_service.store.database import Database, alembic_config, database_url, file_url, newest_revision
from geodrome_service.store.postgresql import DRIVER
from geodrome_service.store.tables import Event, Study, Trial
from sqlalchemy import URL, create_engine, delete, inspect, select, text, update
from sqlalchemy.orm import Session

from tests.postgres import VARIABLE, temporary_database
from tests.service.conftest import Lab, empty_database
from tests.service.histories import fill, lived_in


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "geodrome.cli", "db", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def name_of(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def engine_of(url: URL) -> Any:
    return create_engine(url.set(drivername="sqlite" if url.drivername == "sqlite" else DRIVER))


def digests(url: URL) -> dict[str, str]:
    opened = Database(url)
    with opened.read.begin() as session:
        found = {study.name: portable.digest(session, study) for study in session.scalars(select(Study))}
    opened.close()
    return found


@pytest.fixture
def filled(empty_url) -> URL:
    """A database with two studies."""
    for name in ("first", "second"):
        fill(empty_url, name, observations=12)
    return empty_url


# ---- upgrade


def test_an_older_database_is_upgraded_and_a_newer_one_left_alone(empty_url):
    engine = engine_of(empty_url)
    with engine.begin() as connection:
        alembic.upgrade(alembic_config(connection), "0001")
    engine.dispose()

    first, second = (command("upgrade", "--database", name_of(empty_url)) for _ in range(2))

    assert (first.returncode, first.stdout) == (0, f"upgraded from 0001 to {newest_revision()}\n")
    assert (second.returncode, second.stdout) == (0, f"up to date: {newest_revision()}\n")


def test_another_program_keeps_its_own_version_in_the_same_database(empty_url):
    engine = engine_of(empty_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('theirs')"))

    Database(empty_url).close()

    with engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == ["theirs"]
        assert "geodrome_alembic_version" in inspect(connection).get_table_names()
    engine.dispose()


@pytest.mark.parametrize("arguments", [("upgrade",), ("check",), ("backup", "copy.db")])
def test_a_file_that_is_not_there_is_not_made(tmp_path, arguments):
    missing = tmp_path / "missing.db"

    done = command(*arguments, "--database", str(missing))

    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no file {missing}" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- check


def test_nothing_is_wrong_with_a_database_that_was_lived_in(make_lab, running_server):
    lab = make_lab(initial_design={"size": 3})
    lived_in(lab)
    opened = Database(database_url(running_server.database))

    with opened.read.begin() as session:
        found = [finding for finding in checks.findings(session) if lab.name in finding or "study" not in finding]
    opened.close()

    assert found == []


def test_an_older_database_is_not_looked_into(empty_url):
    engine = engine_of(empty_url)
    with engine.begin() as connection:
        alembic.upgrade(alembic_config(connection), "0001")
    engine.dispose()

    done = command("check", "--database", name_of(empty_url))

    assert done.returncode == 1
    assert f"the tables are at revision 0001, this version's at {newest_revision()}" in done.stderr


def _miscount(session: Session) -> None:
    session.execute(update(Study).where(Study.name == "first").values(completed=11))


def _lose_an_event(session: Session) -> None:
    session.execute(delete(Event).where(Event.study_serial == 1, Event.position == 5))


def _lose_a_trial(session: Session) -> None:
    session.execute(delete(Trial).where(Trial.study_serial == 1, Trial.number == 5))


def _move_a_point(session: Session) -> None:
    session.execute(update(Trial).where(Trial.study_serial == 1, Trial.number == 5).values(point=[1, 0, 0, 0]))


def _repeat_the_future(session: Session) -> None:
    session.execute(update(Trial).where(Trial.study_serial == 1, Trial.number == 5).values(first_attempt=6))


def _change_a_cost(session: Session) -> None:
    session.execute(update(Trial).where(Trial.study_serial == 1, Trial.number == 5).values(cost=100.0))


def _change_a_state(session: Session) -> None:
    session.execute(update(Trial).where(Trial.study_serial == 1, Trial.number == 5).values(state="failed"))


@pytest.mark.parametrize(
    ("harm", "finding"),
    [
        (_miscount, "study first: its counters are"),
        (_lose_an_event, "study first: its events are numbered with a gap: 5 is missing"),
        (_lose_a_trial, "study first: its trials are numbered with a gap: 5 is missing"),
        (_move_a_point, "study first: trial 5: its point is [1, 0, 0, 0], but by its events"),
        (_repeat_the_future, "study first: trial 5 repeats one that is not before it"),
        (_change_a_cost, "study first: trial 5: its cost is 100.0, but its events tell another"),
        (_change_a_state, "study first: trial 5: its state is failed, but by its events completed"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(filled, harm, finding):
    opened = Database(filled)
    with opened.write.begin() as session:
        harm(session)
    opened.close()

    done = command("check", "--database", name_of(filled))

    assert done.returncode == 1
    assert finding in done.stdout
    assert "things are wrong" in done.stderr or "thing is wrong" in done.stderr
    assert "second" not in done.stdout


def test_a_sound_database_is_said_to_be_sound(filled):
    done = command("check", "--database", name_of(filled))

    assert (done.returncode, done.stdout) == (0, "nothing is wrong\n"), done.stderr


def test_rows_without_a_study_and_values_that_are_no_json_are_found(tmp_path):
    url = file_url(tmp_path / "a.db")
    fill(url, "first", observations=3)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE trials SET metrics = '{' WHERE number = 2")
        connection.execute("INSERT INTO events VALUES (99, 1, NULL, '2026-11-27 12:00:00', 'created', '{}')")
    connection.close()

    done = command("check", "--database", str(tmp_path / "a.db"))

    assert done.returncode == 1
    assert "of events belongs to no row of studies" in done.stdout
    assert "study first: a value cannot be read" in done.stdout


# ---- backup


def test_a_backup_of_a_live_file_is_whole(start_server, tmp_path):
    server = start_server(tmp_path / "live.db")
    with httpx.Client(base_url=server.url, timeout=60) as http:
        lab = Lab(http, "arm")
        lab.tell(lab.ask()["number"], cost=0.5)
        unfinished = subprocess.Popen([sys.executable, "-c", WRITES, server.url], stdout=subprocess.PIPE, text=True)
        assert unfinished.stdout is not None
        with unfinished.stdout:
            unfinished.stdout.readline()
            done = command("backup", str(tmp_path / "copy.db"), "--database", str(tmp_path / "live.db"))
            unfinished.wait()
    server.stop()

    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("copy.db?*")), "one file, with nothing beside it"
    copy = Database(file_url(tmp_path / "copy.db"))
    with copy.read.begin() as session:
        assert list(checks.findings(session)) == []
        assert studies.find(session, "arm").completed >= 1
    copy.close()


WRITES = """
import sys
import httpx

with httpx.Client(base_url=sys.argv[1], timeout=60) as http:
    for index in range(100):
        answer = http.post("/v1/studies/arm/trials", json={"point": [0.001 * index, 0], "cost": index})
        assert answer.status_code == 201
        if index == 5:
            print("it writes", flush=True)
"""
"""A lab that goes on telling."""


def test_a_backup_is_never_written_over_a_file(filled, tmp_path):
    target = tmp_path / "precious"
    target.write_text("mine")

    done = command("backup", str(target), "--database", name_of(filled))

    assert done.returncode == 1
    assert "exists" in done.stderr
    assert target.read_text() == "mine"


@pytest.mark.skipif(
    shutil.which(backups.PG_DUMP) is None and VARIABLE not in os.environ,  # where a server is named, all must run
    reason="PostgreSQL's client programs are not here",
)
def test_a_backup_of_postgresql_can_be_restored(tmp_path):
    with temporary_database() as url, temporary_database() as other:
        fill(url, "first", observations=5)

        done = command("backup", str(tmp_path / "dump"), "--database", name_of(url))

        assert done.returncode == 0, done.stderr
        subprocess.run(["pg_restore", "--dbname", name_of(other), tmp_path / "dump"], check=True, capture_output=True)
        assert digests(other) == digests(url)


def test_without_its_program_a_backup_of_postgresql_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(CannotBackUp) as refused:
        back_up(database_url("postgresql://ann:secret@host/lab"), tmp_path / "dump")

    assert "pg_dump --format=custom --file=FILE postgresql://ann@host/lab" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


# ---- copy


@pytest.fixture
def other_url(empty_url, tmp_path):
    """An empty database of the other kind."""
    directory = tmp_path / "other"
    directory.mkdir()
    with empty_database("postgresql" if empty_url.drivername == "sqlite" else "sqlite", directory) as url:
        yield url


def test_all_studies_come_into_a_database_of_the_other_kind(filled, other_url):
    done = command("copy", name_of(filled), name_of(other_url))

    assert done.returncode == 0, done.stderr
    found = digests(filled)
    assert digests(other_url) == found
    lines = [f"{name}: 12 trials, 25 events, sha256 {found[name]}, copied" for name in ("first", "second")]
    assert done.stdout.splitlines() == lines


def test_a_copy_that_was_interrupted_goes_on(filled, other_url):
    source, target = Database(filled), Database(other_url)
    copies = copying.copy(source, target)
    assert next(copies).is_new
    copies.close()

    again = [(one.name, one.is_new) for one in copying.copy(source, target)]
    source.close()
    target.close()

    assert again == [("first", False), ("second", True)]
    assert digests(other_url) == digests(filled)


def test_a_name_that_is_taken_stops_all_before_anything_is_copied(filled, other_url):
    fill(other_url, "second", observations=2)
    before = digests(other_url)

    done = command("copy", name_of(filled), name_of(other_url))

    assert (done.returncode, done.stdout) == (1, "")
    assert "study 'second'" in done.stderr
    assert "import it under another name" in done.stderr
    assert digests(other_url) == before


def test_a_study_that_went_on_in_the_target_is_not_overwritten(filled, other_url):
    assert command("copy", name_of(filled), name_of(other_url)).returncode == 0
    opened = Database(other_url)
    with opened.write.begin() as session:
        session.execute(update(Study).where(Study.name == "first").values(lease_s=5.0))
    opened.close()

    done = command("copy", name_of(filled), name_of(other_url))

    assert done.returncode == 1
    assert "study 'first' is in the target already, and has become another there" in done.stderr


def test_a_copy_that_does_not_come_out_as_it_went_in_is_not_kept(filled, other_url, monkeypatch):
    source, target = Database(filled), Database(other_url)
    add = portable.add
    monkeypatch.setattr(
        portable, "add", lambda session, study, trials, events: add(session, study, list(trials)[:-1], events)
    )

    with pytest.raises(copying.CannotCopy, match="does not come out"):
        list(copying.copy(source, target))
    source.close()
    target.close()

    assert digests(other_url) == {}


def test_a_source_of_an_older_version_is_left_as_it_is(empty_url, other_url):
    engine = engine_of(empty_url)
    with engine.begin() as connection:
        alembic.upgrade(alembic_config(connection), "0001")

    done = command("copy", name_of(empty_url), name_of(other_url))

    assert done.returncode == 1
    assert "run geodrome db upgrade" in done.stderr
    with engine.begin() as connection:
        assert "suggest_leases" not in inspect(connection).get_table_names()
    engine.dispose()


def test_the_commands_say_what_they_do(tmp_path: Path):
    assert all(word in command("--help").stdout for word in ("upgrade", "check", "backup", "copy"))
