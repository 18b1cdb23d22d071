"""Kills the server, its workers and the database at random moments, while robots ask and tell: is anything lost?

    python benchmarks/faults.py [--quick] [--databases …] [--tells N] [--seed N] [--json FILE]

Eight robots, each a process with the SDK, work on two studies until so many tells are acknowledged; each cost is told
once and is unlike all others. Meanwhile something is killed with SIGKILL every few seconds, and started again: the
server, a process that computes, or every process of PostgreSQL, whose cluster is the script's own. Afterwards,

- ``lost`` counts acknowledged tells whose trial has not that cost;
- ``doubled`` counts costs that stand at several trials, or were stored by several events;
- ``stuck`` counts trials that are still queued or running once all leases have ended and the queue was asked for.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.synchronize import Event
from typing import Any

import geodrome
import psutil
import report
import servers
from rich.console import Console
from rich.table import Table

TELLS, QUICK_TELLS = 5_000, 300

LEAST_KILLS = 5

PAUSE_S, QUICK_PAUSE_S = (3.0, 12.0), (2.0, 6.0)
"""Between kills, at least and at most; a server that starts takes some 3 s."""

ROBOTS = ("filling",) * 6 + ("model",) * 2
"""The study of each: one of a large initial design, and one whose points come from a model."""

DESIGNS = {"filling": 100_000, "model": 5}

LEASE_S = 10.0

LONGEST_S = 3_600.0
"""On one database; a run that is not done by then has failed."""

PATIENCE_S = 180.0
"""How long a robot goes on trying."""

Told = tuple[str, int, float]
"""Study, number of the trial and cost."""

PROCESSES = multiprocessing.get_context("fork")


def main() -> None:
    """Run, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK_TELLS} tells, and kills that follow sooner")
    parser.add_argument("--databases", nargs="*", choices=servers.DATABASES, default=servers.DATABASES)
    parser.add_argument("--tells", type=int, metavar="N", help=f"on each database; {TELLS} without")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and the victims")
    arguments = parser.parse_args()
    tells = arguments.tells or (QUICK_TELLS if arguments.quick else TELLS)
    pause_s = QUICK_PAUSE_S if arguments.quick else PAUSE_S
    rows = [run(kind, tells, pause_s, random.Random(arguments.seed)) for kind in arguments.databases]
    totals = {name: sum(row[name] for row in rows) for name in ("acknowledged", "kills", "lost", "doubled", "stuck")}
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def run(kind: str, tells: int, pause_s: tuple[float, float], chance: random.Random) -> dict[str, Any]:
    """One run on one kind of database."""
    with ExitStack() as ending:
        cluster = ending.enter_context(servers.cluster()) if kind == "postgresql" else None
        url = cluster.url if cluster else ending.enter_context(servers.empty_database(kind))
        server = ending.enter_context(servers.server(url))
        with geodrome.Client(server.url) as client:
            for name, size in DESIGNS.items():
                client.create_study(name, space=geodrome.Sphere(dim=2), initial_design={"size": size}, lease_s=LEASE_S)
        stopping, results = PROCESSES.Event(), PROCESSES.Queue()
        robots = [
            PROCESSES.Process(target=work, args=(server.url, study, index, stopping, results), daemon=True)
            for index, study in enumerate(ROBOTS)
        ]
        for robot in robots:
            robot.start()
        begin = time.monotonic()
        kills = kill_on(server, cluster, chance, pause_s, lambda: told(server.url) >= tells)
        stopping.set()
        acknowledged = [one for _ in robots for one in results.get()]
        for robot in robots:
            robot.join()
        if gave_up := [robot.name for robot in robots if robot.exitcode]:
            raise RuntimeError(f"{', '.join(gave_up)} gave up; what went wrong is printed above")
        row = {
            "method": "geodrome",
            "database": kind,
            "acknowledged": len(acknowledged),
            "kills": kills.total(),
            **{f"kills_{victim}": count for victim, count in kills.items()},
            **settled(server.url, acknowledged),
            "seconds": time.monotonic() - begin,
        }
    print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def work(url: str, study_name: str, index: int, stopping: Event, results: Any) -> None:
    """One robot: asks and tells until it is to stop, and says which tells were acknowledged."""
    study = geodrome.Client(url, timeout_s=PATIENCE_S).study(study_name)
    logging.getLogger("geodrome").setLevel(logging.ERROR)  # that it tries again is no news here
    told: list[Told] = []
    try:
        while not stopping.is_set():
            trial = study.ask(worker=f"robot-{index}")
            cost = len(told) + index / 1000 + random.random() / 1e6
            with suppress(geodrome.OutcomeConflict):  # the lease ended while everything was down, and another told
                trial.tell(cost=cost)
                told.append((study_name, trial.number, cost))
    finally:  # also of a robot that gave up: whoever counts waits for it
        results.put(told)


def kill_on(
    server: servers.Server,
    cluster: servers.Cluster | None,
    chance: random.Random,
    pause_s: tuple[float, float],
    is_enough: Callable[[], bool],
) -> Counter[str]:
    """Kills something, again and again, until it is enough; how often each victim was."""
    victims = {"server": server.kill, "worker": lambda: kill_worker(server)}
    if cluster:
        victims["database"] = cluster.kill
    kills: Counter[str] = Counter(dict.fromkeys(victims, 0))
    end = time.monotonic() + LONGEST_S
    while kills.total() < LEAST_KILLS or not is_enough():
        # Robots get on between two kills, however slow the machine: else nothing would ever be told.
        before = told(server.url)
        time.sleep(chance.uniform(*pause_s))
        while (done := told(server.url)) == before:
            if time.monotonic() > end:
                raise TimeoutError(f"{done} tells after {LONGEST_S:g} s and {kills.total()} kills")
            time.sleep(0.1)
        victim = chance.choice(sorted(victims))
        victims[victim]()
        kills[victim] += 1
        if victim == "server":
            server.start()
        elif victim == "database" and cluster:
            cluster.start()
    return kills


def kill_worker(server: servers.Server) -> None:
    """Ends the processes that compute for a server; it starts others itself."""
    for child in psutil.Process(server.process.pid).children():
        with suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                child.send_signal(signal.SIGKILL)


def told(url: str) -> int:
    """Trials that are completed by now; 0 while nobody answers."""
    with geodrome.Client(url, timeout_s=PATIENCE_S) as client:
        return sum(study.record.counts.completed for study in client.studies())


def settled(url: str, acknowledged: list[Told]) -> dict[str, int]:
    """What is wrong once everything has come to rest."""
    time.sleep(LEASE_S + 1)
    with geodrome.Client(url, timeout_s=PATIENCE_S) as client:
        for study in client.studies():
            drain(study)
        stuck = sum(study.record.counts.queued + study.record.counts.running for study in client.studies())
        stored = {
            (study.name, trial.number): trial.cost
            for study in client.studies()
            for trial in study.trials(state="completed")
        }
        events = Counter(
            (study.name, event.number)
            for study in client.studies()
            for event in study.events()
            if event.kind == "completed"
        )
    costs = Counter(cost for cost in stored.values() if cost is not None and cost >= 0)
    return {
        "lost": sum(stored.get((study, number)) != cost for study, number, cost in acknowledged),
        "doubled": sum(count > 1 for count in costs.values()) + sum(count > 1 for count in events.values()),
        "stuck": stuck,
    }


def drain(study: geodrome.Study) -> None:
    """Asks for what is queued until nothing is, and lets nothing new be computed meanwhile."""
    while (counts := study.refresh().record.counts).queued:
        study.set_budget(counts.completed + counts.failed + counts.abandoned + counts.queued + counts.running)
        study.ask(worker="last").tell(cost=-1.0)


def show(rows: list[dict[str, Any]], totals: dict[str, int]) -> None:
    """Prints a table, and the summary."""
    columns = ("database", "acknowledged", "kills", "lost", "doubled", "stuck", "seconds")
    table = Table(*columns)
    for row in rows:
        table.add_row(*(f"{row[name]:.0f}" if name == "seconds" else str(row[name]) for name in columns))
    Console().print(table)
    for name, value in totals.items():
        print(f"{name} = {value}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
