"""The processes that compute start although one of them dies meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os

import psutil
import pytest
from geodrome_service import cluster
from geodrome_service.cluster import open_pool
from geodrome_service.settings import Settings


def starting() -> set[psutil.Process]:
    """Processes of this one that are to compute."""
    return {child for child in psutil.Process(os.getpid()).children() if "spawn_main" in " ".join(child.cmdline())}


async def kill_starting(times: int) -> None:
    """Kills each process that is to compute, so many times, before it can say a word."""
    known = starting()
    for _ in range(times):
        while not (new := starting() - known):
            await asyncio.sleep(0.01)
        for child in new:
            child.kill()
        known |= new


def opening(kills: int) -> bool:
    """Whether there is a worker in the end."""

    async def ready() -> bool:
        killing = asyncio.create_task(kill_starting(kills))
        try:
            async with open_pool(Settings()) as pool:
                return await pool.is_ready()
        finally:
            killing.cancel()

    return asyncio.run(ready())


def test_a_worker_that_dies_while_it_starts_costs_another_try(caplog):
    with caplog.at_level(logging.WARNING, "geodrome.service"):
        assert opening(kills=cluster.START_TRIES - 1)

    told = [record.message for record in caplog.records if record.name == "geodrome.service"]
    assert len(told) == cluster.START_TRIES - 1
    assert all("died while it started" in line for line in told)


def test_workers_that_always_die_are_an_error():
    with pytest.raises(RuntimeError, match="Nanny failed to start"):
        opening(kills=100 * cluster.START_TRIES)
