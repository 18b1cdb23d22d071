"""Simple regret of Geodrome and of others on functions with known optima: methods x problems x seeds.

    python benchmarks/regret.py [--quick] [--methods NAME …] [--spaces NAME …] [--functions NAME …] [--seeds FROM:TO]
        [--evaluations N] [--workers N | --scheduler tcp://HOST:PORT] [--results DIRECTORY]

Each run is one method on one function with one seed: the same five random points for all, then one point after the
other. ``regret`` is the best cost so far less the optimum; ``ask_cpu_s`` the CPU time of one ask, fit and search
together, on one thread. Runs go to workers of a Dask cluster, two processes here if no scheduler is named.

Spaces of robots are called ``robot:orientation`` and so on, their functions ``balanced`` and ``printed``. Their optimum
is not known, and an infeasible trial has no cost: both are NaN.

A run that is done is appended to ``regret-METHOD.csv`` at once, so that the benchmark goes on where it was stopped;
runs that have as many evaluations as are asked for are not made again. ``versions.csv`` beside it says which versions
made a method's runs, and when. Those who look for better priors, starts or searches use seeds below 100.

Peers are best in an environment of their own; those that are not installed cannot be named:

    pip install -c constraints.txt -e '.[core,robots]' rich threadpoolctl distributed optuna ax-platform cma

Vizier needs versions that others do not work with, and so one more environment, which has in place of the last three:

    'google-vizier[jax]==0.1.24' jax==0.5.3 jaxlib==0.5.3 flax==0.10.6 cvxpy evojax
"""

from __future__ import annotations

import csv
import itertools
import platform
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import costs
import report
from distributed import Client, LocalCluster, as_completed
from regret_methods import METHODS
from regret_runs import Run, in_worker

RESULTS = Path(__file__).parent / "results"

COLUMNS = ("method", "space", "function", "seed", "evaluation", "cost", "best", "regret", "ask_cpu_s")

VERSIONS = "versions.csv"

SPACES = ("sphere3", "sphere5", "rotation3", "spd2", "hyperbolic3")
"""The paper's."""

FUNCTIONS = ("ackley", "rosenbrock", "levy")

SEEDS, QUICK_SEEDS = range(10), range(1)

EVALUATIONS, QUICK_EVALUATIONS = 100, 8


def main() -> int:
    """Run what is not there yet; what went wrong counts as failure at the end."""
    arguments = parse()
    wanted = [
        Run(method, space, function, seed)
        for seed, space, function, method in itertools.product(
            arguments.seeds, arguments.spaces, arguments.functions, arguments.methods
        )
        if space in (METHODS[method].spaces or costs.SPACES) and function in costs.names(space)
    ]
    there = completed(arguments.results, wanted, arguments.evaluations)
    missing = [run for run in wanted if run not in there]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} runs are there", flush=True)
    if not missing:
        return 0
    note_versions(arguments.results, sorted({run.method for run in missing}))
    failures = 0
    with cluster(arguments) as client:
        for run, rows in results(client, missing, arguments.evaluations):
            if isinstance(rows, Exception):
                failures += 1
                print(f"{run}: {type(rows).__name__}: {rows}", file=sys.stderr, flush=True)
                continue
            append(arguments.results, run.method, rows)
            print(f"{run}: regret {rows[-1]['regret']}, {sum(float(r['ask_cpu_s']) for r in rows):.1f} s", flush=True)
    return min(failures, 1)


def parse() -> Any:
    """The command line."""
    parser = report.parser(__doc__, quick=f"{QUICK_EVALUATIONS} evaluations, Ackley's function on S³, one seed")
    usable = [name for name, method in METHODS.items() if method.is_installed]
    parser.add_argument("--methods", nargs="*", choices=usable, default=usable, metavar="NAME", help=", ".join(usable))
    parser.add_argument("--spaces", nargs="*", choices=costs.SPACES, metavar="NAME", help=", ".join(SPACES))
    parser.add_argument("--functions", nargs="*", metavar="NAME", help=", ".join(FUNCTIONS))
    parser.add_argument("--seeds", type=numbers, metavar="FROM:TO", help="the last one is not among them; 0:10")
    parser.add_argument("--evaluations", type=int, metavar="N", help=str(EVALUATIONS))
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes here; 2")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that runs already")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIRECTORY", help="benchmarks/results")
    arguments = parser.parse_args()
    known = sorted({function for space in costs.SPACES for function in costs.names(space)})
    if unknown := [function for function in arguments.functions or () if function not in known]:
        parser.error(f"there is no function {unknown[0]!r}; there are {', '.join(known)}")
    quick = arguments.quick
    arguments.spaces = arguments.spaces or (SPACES[:1] if quick else SPACES)
    arguments.functions = arguments.functions or (FUNCTIONS[:1] if quick else FUNCTIONS)
    arguments.seeds = arguments.seeds or (QUICK_SEEDS if quick else SEEDS)
    arguments.evaluations = arguments.evaluations or (QUICK_EVALUATIONS if quick else EVALUATIONS)
    return arguments


def numbers(text: str) -> range:
    """``FROM:TO`` as a range."""
    first, _, end = text.partition(":")
    return range(int(first), int(end))


def cluster(arguments: Any) -> Client:
    """Workers, which have one thread each and find this benchmark's modules."""
    if arguments.scheduler is None:
        local = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
        client = Client(local)
    else:
        client = Client(arguments.scheduler)
    here = Path(__file__).parent
    for module in ("spaces", "problems", "costs", "charts", "ask_peers", "report", "regret_methods", "regret_runs"):
        client.upload_file(str(here / f"{module}.py"))
    return client


def results(
    client: Client, runs: Sequence[Run], evaluations: int
) -> Iterator[tuple[Run, list[dict[str, Any]] | Exception]]:
    """Each run with its rows, or with what went wrong, as they come."""
    futures = {client.submit(in_worker, run, evaluations, pure=False, retries=0): run for run in runs}
    for future in as_completed(futures):
        run = futures.pop(future)
        yield run, future.exception() or future.result()
        future.release()


def file_of(directory: Path, method: str) -> Path:
    """Where a method's runs are."""
    return directory / f"regret-{method}.csv"


def append(directory: Path, method: str, rows: Iterable[dict[str, Any]]) -> None:
    """Writes a run."""
    directory.mkdir(parents=True, exist_ok=True)
    path = file_of(directory, method)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def read(directory: Path, method: str) -> dict[Run, list[dict[str, Any]]]:
    """Rows of a method's runs, as text."""
    path = file_of(directory, method)
    runs: dict[Run, list[dict[str, Any]]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["ask_cpu_s"]:  # else it was cut off while it was written
                    run = Run(row["method"], row["space"], row["function"], int(row["seed"]))
                    runs.setdefault(run, []).append(row)
    return runs


def completed(directory: Path, wanted: Collection[Run], evaluations: int) -> set[Run]:
    """Wanted runs that have as many evaluations; shorter ones, and those cut off, are taken out of the files."""
    out: set[Run] = set()
    for method in {run.method for run in wanted}:
        runs, path = read(directory, method), file_of(directory, method)
        short = {run for run in wanted if run in runs and len(runs[run]) < evaluations}
        is_cut = path.exists() and not path.read_bytes().endswith(b"\n")
        short.update([*runs][-1:] if is_cut else [])
        if short or is_cut:
            path.unlink()
            for run, rows in runs.items():
                if run not in short:
                    append(directory, method, rows)
        out |= {run for run in wanted if run in runs} - short
    return out


def note_versions(directory: Path, methods: Iterable[str]) -> None:
    """Adds a line for each method, with the versions of what its runs depend on."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / VERSIONS
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(["method", "begun", "python", "machine", "packages"])
        for method in methods:
            found = []
            for package in dict.fromkeys(["geodrome", "torch", "numpy", METHODS[method].package]):
                with suppress(PackageNotFoundError):
                    found += [f"{package} {version(package)}"] if package else []
            begun = datetime.now(UTC).isoformat(timespec="seconds")
            writer.writerow([method, begun, platform.python_version(), platform.machine(), "; ".join(found)])


if __name__ == "__main__":
    sys.exit(main())
