"""Geodrome beside random search on the orientation task, through a real server and the SDK.

    python benchmarks/orientation.py [--quick] [--json FILE]

For each weighting (``balanced``, ``printed``) and each seed (0, 1, 2), both methods get 40 trials from the same start
posture. The seed is that of the study and of the random search. Quick: balanced, seed 0, 20 trials. ``cpu_s`` is the
CPU time of this process and of the server with its workers during the run, the simulation included.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import report
from geodrome import Client
from geodrome_robots.demo import best_so_far, random_search, server
from geodrome_robots.opening import open_study
from geodrome_robots.runner import run
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.orientation import Orientation
from rich.console import Console
from rich.table import Table


def main() -> None:
    """Measure, print and write."""
    arguments = report.arguments(__doc__, quick="one weighting, one seed, 20 trials")
    weightings, seeds, trials = (["balanced"], [0], 20) if arguments.quick else (["balanced", "printed"], [0, 1, 2], 40)
    with tempfile.TemporaryDirectory() as directory, server(Path(directory)) as url, Client(url) as client:
        rows = list(measure(client, weightings=weightings, seeds=seeds, trials=trials))
    show(rows, summary(rows))
    report.write(arguments.json, rows=rows, summary=summary(rows))


def measure(
    client: Client, *, weightings: Sequence[str], seeds: Sequence[int], trials: int
) -> Iterator[dict[str, Any]]:
    """A row for each weighting, seed and method."""
    for weighting, seed in itertools.product(weightings, seeds):
        robot = Orientation(weighting)
        robot.evaluate([1.0, 0.0, 0.0, 0.0], seed=0, stop=Stop())  # makes the arm outside the timing
        searches = {
            "geodrome": partial(ask_and_tell, client, robot, trials, seed=seed),
            "random": partial(random_search, robot, trials, seed=seed),
        }
        for method, search in searches.items():
            yield {
                "method": method,
                "space": "rotation3",
                "n": trials,
                "weights": weighting,
                "seed": seed,
                **_timed(search),
            }


def ask_and_tell(client: Client, robot: Orientation, trials: int, *, seed: int) -> list[float | None]:
    """Costs in the order of the trials, None where the arm met a joint limit."""
    study = open_study(client, robot, name=f"{robot.name}-{robot.weighting}-seed{seed}", seed=seed)
    report = run(robot, study, trials)
    return [None if trial.measurement is None else trial.measurement.cost for trial in report.trials]


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How often geodrome's best beats random search's, over the pairs of equal weighting and seed."""
    pairs: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        pairs.setdefault((row["weights"], row["seed"]), {})[row["method"]] = row["best_cost"]
    wins = [pair["geodrome"] < pair["random"] for pair in pairs.values()]
    return {"pairs": len(wins), "geodrome_wins": sum(wins)}


def show(rows: Sequence[dict[str, Any]], totals: dict[str, Any]) -> None:
    """Print the rows as a table, and the summary."""
    table = Table("weights", "seed", "method", "trials", "infeasible", "best cost", "wall s", "CPU s")
    for row in rows:
        numbers = [f"{row['best_cost']:.4f}", f"{row['wall_s']:.1f}", f"{row['cpu_s']:.1f}"]
        table.add_row(row["weights"], str(row["seed"]), row["method"], str(row["n"]), str(row["infeasible"]), *numbers)
    Console().print(table)
    print(f"geodrome beats random search in {totals['geodrome_wins']} of {totals['pairs']} pairs")


def _timed(search: Callable[[], list[float | None]]) -> dict[str, Any]:
    cpu, wall = _cpu_s(), time.perf_counter()
    costs = search()
    return {
        "best_cost": best_so_far(costs)[-1],
        "infeasible": costs.count(None),
        "wall_s": time.perf_counter() - wall,
        "cpu_s": _cpu_s() - cpu,
        "costs": costs,
    }


def _cpu_s() -> float:
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(time.user + time.system for time in times)


if __name__ == "__main__":
    main()
