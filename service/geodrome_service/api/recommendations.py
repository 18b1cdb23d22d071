"""Recommended points: computed once for what is known of a study, however often they are looked at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Request
from geodrome.errors import ComputeUnavailable

from geodrome_service.api.computed import KEPT, Computed
from geodrome_service.compute.pool import Pool
from geodrome_service.compute.questions import Question

LONGEST_WAIT_S = 30.0

log = logging.getLogger("geodrome.service")


class Recommendations:
    """The latest recommendation of each study that somebody asked for."""

    def __init__(self, pool: Pool) -> None:
        self._computed = Computed(pool.recommend)
        self._found: dict[str, dict[str, Any] | None] = {}

    async def recommend(
        self, study: str, learned: tuple[int, ...], read: Callable[[], Awaitable[Question]]
    ) -> dict[str, Any] | None:
        """The point with the best posterior mean; None when it cannot be computed now.

        Args:
            study: Its id; serials of deleted studies come again.
            learned: What is known of it by now.
            read: Gets the question to compute it from, if that has changed.
        """
        task = self._computed.begun(study, learned, read)
        await asyncio.wait({task}, timeout=LONGEST_WAIT_S)
        if not task.done() or task.cancelled():
            return None
        if isinstance(unavailable := task.exception(), ComputeUnavailable):
            log.warning("no recommendation now: %s", unavailable.detail)
            return None
        self._found.pop(study, None)
        self._found[study] = task.result()
        while len(self._found) > KEPT:
            del self._found[next(iter(self._found))]
        return task.result()

    def at_hand(self, study: str) -> dict[str, Any] | None:
        """The last one that was found, for whoever does not want to wait; more may be known of the study by now."""
        return self._found.get(study)

    async def close(self) -> None:
        """Ends what is being computed."""
        await self._computed.close()


async def recommendations(request: Request) -> Recommendations:
    """The application's recommendations."""
    held: Recommendations = request.app.state.recommendations
    return held


Recommending = Annotated[Recommendations, Depends(recommendations)]
