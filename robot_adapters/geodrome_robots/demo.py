"""A simulated Panda tunes its tool orientation against a server of its own, beside random search."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from geodrome import Client, Study, StudyExists
from rich.console import Console
from rich.progress import track

from geodrome_robots.opening import open_study
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.report import Report
from geodrome_robots.robot import Infeasible, Robot
from geodrome_robots.runner import run
from geodrome_robots.signals import terminated_as_interrupt
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.orientation import Orientation

START_TIMEOUT_S = 120.0  # a cold import of torch on a small machine takes most of a minute
STOP_TIMEOUT_S = 20.0


class ServerDidNotStart(RuntimeError):
    """The server ended, or did not say that it listens."""


def demonstrate(*, trials: int, seed: int, directory: Path) -> None:
    """Run the orientation robot through a server and by random search; plot and print what came out.

    Args:
        trials: Completed or failed, for each of the two.
        seed: Of the study and of the random search.
        directory: Gets the database, the server's log and the plot; earlier studies in it are kept.

    Raises:
        ServerDidNotStart: With the end of the server's log.
        GeodromeError: The server refused, or did not answer.
        KeyboardInterrupt: The operator broke it off.
    """
    directory.mkdir(parents=True, exist_ok=True)
    console = Console()
    robot = Orientation()
    with server(directory) as url:
        console.print(f"Geodrome listens on {url}")
        with Client(url) as client:
            study = _new_study(client, robot, seed)
            report = run(robot, study, trials, console=console)
    if report.interrupted:
        raise KeyboardInterrupt
    costs = [None if trial.measurement is None else trial.measurement.cost for trial in report.trials]
    searched = random_search(robot, trials, seed=seed, console=console)
    plot = directory / f"{study.name}.png"
    plot_convergence(plot, {"geodrome": best_so_far(costs), "random search": best_so_far(searched)})
    _print_best(console, report)
    # Plain prints: a script reads the last two lines, and rich would wrap or colour them.
    print(f"convergence plot: {plot}")  # noqa: T201
    print(f"geodrome best cost: {best_so_far(costs)[-1]:.6f}")  # noqa: T201
    print(f"random search best cost: {best_so_far(searched)[-1]:.6f}", flush=True)  # noqa: T201


@contextmanager
def server(directory: Path) -> Iterator[str]:
    """The address of a server with its database and log in ``directory``; it ends with the block.

    Raises:
        ServerDidNotStart: With the end of its log.
    """
    log = directory / "server.log"
    command = [sys.executable, "-m", "geodrome.cli", "serve", "--host", "127.0.0.1", "--port", "0"]
    command += ["--database", str(directory / "geodrome.db")]
    with log.open("w") as output, terminated_as_interrupt():
        # A session of its own: Ctrl-C is for the demo, which stops the server when the open trial is told.
        process = subprocess.Popen(  # noqa: S603 - our own program, no shell
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def random_search(robot: Robot, trials: int, *, seed: int, console: Console | None = None) -> list[float | None]:
    """Costs of ``trials`` uniform random points, None where a point is infeasible; no server takes part."""
    generator = np.random.default_rng(seed)
    space = parse_space(robot.space)
    points = [random_point(space, generator) for _ in range(trials)]
    costs: list[float | None] = []
    numbered = list(enumerate(points, start=1))
    for number, point in track(numbered, "random search", console=console, disable=console is None):
        try:
            costs.append(robot.evaluate(point, seed=number, stop=Stop()).cost)
        except Infeasible:
            costs.append(None)
    return costs


def best_so_far(costs: Sequence[float | None]) -> list[float]:
    """The lowest cost up to each trial; infinite while there is none."""
    return list(itertools.accumulate((np.inf if cost is None else cost for cost in costs), min))


def plot_convergence(path: Path, curves: dict[str, list[float]]) -> None:
    """Draw the lowest cost so far over the trials, one line for each method, into a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # no screen, and no pyplot state
    axes = figure.add_subplot()
    for label, values in curves.items():
        axes.step(np.arange(1, len(values) + 1), values, where="post", label=f"{label}: {values[-1]:.3f}")
    axes.set_xlabel("trial")
    axes.set_ylabel("lowest cost so far (dimensionless)")
    axes.set_title("Tool orientation of a Franka Panda")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)


def _new_study(client: Client, robot: Robot, seed: int) -> Study:
    """A study that begins at nothing: a demo that runs again does not go on with the old one."""
    for number in itertools.count(1):
        name = f"{robot.name}-seed{seed}" + (f"-{number}" if number > 1 else "")
        try:
            return open_study(client, robot, name=name, seed=seed)
        except StudyExists:
            continue
    raise AssertionError("count ended")


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if found := re.search(r"^Geodrome listens on (http://\S+)$", log.read_text(), flags=re.MULTILINE):
            return found[1]
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise ServerDidNotStart(f"the server ended with code {process.returncode}; its log says:\n{_tail(log)}")
    raise ServerDidNotStart(f"the server did not listen within {START_TIMEOUT_S:.0f} s; its log says:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return "\n".join(log.read_text().splitlines()[-20:])


def _print_best(console: Console, report: Report) -> None:
    from spatialmath import UnitQuaternion

    if (best := report.best) is None:
        console.print("No trial was completed.")
        return
    angle, axis = UnitQuaternion(best.point).angvec(unit="deg")
    vector = ", ".join(f"{component:.1f}" for component in angle * np.asarray(axis))
    quaternion = ", ".join(f"{component:.5f}" for component in best.point)
    console.print(f"Best orientation of panda_hand in panda_link0 (trial {best.number}):")
    console.print(f"  quaternion wxyz  [{quaternion}]", highlight=False, markup=False)
    console.print(f"  rotation vector  [{vector}] deg", highlight=False, markup=False)
