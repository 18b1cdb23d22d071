"""Pairs of ask and tell per second, of many clients at once: Geodrome over HTTP beside Optuna on the same databases.

    python benchmarks/load.py [--quick] [--databases …] [--trials N …] [--clients N …] [--seconds S] [--json FILE]

Each client is a process that asks for a point and tells its cost, again and again, on one study that has so many
trials already. Nobody fits a model: Geodrome's points are those of a large initial design, Optuna's come from its
``RandomSampler`` through ``RDBStorage``. Rates are pairs per second of all clients together; latencies are those of one
pair, in milliseconds. ``growth_100_to_10000`` is Geodrome's rate at 100 trials over that at 10,000, the worst of all.
The rows ``bare`` are of a server that repeats one answer and does nothing else: over HTTP, with these clients beside it
on the same processors, no service is faster.

PostgreSQL is that of ``GEODROME_TEST_POSTGRES``, or on 127.0.0.1:5432. Optuna is left out where it is not installed; an
environment of their own is best:

    pip install -c constraints.txt -e '.[service]' optuna psycopg2-binary threadpoolctl
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice, product
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any

import bare
import geodrome
import report
import servers
from rich.console import Console
from rich.table import Table

TRIALS, QUICK_TRIALS = (100, 1_000, 10_000), (100,)
CLIENTS, QUICK_CLIENTS = (1, 8, 64), (8,)
SECONDS, QUICK_SECONDS = 10.0, 3.0

DIM = 6
SPACE = geodrome.Euclidean(dim=DIM, bounds=((-1.0, 1.0),) * DIM)
STUDY = "load"
SIZE = 100_000
"""Of the initial design: larger than all that is asked."""

BATCH = 1_000

Pair = Callable[[], None]
"""One ask and its tell."""

PROCESSES = multiprocessing.get_context("fork")


def main() -> None:
    """Measure, print and write."""
    parser = report.parser(__doc__, quick="8 clients, 100 trials, 3 s each")
    parser.add_argument("--databases", nargs="*", choices=servers.DATABASES, default=servers.DATABASES)
    parser.add_argument("--trials", nargs="*", type=int, metavar="N", help="that the study has already")
    parser.add_argument("--clients", nargs="*", type=int, metavar="N", help="at once")
    parser.add_argument("--seconds", type=float, metavar="S", help="that each measurement takes")
    arguments = parser.parse_args()
    trials = arguments.trials or (QUICK_TRIALS if arguments.quick else TRIALS)
    clients = arguments.clients or (QUICK_CLIENTS if arguments.quick else CLIENTS)
    seconds = arguments.seconds or (QUICK_SECONDS if arguments.quick else SECONDS)
    rows = [row for kind in arguments.databases for row in measured(kind, trials, clients, seconds)]
    totals = summary(rows)
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def measured(kind: str, trials: list[int], clients: list[int], seconds: float) -> Iterator[dict[str, Any]]:
    """A row for each method, size of study and number of clients; printed, too, as soon as it is there."""
    methods = {"geodrome": geodrome_study, "bare": bare_study}
    if importlib.util.find_spec("optuna"):
        methods["optuna"] = optuna_study
    for (method, prepare), count in product(methods.items(), trials):
        if method == "bare" and (kind, count) != (servers.DATABASES[0], trials[0]):
            continue  # it has no database and no trials
        for number in clients:
            try:
                with servers.empty_database(kind) as database, prepare(database, count) as connect:
                    times = run(connect, number, seconds)
            except CannotBegin as error:
                if method == "geodrome":
                    raise
                print(f"{method} on {kind} is left out with {number} clients: {error}", flush=True)
                continue
            row = {
                "method": method,
                "database": kind,
                "n": count,
                "clients": number,
                "pairs_per_s": len(times) / seconds,
                "p50_ms": 1e3 * statistics.median(times),
                "p99_ms": 1e3 * statistics.quantiles(times, n=100, method="inclusive")[-1],
            }
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            yield row


@contextmanager
def geodrome_study(database: str, count: int) -> Iterator[Callable[[], Pair]]:
    """A server with a study of ``count`` trials, and how a client connects to it."""
    with filled_server(database, count) as url:
        yield partial(geodrome_pair, url)


@contextmanager
def bare_study(database: str, count: int) -> Iterator[Callable[[], Pair]]:
    """A server that repeats what a real one says, and how the same client connects to it."""
    with filled_server(database, count) as url, bare.bare_server(url, STUDY) as repeating:
        yield partial(geodrome_pair, repeating)


@contextmanager
def filled_server(database: str, count: int) -> Iterator[str]:
    """The URL of a server with a study of ``count`` trials."""
    with servers.server(database) as server:
        with geodrome.Client(server.url) as client:
            study = client.create_study(STUDY, space=SPACE, initial_design={"size": SIZE})
            known = ({"point": point(), "cost": random.random()} for _ in range(count))
            while batch := list(islice(known, BATCH)):
                study.add_all(batch)
            warm_up(study)
        yield server.url


def geodrome_pair(url: str) -> Pair:
    """How a client of the study makes a pair."""
    study = geodrome.Client(url).study(STUDY)

    def pair() -> None:
        trial = study.ask()
        assert trial.record.origin.kind == "initial"
        trial.tell(cost=cost(trial.point))

    return pair


def warm_up(study: geodrome.Study) -> None:
    """The first ask waits until a worker has imported torch."""
    study.ask().tell(cost=0.0)


@contextmanager
def optuna_study(database: str, count: int) -> Iterator[Callable[[], Pair]]:
    """A study of ``count`` trials in a database, and how a client connects to it."""
    import optuna  # noqa: PLC0415 (a peer that need not be there)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    url = database.replace("postgresql://", "postgresql+psycopg2://")
    names = [f"x{index}" for index in range(DIM)]
    ranges = {name: optuna.distributions.FloatDistribution(-1.0, 1.0) for name in names}

    def load() -> optuna.Study:
        storage = optuna.storages.RDBStorage(
            url, engine_kwargs={"connect_args": {"timeout": 60}} if "sqlite" in url else None
        )
        return optuna.create_study(
            storage=storage, study_name=STUDY, sampler=optuna.samplers.RandomSampler(), load_if_exists=True
        )

    study = load()
    study.add_trials(
        optuna.trial.create_trial(
            params=dict(zip(names, point(), strict=True)), distributions=ranges, value=random.random()
        )
        for _ in range(count)
    )

    def connect() -> Pair:
        study = load()

        def pair() -> None:
            trial = study.ask(ranges)
            study.tell(trial, cost(list(trial.params.values())))

        return pair

    yield connect


def point() -> list[float]:
    """A random one."""
    return [random.uniform(-1, 1) for _ in range(DIM)]


def cost(numbers: list[float]) -> float:
    """Any."""
    return sum(number**2 for number in numbers)


class CannotBegin(Exception):
    """A client got no connection; a database has not enough of them for everybody."""


def run(connect: Callable[[], Pair], clients: int, seconds: float) -> list[float]:
    """Seconds that each pair took which ended in time, of so many processes that begin together.

    Raises:
        CannotBegin: One of them failed before.
    """
    barrier = PROCESSES.Barrier(clients)
    results: Any = PROCESSES.Queue()
    processes = [PROCESSES.Process(target=work, args=(connect, barrier, seconds, results)) for _ in range(clients)]
    for process in processes:
        process.start()
    outcomes = [results.get() for _ in processes]
    for process in processes:
        process.join()
    if errors := [outcome for outcome in outcomes if isinstance(outcome, str)]:
        raise CannotBegin(errors[0])
    return [taken for outcome in outcomes for taken in outcome]


def work(connect: Callable[[], Pair], barrier: Barrier, seconds: float, results: Any) -> None:
    """One client: a pair that does not count, and then as many as there is time for."""
    try:
        pair = connect()
        pair()
        barrier.wait()
    except BrokenBarrierError:  # another one failed
        results.put([])
        return
    except Exception as error:  # noqa: BLE001 - whatever the peer's database says
        results.put(str(error).partition("\n")[0])
        barrier.abort()
        return
    times: list[float] = []
    begin = now = time.monotonic()
    while now < begin + seconds:
        before = now
        pair()
        now = time.monotonic()
        times.append(now - before)
    results.put(times if now <= begin + seconds or len(times) == 1 else times[:-1])


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Geodrome's rate over Optuna's with 8 clients, and how much it falls as studies grow; the worst of all."""
    rates = {(row["method"], row["database"], row["n"], row["clients"]): row["pairs_per_s"] for row in rows}
    out: dict[str, float] = {}
    for n in (1_000, 10_000):
        ratios = [
            rate / rates["optuna", kind, n, 8]
            for (method, kind, count, clients), rate in rates.items()
            if (method, count, clients) == ("geodrome", n, 8) and ("optuna", kind, n, 8) in rates
        ]
        if ratios:
            out[f"ratio_at_{n}"] = min(ratios)
    growths = [
        rate / rates["geodrome", kind, 10_000, clients]
        for (method, kind, count, clients), rate in rates.items()
        if (method, count) == ("geodrome", 100) and ("geodrome", kind, 10_000, clients) in rates
    ]
    if growths:
        out["growth_100_to_10000"] = max(growths)
    return out


def show(rows: list[dict[str, Any]], totals: dict[str, float]) -> None:
    """Prints a table, and the summary."""
    table = Table("method", "database", "trials", "clients", "pairs/s", "p50 ms", "p99 ms")
    for row in rows:
        table.add_row(
            row["method"],
            row["database"],
            str(row["n"]),
            str(row["clients"]),
            *(f"{row[name]:.1f}" for name in ("pairs_per_s", "p50_ms", "p99_ms")),
        )
    Console().print(table)
    for name, value in totals.items():
        print(f"{name} = {value:.2f}")


if __name__ == "__main__":
    main()
