"""The server process: it starts the application, says where it listens, and ends it on a signal."""

from __future__ import annotations

import gc
import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from geodrome_service import logs
from geodrome_service.app import create_app, finish_waiting
from geodrome_service.cluster import expect_the_end
from geodrome_service.settings import Settings
from geodrome_service.store.database import Database

GRACE_S = 10  # answers that are being sent when a signal comes may take so long


class Server(uvicorn.Server):
    """A server that says where it listens, and lets nobody wait for it when it stops."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                # The log is set up already; a line for each request comes from the application.
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts listening, and says so in one line that other programs wait for."""
        await super().startup(sockets)
        if self.started:
            # What is there by now stays. To look through all of it for garbage, again and again, would hold up those
            # who then have a request here for a quarter of a second.
            gc.collect()
            gc.freeze()
            host, port, *_ = self.servers[0].sockets[0].getsockname()
            # The line is this command's output; a program that started it reads the port from it.
            print(f"Geodrome listens on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)  # noqa: T201

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Notes that the server is to stop."""
        expect_the_end()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops listening, answers whoever still waits, and ends the pool."""
        await finish_waiting(self._app)
        await super().shutdown(sockets)


def run(settings: Settings, database: Database) -> None:
    """Runs the service until SIGINT or SIGTERM."""
    logs.configure(logs.logging_of(settings.log_format, settings.log_level))
    # The server sends itself the signal again once it has stopped: that ends the process, orderly.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    Server(create_app(settings, database), settings).run()


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)
