"""The processes that compute start although one of them dies meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress

import psutil
import pytest
from geodrome_service import cluster
from geodrome_service.cluster import open_pool
from geodrome_service.settings import Settings


def starting() -> set[psutil.Process]:
    """Processes of this one that are to compute."""
    return {child for child in psutil.Process(os.getpid()).children() if "spawn_main" in " ".join(child.cmdline())}


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was said of tries that failed."""
    return [record.message for record in caplog.records if record.name == "geodrome.service"]


async def kill_starting(caplog: pytest.LogCaptureFixture, tries: int) -> None:
    """Kills each process that is to compute, before it can say a word, until so many tries have failed."""
    while len(told(caplog)) < tries:
        with suppress(psutil.NoSuchProcess):  # it ended by itself meanwhile
            for child in starting():
                child.kill()
        await asyncio.sleep(0.01)


def opening(caplog: pytest.LogCaptureFixture, failing: int) -> bool:
    """Whether there is a worker in the end, if so many tries fail."""

    async def ready() -> bool:
        killing = asyncio.create_task(kill_starting(caplog, failing))
        try:
            async with open_pool(Settings()) as pool:
                return await pool.is_ready()
        finally:
            killing.cancel()

    with caplog.at_level(logging.WARNING, "geodrome.service"):
        return asyncio.run(ready())


def test_a_worker_that_dies_while_it_starts_costs_another_try(caplog):
    assert opening(caplog, failing=cluster.START_TRIES - 1)

    assert len(told(caplog)) == cluster.START_TRIES - 1
    assert all("died while it started" in line for line in told(caplog))


def test_workers_that_always_die_are_an_error(caplog):
    with pytest.raises(RuntimeError, match="Nanny failed to start"):
        opening(caplog, failing=cluster.START_TRIES)
