"""Servers and databases of a benchmark's own, on this machine, ended and dropped afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

POSTGRES = "postgresql://postgres@127.0.0.1:5432/postgres"
"""As whom databases are made, if ``GEODROME_TEST_POSTGRES`` names nobody else."""

DATABASES = ("sqlite", "postgresql")

STOP_TIMEOUT_S = 30


@contextmanager
def empty_database(kind: str) -> Iterator[str]:
    """The URL of an empty database of this kind."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as directory:
            yield f"sqlite:///{Path(directory) / 'benchmark.db'}"
        return
    address = os.environ.get("GEODROME_TEST_POSTGRES", POSTGRES)
    name = f"geodrome_benchmark_{uuid.uuid4().hex}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{address.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


class Server:
    """A server process, which can be killed and started again at the same address.

    Args:
        database: URL of its database.
        port: Where it listens; 0 takes a free port, and keeps it.
        options: More of the command line.
    """

    def __init__(self, database: str, *, port: int = 0, options: tuple[str, ...] = ()) -> None:
        self.database = database
        self.port = port
        self._options = options
        self.url = self.start()

    def start(self) -> str:
        """Starts the process, and returns its URL once it listens.

        Raises:
            RuntimeError: It ended before.
        """
        command = [sys.executable, "-m", "geodrome_service", "--port", str(self.port), "--database", self.database]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GEODROME_")}
        environment["GEODROME_LOG_LEVEL"] = "warning"  # a line for each request would be all that one sees
        self.process = subprocess.Popen([*command, *self._options], stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("Geodrome listens on "):
            raise RuntimeError(f"the server did not start; it printed {line!r}")
        url = line.split()[-1]
        self.port = int(url.rpartition(":")[2])
        return url

    def stop(self) -> None:
        """Ends the process in order."""
        self.process.terminate()
        self.process.wait(STOP_TIMEOUT_S)


@contextmanager
def server(database: str, *options: str) -> Iterator[Server]:
    """A server on a database, stopped in the end."""
    running = Server(database, options=options)
    try:
        yield running
    finally:
        running.stop()
