"""Databases of one's own on a PostgreSQL server.

``GEODROME_TEST_POSTGRES`` names the server, as somebody who may make databases; where it is not set, one on this
machine is looked for, and tests that need it are skipped if there is none. Where it is set, they fail.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL, make_url

VARIABLE = "GEODROME_TEST_POSTGRES"
DEFAULT = "postgresql://postgres@127.0.0.1:5432/postgres"


@contextmanager
def temporary_database() -> Iterator[URL]:
    """An empty database, dropped afterwards with all connections to it."""
    server = make_url(os.environ.get(VARIABLE, DEFAULT))
    name = f"geodrome_test_{uuid.uuid4().hex}"
    try:
        connection = psycopg.connect(server.render_as_string(hide_password=False), autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        if VARIABLE in os.environ:
            raise
        pytest.skip(f"no PostgreSQL at {server.render_as_string()}: {error}")
    with connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield server.set(database=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
