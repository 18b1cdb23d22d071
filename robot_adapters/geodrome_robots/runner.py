"""The loop of a robot in a study: ready? ask, evaluate, tell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from geodrome import Client, GeodromeError, Infeasible, InvalidRequest, RobotFault, Study, StudyClosed, TrialHandle
from geodrome.schemas import Outcome
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from geodrome_robots.deadline import deadline
from geodrome_robots.robot import Measurement, Robot

MAX_FAULTS = 3  # in a row; lost trials are free, so a broken robot would otherwise ask for ever
LONGEST_REASON = 4096  # what the service takes


@dataclass(frozen=True)
class Finished:
    """What became of one trial. ``measurement`` belongs to a completed one, ``reason`` to the others."""

    number: int
    point: Any
    outcome: Outcome
    measurement: Measurement | None = None
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """What a run gave.

    Attributes:
        trials: In the order they ended.
        interrupted: Whether the operator broke it off.
    """

    trials: tuple[Finished, ...] = ()
    interrupted: bool = False

    @property
    def best(self) -> Finished | None:
        """The trial with the lowest cost, the first of equals; None if none has a cost."""
        costs = [(trial.measurement.cost, trial) for trial in self.trials if trial.measurement is not None]
        return min(costs, key=lambda pair: pair[0])[1] if costs else None

    def count(self, outcome: Outcome) -> int:
        """How many trials ended like this."""
        return sum(trial.outcome is outcome for trial in self.trials)


def open_study(
    client: Client, robot: Robot, *, name: str, seed: int = 0, if_exists: Literal["error", "load"] = "error"
) -> Study:
    """A study of the robot's cost over its space; what the robot says about itself is kept in its metadata.

    The name of the objective holds the robot's version and its weighting: a study that began with others is not
    loaded but refused, so that no study mixes two kinds of cost.

    Raises:
        StudyExists: The name is taken; with ``load``, by a study that is defined otherwise.
    """
    described = robot.describe()
    cost = described["cost"]
    words = [robot.name, str(described["version"]), *([f"({cost['weighting']})"] if cost.get("weighting") else [])]
    return client.create_study(
        name,
        space=robot.space,
        objective={"name": " ".join(words), "goal": "minimize", "unit": cost.get("unit")},
        seed=seed,
        metadata={"robot": described},
        if_exists=if_exists,
    )


def run(
    robot: Robot,
    study: Study,
    trials: int,
    *,
    worker: str | None = None,
    on_trial: Callable[[Finished], None] | None = None,
    console: Console | None = None,
    deadline_s: float | None = None,
) -> Report:
    """Let ``robot`` take part in ``study`` until ``trials`` more are completed or failed, or the study is closed.

    `Infeasible` is told as failed, `RobotFault` as lost: a lost trial does not count, and its point comes again. On
    Ctrl-C, and on any other exception of the robot, the robot is stopped safely and the trial told as lost; Ctrl-C ends
    the run, the exception is raised again.

    Args:
        robot: Evaluates the points; asked before each trial whether it is ready.
        study: Gives the points and takes the outcomes; its goal has to be to minimize, since robots measure costs.
        trials: How many.
        worker: Who asks. A worker that comes back under its name gets the trial that it left running.
        on_trial: Called after each tell.
        console: Where the progress bar is drawn; None draws none.
        deadline_s: How long one trial may take; one that takes longer is told as failed.

    Raises:
        ValueError: The study maximizes; or there is a deadline, and this is not the main thread of a Unix process.
        RobotFault: The robot is not ready, or faulted three times in a row.
        GeodromeError: The service refused, or did not answer.
    """
    if study.record.objective.goal != "minimize":
        raise ValueError(f"study {study.name} is to {study.record.objective.goal}, but robots measure costs")
    loop = _Loop(robot, study, worker=worker, deadline_s=deadline_s)
    with _progress(console) as progress:
        bar = progress.add_task(robot.name, total=trials, best="no cost yet")
        while loop.spent < trials:
            try:
                finished = loop.trial()
            except StudyClosed:
                break
            except KeyboardInterrupt:
                return Report(tuple(loop.finished), interrupted=True)
            best = Report(tuple(loop.finished)).best
            if best is not None and best.measurement is not None:
                progress.update(bar, best=f"best {best.measurement.cost:.6g}")
            progress.update(bar, completed=loop.spent)
            if on_trial is not None:
                on_trial(finished)
    return Report(tuple(loop.finished))


@dataclass
class _Loop:
    """One robot at work: what it has finished, and how often in a row it faulted."""

    robot: Robot
    study: Study
    worker: str | None = field(kw_only=True)
    deadline_s: float | None = field(kw_only=True)
    finished: list[Finished] = field(default_factory=list)
    faults: int = 0

    @property
    def spent(self) -> int:
        return sum(trial.outcome is not Outcome.LOST for trial in self.finished)

    def trial(self) -> Finished:
        if not (readiness := self.robot.ready()):
            raise RobotFault(f"{self.robot.name} is not ready: {readiness.reason or 'it gives no reason'}")
        ended = self._tell(self.study.ask(worker=self.worker))
        self.finished.append(ended)
        self.faults = self.faults + 1 if ended.outcome is Outcome.LOST else 0
        if self.faults == MAX_FAULTS:
            raise RobotFault(f"{self.robot.name} faulted {MAX_FAULTS} times in a row, lastly: {ended.reason}")
        return ended

    def _tell(self, trial: TrialHandle) -> Finished:
        try:
            with deadline(self.deadline_s):
                measurement = self.robot.evaluate(trial.point, seed=trial.number)
        except Infeasible as error:
            trial.fail(reason=_reason(error))
            return Finished(trial.number, trial.point, Outcome.FAILED, reason=str(error))
        except RobotFault as error:
            self.robot.safe_stop()
            trial.lose(reason=_reason(error))
            return Finished(trial.number, trial.point, Outcome.LOST, reason=str(error))
        except KeyboardInterrupt:
            self._break_off(trial, "stopped by the operator")
            raise
        except Exception as error:
            self._break_off(trial, f"{type(error).__name__}: {error}")
            raise
        point = trial.point if measurement.executed is None else measurement.executed
        try:
            trial.tell(cost=measurement.cost, metrics=measurement.metrics, point=measurement.executed)
        except InvalidRequest as error:
            # The robot measured nonsense, such as NaN. That says nothing about the point; the trial must not stay open.
            self._break_off(trial, str(error))
            raise
        return Finished(trial.number, point, Outcome.COMPLETED, measurement)

    def _break_off(self, trial: TrialHandle, reason: str) -> None:
        self.robot.safe_stop()
        # What broke the run off is to be seen, not that the service could not be told: the lease runs out anyway.
        with contextlib.suppress(GeodromeError):
            trial.lose(reason=reason[:LONGEST_REASON])


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:LONGEST_REASON]


def _progress(console: Console | None) -> Progress:
    return Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
        console=console,
        disable=console is None,
    )
