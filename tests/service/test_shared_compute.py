"""Workers that belong to a Dask scheduler elsewhere: servers use them, and outlive them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import trustme
from geodrome.errors import ComputeUnavailable
from geodrome_service.cli import settings_of
from geodrome_service.compute.pool import VERSION, OtherVersionError, Pool, same_version
from typer import BadParameter

from tests.service.conftest import SPACE
from tests.service.histories import fill

STOP_TIMEOUT_S = 30


@contextmanager
def running(*command: object, log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process, ended with the context."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GEODROME_")}
    with log.open("a") as output:
        process = subprocess.Popen(
            [sys.executable, *map(str, command)], stdout=output, stderr=output, env=environment | variables
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(STOP_TIMEOUT_S)


def scheduler(address: str, directory: Path, *options: object) -> Any:
    command = ("-m", "dask", "scheduler", "--host", address, "--no-dashboard", *options)
    return running(*command, log=directory / "scheduler.log")


def worker(directory: Path, **variables: str) -> Any:
    return running("-m", "geodrome.cli", "worker", log=directory / "worker.log", **variables)


def free_address(scheme: str = "tcp") -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"


def is_ready(http: httpx.Client) -> Callable[[], bool]:
    return lambda: http.get("/readyz").json()["compute"]


@pytest.mark.slow
def test_suggestions_come_from_workers_elsewhere_which_may_die_and_come_back(
    start_server, empty_url, tmp_path, eventually
):
    fill(empty_url, "heavy", observations=200)
    address = free_address()
    server = start_server(empty_url, tmp_path, GEODROME_COMPUTE=address)
    assert not [child for child in psutil.Process(server.process.pid).children() if "spawn" in str(child.cmdline())]
    with (
        httpx.Client(base_url=server.url, timeout=90) as http,
        worker(tmp_path, GEODROME_COMPUTE=address) as computing,
        ThreadPoolExecutor(1) as robot,
    ):
        path = "/v1/studies/heavy"
        without = http.post(f"{path}/ask", json={"wait_s": 60})
        assert (without.status_code, without.json()["code"]) == (503, "compute-unavailable"), "there is no scheduler"
        assert address in without.json()["detail"]

        with scheduler(address, tmp_path) as first:
            eventually(is_ready(http), 90)
            waiting = robot.submit(http.post, f"{path}/ask", json={"count": 8, "wait_s": 60})
            eventually(lambda: _busy(computing.pid), 60)
            for process in psutil.Process(computing.pid).children(recursive=True):
                process.kill()
            answer = waiting.result()
            assert answer.status_code == 200, answer.text
            assert {trial["origin"]["kind"] for trial in answer.json()["trials"]} == {"model"}
            first.send_signal(signal.SIGKILL)

        # What the ask without a scheduler did not get is in the queue by now; this wants one more.
        gone = http.post(f"{path}/ask", json={"count": 2, "wait_s": 60})
        assert (gone.status_code, gone.json()["code"]) == (503, "compute-unavailable")
        assert not is_ready(http)()
        assert http.post(f"{path}/trials/201/tell", json={"cost": 1}).status_code == 200

        with scheduler(address, tmp_path):
            eventually(is_ready(http), 90)
            assert http.post(f"{path}/ask", json={"wait_s": 60}).status_code == 200
            computing.send_signal(signal.SIGTERM)
            assert computing.wait(STOP_TIMEOUT_S) == 0
    server.stop()


@pytest.mark.slow
def test_with_certificates_only_those_who_have_one_take_part(start_server, tmp_path, eventually):
    lab, stranger = trustme.CA(), trustme.CA()
    own, foreign = _certificates(lab, lab, tmp_path / "own"), _certificates(lab, stranger, tmp_path / "foreign")
    address = free_address("tls")
    flags = [("--tls-ca-file", own["CA"]), ("--tls-cert", own["CERT"]), ("--tls-key", own["KEY"])]
    with (
        scheduler(address, tmp_path, *(part for flag in flags for part in flag)),
        worker(tmp_path, **_tls(address, own)),
    ):
        server = start_server(tmp_path / "own.db", None, **_tls(address, own))
        other = start_server(tmp_path / "foreign.db", None, **_tls(address, foreign))
        with httpx.Client(base_url=server.url, timeout=90) as http:
            eventually(is_ready(http), 90)
            http.post("/v1/studies", json={"name": "a", "space": SPACE})
            assert http.post("/v1/studies/a/ask", json={"wait_s": 60}).status_code == 200
        with httpx.Client(base_url=other.url, timeout=90) as http:
            http.post("/v1/studies", json={"name": "a", "space": SPACE})
            assert http.post("/v1/studies/a/ask", json={"wait_s": 60}).json()["code"] == "compute-unavailable"
        server.stop()
        other.stop()


@pytest.mark.parametrize(
    "given",
    [
        {"compute": "tls://10.0.0.5:8786"},
        {"compute": "tcp://10.0.0.5:8786", "compute_tls_ca": "ca.pem"},
        {"compute": "tls://10.0.0.5:8786", "compute_tls_ca": "ca.pem", "compute_tls_cert": "cert.pem"},
    ],
)
def test_certificates_belong_to_an_encrypted_address(given):
    with pytest.raises(BadParameter, match="belong together"):
        settings_of(**given)


@pytest.mark.parametrize("address", ["10.0.0.5:8786", "tcp://10.0.0.5", "http://10.0.0.5:8786"])
def test_an_address_of_another_form_is_refused(address):
    with pytest.raises(BadParameter, match=r"\^\(tcp\|tls\)://"):
        settings_of(compute=address)


def test_a_worker_of_another_version_refuses():
    assert same_version(VERSION, sum, [1, 2]) == 3
    with pytest.raises(OtherVersionError, match=r"Geodrome .*, the server 0\.0\.7"):
        same_version("0.0.7", sum, [1, 2])


class OldWorkers:
    """Stands for a scheduler whose workers are of another version."""

    async def wait_for_workers(self, count: int, timeout: float) -> None:
        del count, timeout

    async def submit(self, *_: object, **__: object) -> None:
        raise OtherVersionError("a worker runs Geodrome 0.0.7, the server 0.1.0; both must be the same")


async def _old_workers() -> Any:
    return OldWorkers()


def test_asks_are_unavailable_while_workers_are_of_another_version():
    with pytest.raises(ComputeUnavailable, match=r"Geodrome 0\.0\.7"):
        asyncio.run(Pool(_old_workers)._run(sum, [1]))


def _busy(worker: int) -> bool:
    """Whether one of its processes computes."""
    return any(
        child.cpu_percent(0.5) > 15 for child in psutil.Process(worker).children(recursive=True) if child.is_running()
    )


def _certificates(trusted: trustme.CA, issuing: trustme.CA, directory: Path) -> dict[str, str]:
    """Files of a certificate, and of the authority that its owner trusts."""
    directory.mkdir()
    files = {name: str(directory / f"{name.lower()}.pem") for name in ("CA", "CERT", "KEY")}
    issued = issuing.issue_cert("127.0.0.1")
    trusted.cert_pem.write_to_path(files["CA"])
    issued.cert_chain_pems[0].write_to_path(files["CERT"])
    issued.private_key_pem.write_to_path(files["KEY"])
    return files


def _tls(address: str, files: dict[str, str]) -> dict[str, str]:
    return {"GEODROME_COMPUTE": address} | {f"GEODROME_COMPUTE_TLS_{name}": path for name, path in files.items()}
