"""The command that computes for servers elsewhere."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from geodrome_service.cli import settings_of


def worker(
    compute: Annotated[
        str | None, typer.Option(help="Dask scheduler to work for, tcp://host:8786 or tls://…; or GEODROME_COMPUTE.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that compute; 1 if not given.")] = None,
) -> None:
    """Compute suggestions for the servers of a Dask scheduler, until interrupted; waits while the scheduler is away."""
    settings = settings_of(compute=compute, workers=workers)
    if settings.compute is None:
        raise typer.BadParameter("which scheduler? Such as tcp://10.0.0.5:8786", param_hint="--compute")
    # These take seconds to import, which no --help should wait for.
    from geodrome_service import cluster, logs  # noqa: PLC0415

    logs.configure(logs.logging_of(settings.log_format, settings.log_level))

    async def work() -> None:
        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        await cluster.work(settings, stopping)

    asyncio.run(work())
