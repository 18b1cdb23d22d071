"""The application without a server and a pool: for tests of what answers before they are needed."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from geodrome.errors import ComputeUnavailable
from geodrome_service.api.recommendations import Recommendations
from geodrome_service.app import create_app
from geodrome_service.compute.questions import Question
from geodrome_service.roles import Role
from geodrome_service.settings import Settings
from geodrome_service.store import keys
from geodrome_service.store.database import Database

from tests.service.histories import NOW

HOST = "http://127.0.0.1:8100"


class NoPool:
    """Computes nothing."""

    async def is_ready(self) -> bool:
        return False

    async def recommend(self, question: Question) -> dict[str, Any] | None:
        raise ComputeUnavailable("there is no worker")


class Service:
    """An application on a database, and its keys."""

    def __init__(self, database: Database, **settings: Any) -> None:
        self.database = database
        self.app = create_app(Settings(**settings), database)
        self.app.state.pool = NoPool()
        self.app.state.suggestions = None
        self.app.state.recommendations = Recommendations(self.app.state.pool)

    def __call__(self, method: str, path: str, *, key: str | None = None, **request: Any) -> httpx.Response:
        """What one request is answered."""
        return asyncio.run(self.send(method, path, key=key, **request))

    async def send(self, method: str, path: str, *, key: str | None = None, **request: Any) -> httpx.Response:
        headers = dict(request.pop("headers", {})) | ({} if key is None else {"Authorization": f"Bearer {key}"})
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=HOST) as http:
            return await http.request(method, path, headers=headers, **request)

    def make_key(self, role: str, **more: Any) -> str:
        """The text of a new key."""
        with self.database.write.begin() as session:
            return keys.make(session, Role(role), **{"name": "", "now": NOW, **more})[1]

    def revoke(self, key_id: int) -> None:
        with self.database.write.begin() as session:
            assert keys.revoke(session, key_id, now=NOW) is not None
