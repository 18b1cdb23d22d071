"""The loop of a study that one process runs: ask, evaluate, tell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, SupportsFloat

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from geodrome import schemas
from geodrome.errors import GeodromeError, InvalidCost
from geodrome.outcomes import Infeasible, RobotFault

if TYPE_CHECKING:
    from geodrome.study import Study
from geodrome.trial import TrialHandle


def run(
    study: Study,
    evaluate: Callable[[schemas.Point], SupportsFloat],
    n: int,
    *,
    worker: str | None,
    progress: bool,
) -> list[schemas.Trial]:
    """The trials of ``n`` evaluations; see ``Study.run``."""
    told: list[schemas.Trial] = []
    with _bar(study, n, visible=progress) as show:
        for _ in range(n):
            trial = measured(study.ask(worker=worker), evaluate)
            told.append(trial)
            show(trial)
    return told


def measured(trial: TrialHandle, evaluate: Callable[[schemas.Point], SupportsFloat]) -> schemas.Trial:
    """The trial after one evaluation was told, whatever came of it."""
    try:
        cost = evaluate(trial.point)
    except Infeasible as error:
        return trial.fail(reason=_reason(error))
    except RobotFault as error:
        return trial.lose(reason=_reason(error))
    except BaseException as error:
        _let_go(trial, error)
        raise
    try:
        return trial.tell(cost=cost)
    except InvalidCost as error:
        _let_go(trial, error)
        raise


def _let_go(trial: TrialHandle, error: BaseException) -> None:
    # The caller is to see what went wrong with the evaluation. If the service cannot be told now, the lease runs out
    # and makes the trial lost just the same.
    with contextlib.suppress(GeodromeError):
        trial.lose(reason=_reason(error))


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:4096]


@contextlib.contextmanager
def _bar(study: Study, n: int, *, visible: bool) -> Iterator[Callable[[schemas.Trial], None]]:
    if not visible:
        yield lambda _: None
        return
    record = study.refresh().record
    sign = 1.0 if record.objective.goal == "minimize" else -1.0
    costs = [record.best.cost] if record.best is not None and record.best.cost is not None else []
    unit = f" {record.objective.unit}" if record.objective.unit else ""

    def best() -> str:
        return f"best {min(costs, key=lambda cost: sign * cost):.6g}{unit}" if costs else "no cost yet"

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(record.name, total=n, best=best())

        def show(trial: schemas.Trial) -> None:
            if trial.cost is not None:
                costs.append(trial.cost)
            progress.update(task, advance=1, best=best())

        yield show
