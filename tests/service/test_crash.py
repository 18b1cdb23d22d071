"""``kill -9`` at any moment loses nothing that was acknowledged."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import httpx
import psutil
import pytest

from tests.service.histories import fill

ROUNDS = 3
PATH = "/v1/studies/crash"
BODY = b'{"wait_s": 60, "count": 32}'


class Robot(threading.Thread):
    """Asks and tells as fast as it can until the server is gone, and remembers what was acknowledged."""

    def __init__(self, url: str, acknowledged: dict[int, float]) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.acknowledged = acknowledged
        self.running: dict[str, object] | None = None

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=30) as http:
            try:
                while True:
                    answer = http.post(f"{PATH}/ask", json={"worker": "panda-1"})
                    [self.running] = answer.json()["trials"]
                    number = self.running["number"]
                    cost = number + random.random() / 3
                    if http.post(f"{PATH}/trials/{number}/tell", json={"cost": cost}).status_code == 200:
                        self.acknowledged[number] = cost
                        self.running = None
            except httpx.TransportError:
                pass


def test_after_kill_9_every_acknowledged_tell_is_there_and_the_work_goes_on(start_server, empty_url, tmp_path):
    random.seed(20261127)
    acknowledged: dict[int, float] = {}
    server = start_server(empty_url, tmp_path)
    with httpx.Client(base_url=server.url, timeout=60) as http:
        http.post(
            "/v1/studies", json={"name": "crash", "space": {"type": "rotation"}, "initial_design": {"size": 1000}}
        )
        queued = http.post(f"{PATH}/ask", json={"count": 32, "worker": "nobody"}).json()["trials"]
        for trial in queued:  # queued again, so that the robot need not wait for suggestions
            http.post(f"{PATH}/trials/{trial['number']}/tell", json={"outcome": "lost"})
    for _ in range(ROUNDS):
        before = len(acknowledged)
        robot = Robot(server.url, acknowledged)
        robot.start()
        while len(acknowledged) < before + 2:
            time.sleep(0.001)
        time.sleep(random.random() / 20)  # the moment is meant to be any
        server.stop(signal.SIGKILL)
        robot.join()

        server = start_server(empty_url, tmp_path)

        with httpx.Client(base_url=server.url, timeout=60) as http:
            trials = http.get(f"{PATH}/trials", params={"limit": 1000}).json()["trials"]
            costs = {trial["number"]: trial["cost"] for trial in trials if trial["state"] == "completed"}
            assert costs.items() >= acknowledged.items()
            running = [trial for trial in trials if trial["state"] == "running"]
            if robot.running is not None and robot.running["number"] not in costs:
                assert robot.running in running, "what was handed out is still leased"
            asked = http.post(f"{PATH}/ask", json={"worker": "panda-1"}).json()["trials"]
            if running:
                assert [trial["number"] for trial in asked] == [running[0]["number"]]
            assert len(asked) == 1
    server.stop()


def test_a_killed_server_leaves_no_workers_behind(start_server, tmp_path, eventually):
    server = start_server(tmp_path / "orphans.db")
    children = psutil.Process(server.process.pid).children()
    assert children

    server.stop(signal.SIGKILL)

    eventually(lambda: not any(_lives(child) for child in children))


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_silently(start_server, empty_url, tmp_path, eventually, with_signal):
    """Whoever waits is answered first."""
    fill(empty_url, "slow", observations=200)
    server = start_server(empty_url, tmp_path)
    children = psutil.Process(server.process.pid).children()

    with _half_an_ask(server.url, "slow") as connection:
        server.process.send_signal(with_signal)
        connection.sendall(BODY)
        answer = connection.makefile("rb").read()
    code = server.process.wait(30)

    assert b" 503 " in answer.split(b"\r\n")[0]
    assert b'"code":"compute-unavailable"' in answer
    assert b"retry-after: " in answer
    assert code == 0
    assert server.log.read_text() == ""
    eventually(lambda: not any(_lives(child) for child in children))
    assert {path.name for path in tmp_path.iterdir()} <= {"geodrome.db", "server.log"}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--host", "0.0.0.0"], 2, "--insecure"),
        (["--port", "70000"], 2, "65535"),
        (["--database", "mysql://lab/geodrome"], 1, "a file such as geodrome.db"),
        (["--database", "/nowhere/geodrome.db"], 1, "/nowhere/geodrome.db cannot be opened"),
        (["--database", "text.db"], 1, "file is not a database"),
        (["--database", "newer.db"], 1, "newer Geodrome"),
    ],
)
def test_a_server_that_cannot_start_says_why(tmp_path, arguments, code, says):
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as one's header\n" * 4)
    _make_newer(tmp_path / "newer.db")

    finished = subprocess.run(
        [sys.executable, "-m", "geodrome_service", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert finished.returncode == code
    assert says in " ".join(finished.stderr.split())
    assert "Traceback" not in finished.stderr


def _half_an_ask(url: str, study: str) -> socket.socket:
    """A connection on which an ask has arrived but for its body: the server has said that it reads on."""
    address = httpx.URL(url)
    connection = socket.create_connection((address.host, address.port or 80), timeout=30)
    head = (
        f"POST /v1/studies/{study}/ask HTTP/1.1", "Host: localhost", "Content-Type: application/json",
        f"Content-Length: {len(BODY)}", "Expect: 100-continue", "Connection: close",
    )  # fmt: skip
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    assert connection.recv(1024).startswith(b"HTTP/1.1 100 Continue")
    return connection


def _make_newer(path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE geodrome_alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO geodrome_alembic_version VALUES ('9999')")


def _lives(process: psutil.Process) -> bool:
    """Whether a process still does something; what nobody has buried does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False
