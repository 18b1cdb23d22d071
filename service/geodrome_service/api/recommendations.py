"""Recommended points: computed once for what is known of a study, however often they are looked at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from geodrome.errors import ComputeUnavailable

from geodrome_service.compute.pool import Pool
from geodrome_service.compute.questions import Question

KEPT = 256  # studies whose recommendation is remembered
LONGEST_WAIT_S = 30.0

log = logging.getLogger("geodrome.service")


@dataclass(frozen=True)
class Computation:
    """A recommendation that is, or is being, computed.

    Attributes:
        learned: What was known of the study, see ``counting.learned``.
        task: What computes it.
    """

    learned: tuple[int, ...]
    task: asyncio.Task[dict[str, Any] | None]


class Recommendations:
    """The latest recommendation of each study that somebody asked for."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._latest: dict[int, Computation] = {}
        self._found: dict[int, dict[str, Any] | None] = {}

    async def recommend(
        self, study_serial: int, learned: tuple[int, ...], read: Callable[[], Awaitable[Question]]
    ) -> dict[str, Any] | None:
        """The point with the best posterior mean; None when it cannot be computed now.

        Args:
            study_serial: Of which study.
            learned: What is known of it by now.
            read: Gets the question to compute it from, if that has changed.
        """
        latest = self._latest.pop(study_serial, None)
        if latest is None or latest.learned != learned or _has_failed(latest.task):
            latest = Computation(learned, asyncio.create_task(self._compute(read)))
        self._latest[study_serial] = latest
        while len(self._latest) > KEPT:
            oldest = next(iter(self._latest))
            del self._latest[oldest]
            self._found.pop(oldest, None)
        await asyncio.wait({latest.task}, timeout=LONGEST_WAIT_S)
        if not latest.task.done() or latest.task.cancelled():
            return None
        if isinstance(unavailable := latest.task.exception(), ComputeUnavailable):
            log.warning("no recommendation now: %s", unavailable.detail)
            return None
        self._found[study_serial] = latest.task.result()
        return self._found[study_serial]

    def at_hand(self, study_serial: int) -> dict[str, Any] | None:
        """The last one that was found, for whoever does not want to wait; more may be known of the study by now."""
        return self._found.get(study_serial)

    async def _compute(self, read: Callable[[], Awaitable[Question]]) -> dict[str, Any] | None:
        return await self._pool.recommend(await read())

    async def close(self) -> None:
        """Ends what is being computed."""
        tasks = [latest.task for latest in self._latest.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def recommendations(request: Request) -> Recommendations:
    """The application's recommendations."""
    held: Recommendations = request.app.state.recommendations
    return held


Recommending = Annotated[Recommendations, Depends(recommendations)]


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
