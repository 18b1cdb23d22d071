"""The tables come from the migrations, in any order of versions, and keep what they are given."""

from __future__ import annotations

import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from geodrome.schemas import StudyDefinition
from geodrome_service.store import studies
from geodrome_service.store.database import CannotOpen, Database, alembic_config, canonical_json, sqlite_file
from geodrome_service.store.tables import Base, Study
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import StatementError
from sqlalchemy.schema import CreateTable

TABLES = {"studies", "trials", "events", "idempotency_keys"}
DEFINITION = StudyDefinition.model_validate({"name": "a", "space": {"type": "rotation"}}).model_dump(mode="json")


def test_migrations_go_up_down_and_up_again(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'up.db'}")
    found = []

    for move, revision in ((command.upgrade, "head"), (command.downgrade, "base"), (command.upgrade, "head")):
        with engine.begin() as connection:
            move(alembic_config(connection), revision)
        found.append(set(inspect(engine).get_table_names()) - {"geodrome_alembic_version"})
    engine.dispose()

    assert found == [TABLES, set(), TABLES]


def test_the_migrated_tables_are_those_that_the_code_speaks_of(database):
    with database.write() as session:
        options = {"version_table": "geodrome_alembic_version", "compare_type": True}
        context = MigrationContext.configure(session.connection(), opts=options)

        assert compare_metadata(context, Base.metadata) == []


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=["sqlite", "postgresql"])
def test_every_table_can_be_written_for_either_database(dialect):
    written = [str(CreateTable(table).compile(dialect=dialect)) for table in Base.metadata.sorted_tables]

    assert len(written) == len(TABLES)


def test_the_file_is_safe_against_power_cuts(database, tmp_path):
    with database.write() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA synchronous")) == 2, "FULL"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1


def test_a_database_is_opened_again_with_all_that_is_in_it(tmp_path, now):
    path = tmp_path / "again.db"
    first = Database(path)
    with first.write.begin() as session:
        studies.create(session, DEFINITION, load=False, now=now)
    first.close()

    second = Database(path)

    with second.read() as session:
        assert studies.find(session, "a").created_at == now
    second.close()
    assert [file.name for file in tmp_path.iterdir()] == ["again.db"]


def test_what_is_rolled_back_was_never_there(database, now):
    with database.write() as session:
        studies.create(session, DEFINITION, load=False, now=now)

    with database.read() as session:
        assert session.query(Study).count() == 0


def test_writers_wait_for_each_other_and_readers_for_nobody(database, now):
    inside, seen = threading.Barrier(2), threading.Event()

    def write(name: str) -> None:
        with database.write.begin() as session:
            studies.create(session, {**DEFINITION, "name": name}, load=False, now=now)
            session.flush()
            if name == "first":
                inside.wait()
                assert seen.wait(10)

    with ThreadPoolExecutor(2) as writers:
        first = writers.submit(write, "first")
        inside.wait()
        second = writers.submit(write, "second")
        with database.read() as session:
            assert session.query(Study).count() == 0
        assert not second.done()
        seen.set()
        first.result(10)
        second.result(10)

    with database.read() as session:
        assert session.query(Study).count() == 2


def test_moments_come_back_in_utc(database):
    moment = datetime(2026, 11, 27, 13, 30, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    with database.write.begin() as session:
        studies.create(session, DEFINITION, load=False, now=moment)

    with database.read() as session:
        found = studies.find(session, "a").created_at

    assert found == moment
    assert found.tzinfo is UTC


def test_a_moment_without_a_time_zone_is_refused(database):
    with database.write() as session, pytest.raises(StatementError, match="names no time zone"):
        studies.create(session, DEFINITION, load=False, now=datetime(2026, 11, 27))  # noqa: DTZ001


def test_json_is_stored_in_its_shortest_exact_form():
    value = {"b": [0.1, 1e-310, 1.0, None, True], "a": "ü"}

    stored = canonical_json(value)

    assert stored == '{"b":[0.1,1e-310,1.0,null,true],"a":"ü"}'
    assert json.loads(stored) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("lab.db", "lab.db"),
        ("/data/lab.db", "/data/lab.db"),
        ("sqlite:///lab.db", "lab.db"),
        ("sqlite:////a.db", "/a.db"),
    ],
)
def test_a_database_is_named_by_path_or_by_url(name, path):
    assert str(sqlite_file(name)) == path


@pytest.mark.parametrize("name", ["postgresql://lab:secret@host/geodrome", "sqlite://", "mysql://host/x"])
def test_another_database_is_refused_without_showing_its_password(name):
    with pytest.raises(CannotOpen, match="SQLite file") as error:
        sqlite_file(name)

    assert "secret" not in str(error.value)


def test_a_foreign_sqlite_file_keeps_its_own_tables(tmp_path):
    path = tmp_path / "mixed.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    connection.close()

    Database(path).close()

    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert names >= TABLES | {"alembic_version", "geodrome_alembic_version"}
