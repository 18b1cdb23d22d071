"""Every request leaves one line in the log and one count in the metrics."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from geodrome_service.api import rules
from geodrome_service.api.metrics import Metrics
from geodrome_service.api.request_ids import request_id_of

QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Programs ask for these every few seconds: they are for the level ``debug``."""

GONE = 0
"""Stands for the status of an answer that nobody waited for."""

log = logging.getLogger("geodrome.requests")


class Observing:
    """Notes each request once its answer has ended.

    Args:
        app: What answers it.
        metrics: Where it is counted.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, begun = GONE, time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        # Whatever is logged meanwhile, in the threads of this request too, carries its id.
        with bound_contextvars(request_id=request_id_of(scope)):
            try:
                await self.app(scope, receive, send_and_note)
            finally:
                self._note(scope, status, time.perf_counter() - begun)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        call = rules.call_of(scope)
        self._metrics.answered(call.method, call.template, status, seconds)
        details = {"method": call.method, "route": call.template, "status": status, "seconds": round(seconds, 4)}
        further = {"study": call.study, "key": scope["state"].get("key")}
        log.log(
            logging.DEBUG if call.template in QUIET else logging.INFO,
            "request",
            extra=details | {name: value for name, value in further.items() if value is not None},
        )
