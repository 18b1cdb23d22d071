"""What tests of several rooms share: the real server, in a process of its own, on a loopback port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy import URL

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 30


def pytest_configure() -> None:
    """Lets processes that tests start end on Ctrl-C, also where a shell in the background ignores it for all."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class RunningServer:
    """A server process that answers.

    Attributes:
        url: Where it listens.
        database: Which one it works on.
        process: The process; its standard error goes to ``log``.
        log: Everything that it complained about.
    """

    url: str
    database: str
    process: subprocess.Popen[str]
    log: Path

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Ends the process and returns its exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(STOP_TIMEOUT_S)


StartServer = Callable[..., RunningServer]


@contextmanager
def starting() -> Iterator[StartServer]:
    """Starts a server on a database, with more of an environment; whatever still runs at the end is ended.

    Its log goes into the directory that is named second, or beside the database's file.
    """
    started: list[RunningServer] = []

    def start(database: Path | URL, directory: Path | None = None, **variables: str) -> RunningServer:
        name = database.render_as_string(hide_password=False) if isinstance(database, URL) else str(database)
        log = Path(name).with_suffix(".log") if directory is None else directory / "server.log"
        command = [sys.executable, "-m", "geodrome_service", "--port", "0", "--database", name]
        # The settings of whoever runs the tests are none of the server's business.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GEODROME_")}
        environment["GEODROME_LOG_LEVEL"] = "warning"  # what is in the log then is news
        with log.open("a") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment | variables
            )
        assert process.stdout is not None
        with process.stdout:
            line = process.stdout.readline()  # it comes once the server listens; the end of the output if it cannot
        assert line.startswith("Geodrome listens on "), log.read_text()
        running = RunningServer(line.removeprefix("Geodrome listens on ").strip(), name, process, log)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.stop()


@pytest.fixture(scope="module")
def start_server() -> Iterator[StartServer]:
    """Starts servers, which end with the file of tests that wanted them."""
    with starting() as start:
        yield start


@pytest.fixture(scope="session")
def start_shared_server() -> Iterator[StartServer]:
    """Starts servers, which end with the tests."""
    with starting() as start:
        yield start


@pytest.fixture(scope="session")
def running_server(start_shared_server: StartServer, tmp_path_factory: pytest.TempPathFactory) -> RunningServer:
    """A server that all tests share."""
    return start_shared_server(tmp_path_factory.mktemp("server") / "geodrome.db")


@pytest.fixture(scope="session")
def server(running_server: RunningServer) -> str:
    """URL of the server that all tests share: make studies with names of your own."""
    return running_server.url


@pytest.fixture
def study_name() -> str:
    """A name that no other test uses."""
    return f"study-{uuid.uuid4()}"


@pytest.fixture(scope="session")
def http(server: str) -> Iterator[httpx.Client]:
    """Plain HTTP to the shared server, for tests of what really travels."""
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Waits until something is so, for things that happen in another process at a time of their own."""

    def wait(is_so: Callable[[], bool], timeout_s: float = 20.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not is_so():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)

    return wait
