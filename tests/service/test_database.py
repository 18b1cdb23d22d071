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
from geodrome.schemas import StudyDefinition, TrialState
from geodrome_service.store import history, queueing, studies
from geodrome_service.store.canonical import canonical_json
from geodrome_service.store.database import CannotOpen, Database, alembic_config, database_url, file_url
from geodrome_service.store.postgresql import DRIVER
from geodrome_service.store.tables import Base, Study
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import StatementError
from sqlalchemy.schema import CreateTable

TABLES = {"studies", "trials", "events", "idempotency_keys", "suggest_leases", "waiting_asks", "access_keys"}
DEFINITION = StudyDefinition.model_validate({"name": "a", "space": {"type": "rotation"}}).model_dump(mode="json")


def test_migrations_go_up_down_and_up_again(empty_url):
    engine = create_engine(empty_url.set(drivername={"sqlite": "sqlite"}.get(empty_url.drivername, DRIVER)))
    found = []

    for move, revision in ((command.upgrade, "head"), (command.downgrade, "base"), (command.upgrade, "head")):
        with engine.begin() as connection:
            move(alembic_config(connection), revision)
        found.append(set(inspect(engine).get_table_names()) - {"geodrome_alembic_version"})
    engine.dispose()

    assert found == [TABLES, set(), TABLES]


def test_what_an_older_version_has_stored_is_counted_and_keeps_its_order(empty_url):
    engine = create_engine(empty_url.set(drivername={"sqlite": "sqlite"}.get(empty_url.drivername, DRIVER)))
    study = {
        "id": "i", "state": "active", "created_at": "2026-11-27 12:00:00", "noise": "inferred", "seed": 0,
        "max_attempts": 3, "lease_s": 600, "initial_design": "{}", "constraints": "[]", "budget": '{"trials": null}',
        **dict.fromkeys(("space", "objective", "kernel", "acquisition", "metadata"), "{}"),
    }  # fmt: skip
    trial = {
        "attempt": 1, "first_attempt": 1, "created_at": "2026-11-27 12:00:00", "recipe": None,
        **dict.fromkeys(("point", "suggested_point", "origin", "metrics", "metadata", "corrections", "flags"), "{}"),
    }  # fmt: skip

    def insert(connection, table, **values):
        names = ", ".join(values)
        connection.execute(text(f"INSERT INTO {table} ({names}) VALUES (:{', :'.join(values)})"), values)

    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), "0001")
        for serial in (1, 2):
            insert(connection, "studies", **study | {"serial": serial, "name": f"s{serial}", "id": str(serial)})
        for number, state in enumerate(["completed", "completed", "lost", "queued"], start=1):
            recipe = '{"after_event": 12}' if number == 4 else None
            insert(
                connection, "trials", **trial | {"study_serial": 1, "number": number, "state": state, "recipe": recipe}
            )
        for key, serial in [(10, 1), (11, 2), (12, 1), (13, 2)]:
            values = {"study_serial": serial, "number": key, "at": "2026-11-27 12:00:00", "kind": "k", "details": "{}"}
            insert(connection, "events", id=key, **values)

    found = []
    for moves in (["head"], ["0001", "head"]):
        with engine.begin() as connection:
            for revision in moves:
                (command.downgrade if revision == "0001" else command.upgrade)(alembic_config(connection), revision)
        with engine.begin() as connection:
            studies_ = connection.execute(
                text(f"SELECT {', '.join([*TrialState, 'last_event'])} FROM studies ORDER BY serial")
            ).all()
            events = connection.execute(
                text("SELECT study_serial, position, number FROM events ORDER BY study_serial, position")
            ).all()
            recipe = connection.execute(text("SELECT recipe FROM trials WHERE number = 4")).scalar_one()
            recipe = json.loads(recipe) if isinstance(recipe, str) else recipe
        found.append((studies_, events, recipe))
    engine.dispose()

    for counts, events, recipe in found:
        assert counts == [(1, 0, 2, 0, 1, 0, 2), (0, 0, 0, 0, 0, 0, 2)]
        assert events == [(1, 1, 10), (1, 2, 12), (2, 1, 11), (2, 2, 13)]
        assert recipe == {"after_event": 2}


def test_the_migrated_tables_are_those_that_the_code_speaks_of(database):
    with database.write() as session:
        options = {"version_table": "geodrome_alembic_version", "compare_type": True}
        context = MigrationContext.configure(session.connection(), opts=options)

        assert compare_metadata(context, Base.metadata) == []


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=["sqlite", "postgresql"])
def test_every_table_can_be_written_for_either_database(dialect):
    written = [str(CreateTable(table).compile(dialect=dialect)) for table in Base.metadata.sorted_tables]

    assert len(written) == len(TABLES)


def test_an_sqlite_file_is_safe_against_power_cuts(tmp_path):
    database = Database(file_url(tmp_path / "safe.db"))

    with database.write() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA synchronous")) == 2, "FULL"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
    database.close()


def test_a_database_is_opened_again_with_all_that_is_in_it(empty_url, now, tmp_path):
    first = Database(empty_url)
    with first.write.begin() as session:
        studies.create(session, DEFINITION, load=False, now=now)
    first.close()

    second = Database(empty_url)

    with second.read() as session:
        assert studies.find(session, "a").created_at == now
    second.close()
    assert len(list(tmp_path.iterdir())) <= 1, "the write-ahead log is folded into the file"


def test_what_is_rolled_back_was_never_there(database, now):
    with database.write() as session:
        studies.create(session, DEFINITION, load=False, now=now)

    with database.read() as session:
        assert session.query(Study).count() == 0


def test_writers_of_a_study_wait_for_each_other_and_readers_for_nobody(database, now):
    with database.write.begin() as session:
        studies.create(session, DEFINITION, load=False, now=now)
    inside, seen = threading.Barrier(2), threading.Event()

    def write(name: str) -> None:
        with database.write.begin() as session:
            study = studies.find(session, "a", lock=True)
            queueing.enqueue(session, study, [queueing.Suggested(1.0, {"kind": name}, {})], now=now)
            session.flush()
            if name == "first":
                inside.wait()
                assert seen.wait(10)

    with ThreadPoolExecutor(2) as writers:
        first = writers.submit(write, "first")
        inside.wait()
        second = writers.submit(write, "second")
        with database.read() as session:
            assert studies.find(session, "a").queued == 0
        assert not second.done()
        seen.set()
        first.result(10)
        second.result(10)

    with database.read() as session:
        found = studies.find(session, "a")
        assert found.queued == 2
        assert [history.find(session, found, number).origin["kind"] for number in (1, 2)] == ["first", "second"]


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
    ("name", "found"),
    [
        ("lab.db", "sqlite:///lab.db"),
        ("/data/lab.db", "sqlite:////data/lab.db"),
        ("sqlite:///lab.db", "sqlite:///lab.db"),
        ("postgresql://me@lab/geodrome", "postgresql://me@lab/geodrome"),
        ("postgres://me@lab/geodrome", "postgresql://me@lab/geodrome"),
    ],
)
def test_a_database_is_named_by_path_or_by_url(name, found):
    assert database_url(name).render_as_string() == found


@pytest.mark.parametrize(
    "name", ["mysql://lab:secret@host/geodrome", "sqlite://", "postgresql://host", "://", "postgresql://h:x/secret"]
)
def test_another_database_is_refused_without_showing_its_password(name):
    with pytest.raises(CannotOpen, match=r"a file such as geodrome\.db") as error:
        database_url(name)

    assert "secret" not in str(error.value)


def test_a_server_that_is_not_there_is_said_so_without_its_password():
    with pytest.raises(CannotOpen, match=r"postgresql://me:\*\*\*@127\.0\.0\.1:9/lab cannot be opened") as error:
        Database(database_url("postgresql://me:secret@127.0.0.1:9/lab"))

    assert "secret" not in str(error.value)


def test_a_foreign_sqlite_file_keeps_its_own_tables(tmp_path):
    path = tmp_path / "mixed.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    connection.close()

    Database(file_url(path)).close()

    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert names >= TABLES | {"alembic_version", "geodrome_alembic_version"}
