"""Recommended points: computed once for what is known of a study, however often they are looked at."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from geodrome.errors import ComputeUnavailable

from geodrome_service.compute import Pool, Question

KEPT = 256  # studies whose recommendation is remembered
LONGEST_WAIT_S = 30.0

log = logging.getLogger("geodrome.service")


@dataclass(frozen=True)
class Computation:
    """A recommendation that is, or is being, computed for a question."""

    question: Question
    task: asyncio.Task[dict[str, Any] | None]


class Recommendations:
    """The latest recommendation of each study that somebody asked for."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._latest: dict[int, Computation] = {}

    async def recommend(self, study_serial: int, question: Question) -> dict[str, Any] | None:
        """The point with the best posterior mean; None without an observation, or when it cannot be computed now."""
        if not question.observed:
            return None
        latest = self._latest.pop(study_serial, None)
        if latest is None or latest.question != question or _has_failed(latest.task):
            latest = Computation(question, asyncio.create_task(self._pool.recommend(question)))
        self._latest[study_serial] = latest
        while len(self._latest) > KEPT:
            del self._latest[next(iter(self._latest))]
        await asyncio.wait({latest.task}, timeout=LONGEST_WAIT_S)
        if not latest.task.done() or latest.task.cancelled():
            return None
        if isinstance(unavailable := latest.task.exception(), ComputeUnavailable):
            log.warning("no recommendation now: %s", unavailable.detail)
            return None
        return latest.task.result()

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
