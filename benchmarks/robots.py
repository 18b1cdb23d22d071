"""Geodrome beside random search on the simulated robots, through a real server, the SDK and the runner.

    python benchmarks/robots.py [--quick] [--robots NAME …] [--weights NAME …] [--seeds N] [--trials N] [--kernel TYPE]
        [--json FILE]

For each robot, weighting and seed, both methods get as many trials; the seed is that of the study and of the random
search. Costs are the best of a run, and its median over the seeds. ``simulation_cpu_s`` is the CPU time that the robot
itself took in a run of Geodrome's.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import report
import servers
from geodrome import Client
from geodrome_robots.demo import best_so_far, random_search
from geodrome_robots.opening import open_study
from geodrome_robots.registry import ROBOTS, load
from geodrome_robots.robot import Measurement
from geodrome_robots.runner import run
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.task import Task
from rich.console import Console
from rich.table import Table

SEEDS, QUICK_SEEDS = 10, 1
TRIALS, QUICK_TRIALS = 30, 12


def main() -> None:
    """Measure, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK_TRIALS} trials of the orientation task, one seed")
    parser.add_argument("--robots", nargs="*", choices=ROBOTS, metavar="NAME", help="all, if not given")
    parser.add_argument("--weights", nargs="*", metavar="NAME", help="those that a robot has of them; else its first")
    parser.add_argument("--seeds", type=int, metavar="N", help=f"{SEEDS} if not given")
    parser.add_argument("--trials", type=int, metavar="N", help=f"{TRIALS} if not given")
    parser.add_argument("--kernel", metavar="TYPE", help="the service's default, if not given")
    arguments = parser.parse_args()
    names = arguments.robots or (["orientation"] if arguments.quick else list(ROBOTS))
    seeds = range(arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS))
    trials = arguments.trials or (QUICK_TRIALS if arguments.quick else TRIALS)
    robots = [robot for name in names for robot in weighted(name, arguments.weights)]
    rows = list(compare(robots, seeds=seeds, trials=trials, kernel=arguments.kernel))
    totals = summary(rows)
    show(totals)
    report.write(arguments.json, rows=rows, summary=totals)


def weighted(name: str, weights: Sequence[str] | None) -> list[Task]:
    """The robot of this name, with each of these weightings that it has."""
    robot = load(name)
    assert isinstance(robot, Task)
    chosen = [one for one in robot.weightings if one in weights] if weights else [robot.weighting]
    return [type(robot)(weights=one) for one in chosen]


def compare(
    robots: Sequence[Task], *, seeds: Sequence[int], trials: int, kernel: str | None
) -> Iterator[dict[str, Any]]:
    """A row for each robot, seed and method, on a server of their own."""
    with servers.empty_database("sqlite") as database, servers.server(database) as at, Client(at.url) as client:
        for robot, seed in itertools.product(robots, seeds):
            yield from one_seed(client, robot, seed, trials, kernel)


def one_seed(client: Client, robot: Task, seed: int, trials: int, kernel: str | None) -> Iterator[dict[str, Any]]:
    """A row for each method."""
    timed = Timed(robot)
    begin = time.perf_counter()
    name = f"{robot.name}-{robot.weighting}-seed{seed}"
    study = open_study(client, robot, name=name, kernel=kernel, seed=seed)
    found = run(timed, study, trials)
    wall_s = time.perf_counter() - begin
    costs = [None if trial.measurement is None else trial.measurement.cost for trial in found.trials]
    common = {"space": robot.name, "weights": robot.weighting, "seed": seed, "n": trials}
    for method, of_it, more in (
        ("geodrome", costs, {"simulation_cpu_s": timed.cpu_s, "wall_s": wall_s}),
        ("random", random_search(robot, trials, seed=seed), {}),
    ):
        row = {"method": method, **common, "best_cost": best_so_far(of_it)[-1], "infeasible": of_it.count(None), **more}
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        yield {**row, "costs": of_it}


class Timed:
    """A robot, and how much CPU time its trials took."""

    def __init__(self, robot: Task) -> None:
        self.robot = robot
        self.cpu_s = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.robot, name)

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """A trial, timed."""
        begin = time.process_time()
        try:
            return self.robot.evaluate(point, seed=seed, stop=stop)
        finally:
            self.cpu_s += time.process_time() - begin


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each robot: medians of the best costs, in how many seeds Geodrome's is the lower one, and the CPU time."""
    out: dict[str, Any] = {}
    for key, group in itertools.groupby(rows, key=lambda row: f"{row['space']} ({row['weights']})"):
        of_it = list(group)
        ours, others = ([r for r in of_it if r["method"] == method] for method in ("geodrome", "random"))
        out[key] = {
            "geodrome": statistics.median(row["best_cost"] for row in ours),
            "random": statistics.median(row["best_cost"] for row in others),
            "wins": sum(one["best_cost"] < other["best_cost"] for one, other in zip(ours, others, strict=True)),
            "seeds": len(ours),
            "infeasible": sum(row["infeasible"] for row in ours) / sum(row["n"] for row in ours),
            "simulation_cpu_s": statistics.median(row["simulation_cpu_s"] for row in ours),
        }
    return out


def show(totals: dict[str, Any]) -> None:
    """Prints a table."""
    table = Table("robot (weights)", "geodrome", "random", "wins", "infeasible", "simulation CPU s")
    for name, of_it in totals.items():
        costs = [f"{of_it[method]:.4f}" for method in ("geodrome", "random")]
        wins, share = f"{of_it['wins']} of {of_it['seeds']}", f"{100 * of_it['infeasible']:.0f} %"
        table.add_row(name, *costs, wins, share, f"{of_it['simulation_cpu_s']:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
