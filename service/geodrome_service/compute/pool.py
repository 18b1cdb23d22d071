"""The processes that compute: any task is sent to one of them, and a worker of another version is found out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from importlib.metadata import version
from typing import Any, TypeVar

from distributed import Client, KilledWorker
from geodrome.errors import ComputeUnavailable

from geodrome_service.compute import tasks
from geodrome_service.compute.questions import Question, Suggestion

Answer = TypeVar("Answer")

WORKER_TIMEOUT_S = 10.0  # a worker that died is replaced in about a second, and imports torch in a few

READY_TIMEOUT_S = 2.0

VERSION = version("geodrome")


class Pool:
    """Processes that answer questions about studies, one question each at a time.

    Args:
        connected: A client of the scheduler that has them, or ``ComputeUnavailable``.
    """

    def __init__(self, connected: Callable[[], Awaitable[Client]]) -> None:
        self._connected = connected

    async def suggest(self, question: Question, *, count: int, seed: int) -> list[Suggestion]:
        """The next ``count`` points. The same arguments give the same points.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(tasks.suggestions, question, count, seed)

    async def recommend(self, question: Question) -> dict[str, Any] | None:
        """The point with the best posterior mean, as a ``Recommendation``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(tasks.recommendation, question)

    async def predict(self, question: Question, points: list[Any]) -> list[dict[str, Any]] | None:
        """What runs at points would cost, each a ``Prediction``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(tasks.predictions, question, points)

    async def model(self, question: Question) -> dict[str, Any] | None:
        """The model in natural units, as a ``FittedModel``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(tasks.model, question)

    async def views(self, question: Question) -> dict[str, Any] | None:
        """The model about the recommended point, as ``Views``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(tasks.views, question)

    async def is_ready(self) -> bool:
        """Whether there is a worker."""
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                found = await (await self._connected()).scheduler.identity()
        except (OSError, TimeoutError, ComputeUnavailable):
            return False
        return bool(found["workers"])

    async def _run(self, task: Callable[..., Answer], *args: object) -> Answer:
        client = await self._connected()
        try:
            await client.wait_for_workers(1, timeout=WORKER_TIMEOUT_S)
        except TimeoutError as error:
            raise ComputeUnavailable(f"no worker has been there for {WORKER_TIMEOUT_S:g} s") from error
        except OSError as error:
            raise ComputeUnavailable("the scheduler has just gone away") from error
        try:
            answer: Answer = await client.submit(same_version, VERSION, task, *args, pure=False)
        except KilledWorker as error:
            raise ComputeUnavailable("every worker that tried to compute this died; is there enough memory?") from error
        except CancelledError as error:
            raise ComputeUnavailable("the scheduler has just gone away") from error
        except OtherVersionError as error:
            raise ComputeUnavailable(str(error)) from error
        return answer


class OtherVersionError(Exception):
    """A worker runs another version of Geodrome, which may suggest other points."""


def same_version(wanted: str, task: Callable[..., Answer], *args: object) -> Answer:
    """What the task answers, if this worker is of the version that is wanted; runs in a worker.

    Raises:
        OtherVersionError: It is not.
    """
    if wanted != VERSION:
        raise OtherVersionError(f"a worker runs Geodrome {VERSION}, the server {wanted}; both must be the same")
    return task(*args)
