"""What is computed of a study once for what is known of it, however often it is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from geodrome.errors import ComputeUnavailable

from geodrome_service.compute.questions import Question

KEPT = 64  # studies whose latest answer is remembered: what there is to see of one takes about a megabyte

Answer = dict[str, Any] | None


@dataclass(frozen=True)
class Computation:
    """An answer that is, or is being, computed.

    Attributes:
        learned: What was known of the study, see ``counting.learned``.
        task: What computes it.
    """

    learned: tuple[int, ...]
    task: asyncio.Task[Answer]


class Computed:
    """The latest answer about each study that somebody asked for.

    Args:
        compute: Answers a question; all who look meanwhile wait for the same answer.
    """

    def __init__(self, compute: Callable[[Question], Awaitable[Answer]]) -> None:
        self._compute = compute
        self._latest: dict[str, Computation] = {}

    def begun(
        self, study: str, learned: tuple[int, ...], read: Callable[[], Awaitable[Question]]
    ) -> asyncio.Task[Answer]:
        """What computes, or has computed, the answer.

        Args:
            study: The id of the study; serials of deleted studies come again.
            learned: What is known of it by now.
            read: Gets the question to compute it from, if that has changed.
        """
        latest = self._latest.pop(study, None)
        if latest is None or latest.learned != learned or _has_failed(latest.task):
            latest = Computation(learned, asyncio.create_task(self._ask(read)))
        self._latest[study] = latest
        while len(self._latest) > KEPT:
            del self._latest[next(iter(self._latest))]
        return latest.task

    async def answer(self, study: str, learned: tuple[int, ...], read: Callable[[], Awaitable[Question]]) -> Answer:
        """The answer, waited for; the arguments are those of ``begun``.

        Raises:
            ComputeUnavailable: It cannot be computed now.
        """
        task = self.begun(study, learned, read)
        if not task.done():
            # Whoever goes away meanwhile leaves it to the others.
            await asyncio.wait({task})
        if task.cancelled():
            raise ComputeUnavailable("the server is stopping")
        return task.result()

    async def _ask(self, read: Callable[[], Awaitable[Question]]) -> Answer:
        return await self._compute(await read())

    async def close(self) -> None:
        """Ends what is being computed."""
        tasks = [latest.task for latest in self._latest.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _has_failed(task: asyncio.Task[Answer]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
