"""What tests of the service share: studies made in a line, and a database without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from geodrome_service.store.database import Database, database_url, file_url
from sqlalchemy import URL

from tests.postgres import temporary_database
from tests.service.calling import Service
from tests.service.histories import NOW, fill

SPACE = {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [-1, 1]]}


BACKENDS = ("sqlite", "postgresql")


class Lab:
    """A study on the shared server, and those who work with it."""

    def __init__(self, http: httpx.Client, name: str, **definition: Any) -> None:
        self.http = http
        self.name = name
        self.path = f"/v1/studies/{name}"
        body = {"name": name, "space": SPACE, **definition}
        self.created = http.post("/v1/studies", json=body)
        assert self.created.status_code == 201, self.created.text

    def ask(self, **body: Any) -> dict[str, Any]:
        """One trial."""
        answer = self.http.post(f"{self.path}/ask", json=body)
        assert answer.status_code == 200, answer.text
        [trial] = answer.json()["trials"]
        return trial

    def tell(self, number: int, **body: Any) -> httpx.Response:
        return self.http.post(f"{self.path}/trials/{number}/tell", json=body)

    def trial(self, number: int) -> dict[str, Any]:
        return self.http.get(f"{self.path}/trials/{number}").json()

    def trials(self, **query: Any) -> list[dict[str, Any]]:
        return self.http.get(f"{self.path}/trials", params=query).json()["trials"]

    def show(self) -> dict[str, Any]:
        return self.http.get(self.path).json()


@pytest.fixture(scope="session")
def shared_servers(
    start_shared_server: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Any]]:
    """The server that all tests share on a kind of database: started when it is first wanted."""
    with ExitStack() as until_the_end:
        servers: dict[str, Any] = {}

        def on(backend: str) -> Any:
            if backend not in servers:
                directory = tmp_path_factory.mktemp(backend)
                url = until_the_end.enter_context(empty_database(backend, directory))
                servers[backend] = start_shared_server(url, directory)
                until_the_end.callback(servers[backend].stop)
            return servers[backend]

        yield on


@pytest.fixture(scope="module", params=BACKENDS)
def running_server(request: pytest.FixtureRequest, shared_servers: Callable[[str], Any]) -> Any:
    """A server that all tests share, on each kind of database."""
    return shared_servers(request.param)


# These two stand here again, for there is one of each kind.
@pytest.fixture(scope="module")
def server(running_server: Any) -> str:
    """URL of that server."""
    return running_server.url


@pytest.fixture(scope="module")
def http(server: str) -> Iterator[httpx.Client]:
    """Plain HTTP to it."""
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture
def make_lab(http: httpx.Client, study_name: str) -> Callable[..., Lab]:
    """Makes a study of two bounded numbers on the shared server."""

    def make(**definition: Any) -> Lab:
        return Lab(http, study_name, **definition)

    return make


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """A study with all its defaults."""
    return make_lab()


@contextmanager
def empty_database(backend: str, directory: Path) -> Iterator[URL]:
    """An empty database of one's own."""
    if backend == "sqlite":
        yield file_url(directory / "geodrome.db")
        return
    with temporary_database() as url:
        yield url


@pytest.fixture(params=BACKENDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """An empty database of one's own, of each kind."""
    with empty_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def database(empty_url: URL) -> Iterator[Database]:
    """The same, with its tables, opened."""
    opened = Database(empty_url)
    yield opened
    opened.close()


@pytest.fixture
def heavy_study(running_server: Any, study_name: str) -> str:
    """A study on the shared server whose next suggestion takes seconds."""
    name = f"{study_name}-heavy"
    fill(database_url(running_server.database), name, observations=200)
    return name


@pytest.fixture
def now() -> datetime:
    """The moment at which tests of the store begin."""
    return NOW


@pytest.fixture
def make_service(database: Database) -> Callable[..., Service]:
    """Makes an application with settings, without a server and a pool, on a database of each kind."""

    def make(**settings: Any) -> Service:
        return Service(database, **settings)

    return make


@pytest.fixture
def service(make_service: Callable[..., Service]) -> Service:
    """The same, with all its defaults."""
    return make_service()
