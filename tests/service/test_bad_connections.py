"""Connections that send rubbish, stop in the middle or never end: the server lives, and serves all others."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.service.conftest import SPACE

CLIENTS = 100
HELD_S = 2.0
"""How long a connection that says nothing more is kept open."""

GROWTH_MIB = 64
"""More memory than that would be kept for somebody: 100 bodies at the limit are 400 MiB."""

MIB = 1024 * 1024

Sender = Callable[[socket.socket, random.Random], None]


def head(length: int, kind: str = "application/json") -> bytes:
    lines = ("POST /v1/studies/a/ask HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", f"Content-Length: {length}")
    return "\r\n".join((*lines, "", "")).encode()


def rubbish(connection: socket.socket, chance: random.Random) -> None:
    connection.sendall(chance.randbytes(chance.randrange(1, 10_000)))


def rubbish_as_body(connection: socket.socket, chance: random.Random) -> None:
    body = chance.randbytes(chance.randrange(1, 10_000))
    connection.sendall(head(len(body)) + body)
    assert connection.recv(4096).startswith(b"HTTP/1.1 422 ")


def truncated(connection: socket.socket, chance: random.Random) -> None:
    connection.sendall(head(MIB) + b" " * chance.randrange(MIB))


def slow(connection: socket.socket, chance: random.Random) -> None:
    connection.sendall(head(1000))
    end = time.monotonic() + HELD_S
    while time.monotonic() < end:
        connection.sendall(b" ")
        time.sleep(chance.uniform(0.05, 0.2))


def half_a_head(connection: socket.socket, chance: random.Random) -> None:
    connection.sendall(head(10)[: chance.randrange(1, 60)])
    time.sleep(HELD_S)


def silent(connection: socket.socket, chance: random.Random) -> None:
    del connection
    time.sleep(chance.uniform(0, HELD_S))


def gone_before_the_answer(connection: socket.socket, chance: random.Random) -> None:
    del chance
    connection.sendall(head(2) + b"{}")


def without_end(connection: socket.socket, chance: random.Random) -> None:
    """A body that says 1 GiB, and one that does not say how much."""
    if chance.random() < 0.5:
        connection.sendall(head(1024 * MIB))
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")
        return
    connection.sendall(head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    for _ in range(128):
        connection.sendall(chunk)


SENDERS: tuple[Sender, ...] = (
    rubbish,
    rubbish_as_body,
    truncated,
    slow,
    half_a_head,
    silent,
    gone_before_the_answer,
    without_end,
)


@pytest.mark.slow
def test_a_hundred_bad_clients_disturb_nobody(start_server, tmp_path):
    server = start_server(tmp_path / "geodrome.db")
    process = psutil.Process(server.process.pid)
    with httpx.Client(base_url=server.url, timeout=30) as http:
        http.post("/v1/studies", json={"name": "a", "space": SPACE, "initial_design": {"size": 1000}})
        serve(http)
        _bad_clients(server.url, seed=1)  # whatever the server sets up once is there now
        before = process.memory_info().rss

        with ThreadPoolExecutor(1) as bad:
            running = bad.submit(_bad_clients, server.url, seed=2)
            served = 0
            while not running.done():
                serve(http)
                served += 1
            running.result()

        assert served >= 5
        assert server.process.poll() is None
        assert process.memory_info().rss - before < GROWTH_MIB * MIB
        assert http.get("/readyz").status_code == 200
        completed = http.get("/v1/studies/a").json()["counts"]["completed"]
        assert completed == served + 1
    server.stop()


def serve(http: httpx.Client) -> None:
    """One ask and its tell."""
    [trial] = http.post("/v1/studies/a/ask", json={}).json()["trials"]
    assert http.post(f"/v1/studies/a/trials/{trial['number']}/tell", json={"cost": 1}).status_code == 200


def _bad_clients(url: str, *, seed: int) -> None:
    parts = urlsplit(url)

    def run(number: int) -> None:
        with (
            socket.create_connection((parts.hostname, parts.port), timeout=30) as connection,
            suppress(BrokenPipeError, ConnectionResetError),  # the server has had enough
        ):
            SENDERS[number % len(SENDERS)](connection, random.Random(1000 * seed + number))

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(run, range(CLIENTS)))
