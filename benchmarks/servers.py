"""Servers and databases of a benchmark's own, on this machine, ended and dropped afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
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

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        self.process.kill()
        self.process.wait(STOP_TIMEOUT_S)

    def stop(self) -> None:
        """Ends the process in order."""
        self.process.terminate()
        self.process.wait(STOP_TIMEOUT_S)


class Cluster:
    """A PostgreSQL server of one's own, which can be killed and started again.

    Args:
        directory: Where it keeps everything.
    """

    def __init__(self, directory: Path) -> None:
        self._binaries = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self._data = directory / "data"
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self._port = listening.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{self._port}/postgres"
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(directory, "postgres")
        self._run("initdb", "--auth=trust", "--username=postgres", f"--pgdata={self._data}")
        self.start()

    def start(self) -> None:
        """Starts it, and waits until it answers; after a kill it recovers first."""
        options = f"-h 127.0.0.1 -p {self._port} -k {self._data}"
        log = f"--log={self._data / 'log'}"
        self._run("pg_ctl", "start", "--wait", "--silent", f"--pgdata={self._data}", log, "-o", options)

    def kill(self) -> None:
        """Ends all its processes at once."""
        first = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        processes = [first, *first.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, STOP_TIMEOUT_S)

    def stop(self) -> None:
        """Ends it in order."""
        self._run("pg_ctl", "stop", "--silent", "--mode=fast", f"--pgdata={self._data}")

    def _run(self, program: str, *arguments: str) -> None:
        prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run([*prefix, str(self._binaries / program), *arguments], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server of one's own, stopped in the end."""
    with tempfile.TemporaryDirectory() as directory:
        running = Cluster(Path(directory))
        try:
            yield running
        finally:
            running.stop()


@contextmanager
def server(database: str, *options: str) -> Iterator[Server]:
    """A server on a database, stopped in the end."""
    running = Server(database, options=options)
    try:
        yield running
    finally:
        running.stop()
