"""Request ids: the name under which the log, the answer and the person who asks speak of one request."""

from __future__ import annotations

import re
import uuid
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-Id"
ACCEPTED = re.compile(r"[!-~]{1,128}")  # visible ASCII: it is written into a header and into the log


class RequestIds:
    """Takes each request's id from its ``X-Request-Id``, or makes one, and sends it back with the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, with its id in the scope."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if ACCEPTED.fullmatch(given) else str(uuid.uuid4())
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self.app(scope, receive, send_with_id)


def request_id_of(scope: MutableMapping[str, Any]) -> str:
    """The id of the request that this scope belongs to."""
    request_id: str = scope["state"]["request_id"]
    return request_id
