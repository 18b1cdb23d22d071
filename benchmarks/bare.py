"""A server that gives every ask and every tell the same answer: what HTTP and the client cost by themselves."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STOP_TIMEOUT_S = 30


@contextmanager
def bare_server(url: str, study: str) -> Iterator[str]:
    """The URL of a server that repeats what the server at ``url`` says of one trial of a study, without looking."""
    path = f"/v1/studies/{study}"
    with httpx.Client(base_url=url) as client:
        shown = client.get(path).raise_for_status()
        asked = client.post(f"{path}/ask", json={}).raise_for_status()
        number = asked.json()["trials"][0]["number"]
        told = client.post(f"{path}/trials/{number}/tell", json={"cost": 0.0}).raise_for_status()
    app = Starlette(
        routes=[
            _route("/v1/studies/{study}", "GET", shown.content),
            _route("/v1/studies/{study}/ask", "POST", asked.content),
            _route("/v1/studies/{study}/trials/{number}/tell", "POST", told.content),
        ]
    )
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        process = multiprocessing.get_context("fork").Process(target=server.run, kwargs={"sockets": [listening]})
        process.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            process.terminate()
            process.join(STOP_TIMEOUT_S)


def _route(path: str, method: str, answer: bytes) -> Route:
    async def repeat(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    return Route(path, repeat, methods=[method])
