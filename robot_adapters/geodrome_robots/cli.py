"""``geodrome robot run | check | list`` and ``geodrome demo``; what is slow to import is imported where it is used."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from geodrome_robots.report import Report

app = typer.Typer(help="Let a robot take part in a study.", no_args_is_help=True)


@app.command("run")
def run_robot(
    name: Annotated[str, typer.Argument(help="A built-in robot, or your own as module:Class or file.py:Class.")],
    *,
    url: Annotated[
        str | None, typer.Option(envvar="GEODROME_URL", help="The service; http://127.0.0.1:8100 if not given.")
    ] = None,
    study: Annotated[str | None, typer.Option(help="Made if there is none; the robot's name if not given.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="How many to complete now.")] = 40,
    worker: Annotated[str | None, typer.Option(help="Who asks; a name of its own if not given.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the run ended that wrote the journal: tell, run, ask.")
    ] = False,
    journal: Annotated[
        Path | None, typer.Option(help="Keeps results until the service has them; STUDY.journal if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the study, if it is made.")] = 0,
    kernel: Annotated[str | None, typer.Option(help="Of the study, by its type; auto if not given.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Of the terms of the cost; tasks of the paper have balanced and printed.")
    ] = None,
    deadline_s: Annotated[
        float | None, typer.Option(min=0.001, help="How long one trial may take, in seconds; longer ones have failed.")
    ] = None,
    ready_s: Annotated[float, typer.Option(min=0.0, help="How long to wait for a robot that is not ready, s.")] = 60.0,
    check_noise: Annotated[
        bool, typer.Option(help="Measure the first point of a new study once more after the second.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run a robot in a study: ask, evaluate, tell.

    Ctrl-C stops the robot and tells its trial as lost. Whatever ends the run, a result that the service may not have is
    in the journal, and --resume tells it.
    """
    from geodrome import Client, GeodromeError, RobotFault

    from geodrome_robots.journal import Journal
    from geodrome_robots.loop import Limits
    from geodrome_robots.opening import open_study
    from geodrome_robots.registry import UnknownRobot, load
    from geodrome_robots.runner import run
    from geodrome_robots.signals import terminated_as_interrupt

    options = {} if weights is None else {"weights": weights}
    try:
        robot = load(name, **options)
    except UnknownRobot as error:
        _stop(str(error), code=2)
    try:
        with Client(url) as client, terminated_as_interrupt():
            loaded = open_study(client, robot, name=study or robot.name, kernel=kernel, seed=seed, if_exists="load")
            with Journal(journal or Path(f"{loaded.name}.journal"), worker=worker, resume=resume) as kept:
                report = run(
                    robot,
                    loaded,
                    trials,
                    worker=kept.worker,
                    journal=kept,
                    limits=Limits(trial_s=deadline_s, ready_s=ready_s),
                    check_noise=check_noise and not sum(dict(loaded.record.counts).values()),
                    console=Console(stderr=True),
                )
    except (GeodromeError, RobotFault, ValueError, OSError) as error:  # OSError: the journal cannot be written
        _stop(str(error))
    finally:
        robot.close()
    if as_json:
        typer.echo(json.dumps(_as_dict(report, study=loaded.name)))
    else:
        _tell(report, study=loaded.name)
    if report.interrupted:
        raise typer.Exit(130)


@app.command("check")
def check(
    name: Annotated[str, typer.Argument(help="A built-in robot, or your own as module:Class or file.py:Class.")],
    *,
    seed: Annotated[int, typer.Option(min=0, help="Of the random points that are tried.")] = 0,
) -> None:
    """Run a robot a few times without any service, and tell every rule that it breaks."""
    from geodrome_robots.conformance import RobotDefect, check_robot
    from geodrome_robots.registry import UnknownRobot, load

    try:
        robot = load(name)
    except UnknownRobot as error:
        _stop(str(error), code=2)
    try:
        check_robot(robot, seed=seed)
    except RobotDefect as error:
        _stop(str(error))
    finally:
        robot.close()
    typer.echo(f"{name} keeps every rule of a robot")


@app.command("list")
def list_robots(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print everything they say about themselves.")] = False
) -> None:
    """List the robots that come with Geodrome."""
    from geodrome_robots.registry import ROBOTS, load

    robots = {name: load(name) for name in ROBOTS}
    if as_json:
        listed = [
            {"name": name, "class": ROBOTS[name], "space": dict(robot.space), "description": robot.describe()}
            for name, robot in robots.items()
        ]
        typer.echo(json.dumps(listed))
        return
    table = Table("name", "model", "space", "cost")
    for name, robot in robots.items():
        described = robot.describe()
        table.add_row(name, described["model"], robot.space["type"], described["cost"]["meaning"])
    Console().print(table)


def demo(
    *,
    trials: Annotated[int, typer.Option(min=6, help="How many, for each method; the first 5 need no model.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Of the study and of the random search.")] = 0,
    directory: Annotated[Path, typer.Option(help="Where database, log and plot go.")] = Path("demo"),
) -> None:
    """Tune a simulated Panda against a server of its own, and compare with random search."""
    from geodrome import GeodromeError, RobotFault

    from geodrome_robots.demo import ServerDidNotStart, demonstrate

    try:
        demonstrate(trials=trials, seed=seed, directory=directory)
    except (GeodromeError, RobotFault, ServerDidNotStart) as error:
        _stop(str(error))
    except KeyboardInterrupt:
        _stop("stopped by the operator", code=130)


def _tell(report: Report, *, study: str) -> None:
    from geodrome.schemas import Outcome

    counts = ", ".join(f"{report.count(outcome)} {outcome}" for outcome in Outcome if report.count(outcome))
    typer.echo(f"study {study}: {counts or 'no trials'}{' (interrupted)' if report.interrupted else ''}")
    if (noise := report.noise) is not None:
        said = f"{noise.std:.3g} is the noise, going by two measurements" if noise.std else "the same to the last digit"
        typer.echo(f"measured again: {noise.first:.6g} and, after another point, {noise.again:.6g}: {said}")
    if report.best is not None and report.best.measurement is not None:
        typer.echo(f"best cost {report.best.measurement.cost:.6g} at {json.dumps(report.best.point)}")


def _as_dict(report: Report, *, study: str) -> dict[str, Any]:
    return {
        "study": study,
        "interrupted": report.interrupted,
        "best": None if report.best is None else asdict(report.best),
        "noise": None if report.noise is None else {**asdict(report.noise), "std": report.noise.std},
        "trials": [asdict(trial) for trial in report.trials],
    }


def _stop(message: str, *, code: int = 1) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)
