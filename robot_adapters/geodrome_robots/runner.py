"""A run: one robot takes part in a study until it has done its trials."""

from __future__ import annotations

from collections.abc import Callable

from geodrome import Study, StudyClosed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from geodrome_robots import journal as journals
from geodrome_robots.journal import Journal
from geodrome_robots.loop import Limits, Loop
from geodrome_robots.report import Finished, Report
from geodrome_robots.robot import Robot

NO_LIMITS = Limits()


def run(
    robot: Robot,
    study: Study,
    trials: int,
    *,
    worker: str | None = None,
    journal: Journal | None = None,
    limits: Limits = NO_LIMITS,
    check_noise: bool = False,
    on_trial: Callable[[Finished], None] | None = None,
    console: Console | None = None,
) -> Report:
    """Let ``robot`` take part in ``study`` until ``trials`` more are completed or failed, or the study is closed.

    `Infeasible` is told as failed, `RobotFault` as lost: a lost trial does not count, and its point comes again. On
    Ctrl-C, and on any other exception of the robot, the robot is stopped safely and the trial told as lost; Ctrl-C ends
    the run, the exception is raised again. While the robot runs, the trial's lease is extended; a trial that somebody
    takes away meanwhile is broken off.

    Args:
        robot: Evaluates the points; asked before each trial whether it is ready.
        study: Gives the points and takes the outcomes; its goal has to be to minimize, since robots measure costs.
        trials: How many.
        worker: Who asks. A worker that comes back under its name gets the trial that it left running.
        journal: Keeps results until the service has them. What it holds of this study is told first.
        limits: How long a trial may take, and a robot be not ready.
        check_noise: Whether the first point is measured again after the second; a second cost is kept in the study.
        on_trial: Called after each tell.
        console: Where the progress bar is drawn; None draws none.

    Raises:
        ValueError: The study maximizes; or a trial has a limit, and this is not the main thread of a Unix process.
        RobotFault: The robot is not ready, or faulted three times in a row.
        GeodromeError: The service refused, or did not answer.
    """
    if study.record.objective.goal != "minimize":
        raise ValueError(f"study {study.name} is to {study.record.objective.goal}, but robots measure costs")
    if journal is not None:
        journals.send(journal, study)
    loop = Loop(robot, study, worker=worker, journal=journal, limits=limits)
    with _progress(console) as progress:
        bar = progress.add_task(robot.name, total=trials, best="no cost yet")
        try:
            while loop.spent < trials:
                finished = loop.trial()
                if check_noise and loop.noise is None and len(loop.measured) == 2:
                    loop.measure_again()
                best = loop.report().best
                if best is not None and best.measurement is not None:
                    progress.update(bar, best=f"best {best.measurement.cost:.6g}")
                progress.update(bar, completed=loop.spent)
                if on_trial is not None:
                    on_trial(finished)
        except StudyClosed:
            pass
        except KeyboardInterrupt:
            return loop.report(interrupted=True)
    return loop.report()


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
