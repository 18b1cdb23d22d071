"""The compute pool: processes that fit models and search for points, so that the web process never does.

What travels to a worker and back is plain data. A suggestion is a pure function of question, count and seed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal, TypeVar

import torch
from distributed import Client, KilledWorker
from geodrome.errors import ComputeUnavailable
from geodrome_core import History, Problem, predict, recommend, report, space_from_spec, suggest

Answer = TypeVar("Answer")

WORKER_TIMEOUT_S = 10.0  # a worker that died is replaced in about a second, and imports torch in a few

READY_TIMEOUT_S = 2.0

VERSION = version("geodrome")


@dataclass(frozen=True)
class Question:
    """What is known about a study when the engine is asked, as JSON.

    Attributes:
        space: Its space spec.
        constraints: Between the reals of the space.
        kernel: Its type.
        nu: Its smoothness.
        acquisition: How points are valued.
        initial_size: Size of the initial design.
        around: First point of the initial design.
        spread: How far from it the others may be; None for anywhere.
        maximize: Whether larger costs are better.
        observed: Points that have a cost, each as often as it was measured.
        costs: Their costs, as they were told.
        stds: Standard deviations of the costs' noise, None where it is not known.
        pending: Points handed out or about to be.
        failed: Points that ran and went wrong.
        abandoned: Points that nobody wants again.
        start: Hyperparameters at which a fit begins, None for no earlier fit.
    """

    space: dict[str, Any]
    constraints: list[dict[str, Any]]
    kernel: Literal["matern", "euclidean_matern", "geodesic_se", "cholesky_matern"]
    nu: float | Literal["inf", "learn"]
    acquisition: str
    initial_size: int
    around: Any
    spread: float | None
    maximize: bool
    observed: list[Any]
    costs: list[float]
    stds: list[float | None]
    pending: list[Any]
    failed: list[Any]
    abandoned: list[Any]
    start: dict[str, Any] | None


@dataclass(frozen=True)
class Suggestion:
    """A point that the engine suggests, as JSON.

    Attributes:
        point: The point, canonical.
        kind: ``initial``, ``model`` or ``fallback``.
        acquisition: How it was valued, None where it was not.
        value: The acquisition's value.
        mean: The model's prediction, in units of the cost.
        std: Its standard deviation.
        note: What there is to say about it.
        hyperparameters: The model's, empty without one.
    """

    point: Any
    kind: str
    acquisition: str | None
    value: float | None
    mean: float | None
    std: float | None
    note: str | None
    hyperparameters: dict[str, Any]


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
        return await self._run(suggestions, question, count, seed)

    async def recommend(self, question: Question) -> dict[str, Any] | None:
        """The point with the best posterior mean, as a ``Recommendation``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(recommendation, question)

    async def predict(self, question: Question, points: list[Any]) -> list[dict[str, Any]] | None:
        """What runs at points would cost, each a ``Prediction``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(predictions, question, points)

    async def model(self, question: Question) -> dict[str, Any] | None:
        """The model in natural units, as a ``FittedModel``; None when no model can be had.

        Raises:
            ComputeUnavailable: No worker lives long enough to answer.
        """
        return await self._run(model, question)

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


def suggestions(question: Question, count: int, seed: int) -> list[Suggestion]:
    """The next ``count`` points; runs in a worker."""
    problem, history = _posed(question)
    return [
        Suggestion(
            point=found.point,
            kind=found.kind,
            acquisition=found.acquisition,
            value=_finite(found.value),
            mean=_finite(found.mean),
            std=_finite(found.std),
            note=found.note,
            hyperparameters=_sayable(found.hyperparameters),
        )
        for found in suggest(problem, history, count=count, seed=seed, start=question.start)
    ]


def recommendation(question: Question) -> dict[str, Any] | None:
    """The point with the best posterior mean; runs in a worker."""
    problem, history = _posed(question)
    best = recommend(problem, history, start=question.start)
    if best is None or not (math.isfinite(best.mean) and math.isfinite(best.std)):
        return None
    return {"point": best.point, "mean": best.mean, "std": best.std}


def predictions(question: Question, points: list[Any]) -> list[dict[str, Any]] | None:
    """What runs at points would cost; runs in a worker."""
    problem, history = _posed(question)
    found = predict(problem, history, problem.space.rows(points), start=question.start)
    if found is None or not all(math.isfinite(one.mean) and math.isfinite(one.std) for one in found):
        return None
    return [asdict(one) for one in found]


def model(question: Question) -> dict[str, Any] | None:
    """The model in natural units; runs in a worker."""
    problem, history = _posed(question)
    found = report(problem, history, start=question.start)
    if found is None:
        return None
    numbers = {name: getattr(found, name) for name in ("noise_std", "prior_std", "mean")}
    calibration = {name: getattr(found.calibration, name) for name in ("within_one", "within_two", "error")}
    if not all(map(math.isfinite, [*numbers.values(), *calibration.values()])):
        return None
    return {
        "status": found.status.name.lower(),
        "note": found.status.value,
        "observations": found.observations,
        "points": found.points,
        **_sayable({"nu": found.nu}),
        "lengthscales": [{"factor": name, **asdict(length)} for name, length in found.lengthscales.items()],
        **numbers,
        "calibration": calibration,
    }


def _posed(question: Question) -> tuple[Problem, History]:
    torch.set_num_threads(1)  # the thread that runs tasks is not the one that imported torch
    space = space_from_spec(question.space).constrained(question.constraints)
    problem = Problem(
        space,
        nu={"inf": math.inf, "learn": None}[question.nu] if isinstance(question.nu, str) else question.nu,
        kernel=question.kernel,
        acquisition=question.acquisition,
        initial_size=question.initial_size,
        around=None if question.around is None else space.check(question.around).row,
        spread=question.spread,
        maximize=question.maximize,
    )
    history = History(
        X=space.rows(question.observed),
        Y=torch.tensor(question.costs, dtype=torch.float64),
        pending=space.rows(question.pending),
        failed=space.rows(question.failed),
        abandoned=space.rows(question.abandoned),
        std=torch.tensor([math.nan if std is None else std for std in question.stds], dtype=torch.float64),
    )
    return problem, history


def _sayable(hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """The hyperparameters with an infinite smoothness as "inf", as kernels are defined: JSON has no such number."""
    return hyperparameters | {"nu": "inf"} if hyperparameters.get("nu") == math.inf else hyperparameters


def _finite(value: float | None) -> float | None:
    """The number, or None where JSON has none."""
    return value if value is not None and math.isfinite(value) else None
