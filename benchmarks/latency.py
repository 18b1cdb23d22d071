"""Milliseconds until an answer: of looking at a very large study, and of a tell while suggestions are computed.

    python benchmarks/latency.py [--quick] [--databases …] [--trials N] [--requests N] [--json FILE]

One client sends one request after the other. *Looking* is at a study with so many observations: the study itself, its
best point (after the first look, which computes the recommendation), pages of its trials and events anywhere in it,
and single trials. *Telling* goes to a small study while sixteen others wait for suggestions from models of 200
observations. Times include HTTP and the SDK.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import geodrome
import report
import servers
from rich.console import Console
from rich.table import Table

TRIALS, QUICK_TRIALS = 100_000, 2_000
REQUESTS, QUICK_REQUESTS = 300, 50

BATCH = 1_000
ASKS, OBSERVATIONS = 16, 200

SPACE = geodrome.Sphere(dim=3)


def main() -> None:
    """Measure, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK_TRIALS} trials, {QUICK_REQUESTS} requests of each kind")
    parser.add_argument("--databases", nargs="*", choices=servers.DATABASES, default=servers.DATABASES)
    parser.add_argument("--trials", type=int, metavar="N", help="of the large study")
    parser.add_argument("--requests", type=int, metavar="N", help="of each kind")
    arguments = parser.parse_args()
    trials = arguments.trials or (QUICK_TRIALS if arguments.quick else TRIALS)
    requests = arguments.requests or (QUICK_REQUESTS if arguments.quick else REQUESTS)
    rows: list[dict[str, Any]] = []
    for kind in arguments.databases:
        with servers.empty_database(kind) as database, servers.server(database) as server:
            rows += measured(server.url, kind, trials, requests)
    totals = {
        "looking_p99_ms": max(row["p99_ms"] for row in rows if row["request"] != "tell"),
        "tell_p99_ms": max(row["p99_ms"] for row in rows if row["request"] == "tell"),
    }
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def measured(url: str, kind: str, trials: int, requests: int) -> Iterator[dict[str, Any]]:
    """A row for each kind of request; printed, too, as soon as it is there."""
    with geodrome.Client(url, timeout_s=600) as client:
        large = filled(client, "large", trials)
        large.best()
        for name, send in looking(large, trials).items():
            yield row(kind, trials, name, [timed(send) for _ in range(requests)])
        with ThreadPoolExecutor(ASKS) as robots:
            asks = [robots.submit(filled(client, f"busy-{number}", OBSERVATIONS).ask) for number in range(ASKS)]
            small = filled(client, "small", 1)
            times = []
            while not all(ask.done() for ask in asks) and len(times) < requests:
                [trial] = small.add_all([{"point": point()}])
                times.append(timed(lambda number=trial.number: small.tell(number, cost=1.0)))
        yield row(kind, trials, "tell", times)


def looking(study: geodrome.Study, trials: int) -> dict[str, Callable[[], object]]:
    """The requests that only read."""

    def anywhere() -> int:
        return random.randrange(trials)

    return {
        "study": study.refresh,
        "best": study.best,
        "page of trials": lambda: list(islice(study.trials(after=anywhere()), 100)),
        "page of one state": lambda: list(islice(study.trials(state="completed", after=anywhere()), 100)),
        "page of events": lambda: list(islice(study.events(after=anywhere()), 100)),
        "trial": lambda: study.trial(1 + anywhere()),
    }


def filled(client: geodrome.Client, name: str, count: int) -> geodrome.Study:
    """A study with so many observations."""
    study = client.create_study(name, space=SPACE)
    known = ({"point": point(), "cost": random.random()} for _ in range(count))
    while batch := list(islice(known, BATCH)):
        study.add_all(batch)
    return study


def point() -> list[float]:
    """A random direction."""
    numbers = [random.gauss(0, 1) for _ in range(4)]
    length = sum(number**2 for number in numbers) ** 0.5
    return [number / length for number in numbers]


def timed(send: Callable[[], object]) -> float:
    """How many seconds it takes."""
    begin = time.monotonic()
    send()
    return time.monotonic() - begin


def row(kind: str, trials: int, request: str, times: list[float]) -> dict[str, Any]:
    """What is written of one kind of request."""
    out = {
        "method": "geodrome",
        "database": kind,
        "n": trials,
        "request": request,
        "requests": len(times),
        "p50_ms": 1e3 * statistics.median(times),
        "p99_ms": 1e3 * statistics.quantiles(times, n=100, method="inclusive")[-1],
    }
    print(", ".join(f"{key} {value}" for key, value in out.items()), flush=True)
    return out


def show(rows: list[dict[str, Any]], totals: dict[str, float]) -> None:
    """Prints a table, and the summary."""
    table = Table("database", "request", "requests", "p50 ms", "p99 ms")
    for one in rows:
        numbers = (f"{one[name]:.1f}" for name in ("p50_ms", "p99_ms"))
        table.add_row(one["database"], one["request"], str(one["requests"]), *numbers)
    Console().print(table)
    for name, value in totals.items():
        print(f"{name} = {value:.1f}")


if __name__ == "__main__":
    main()
