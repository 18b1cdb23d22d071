"""One run of a method: its evaluations, and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import ask_peers
import costs
import report
import torch
from regret_methods import METHODS, first_points


@dataclass(frozen=True, order=True)
class Run:
    """One method on one function with one seed."""

    method: str
    space: str
    function: str
    seed: int


def in_worker(run: Run, evaluations: int) -> list[dict[str, Any]]:
    """Makes one run in a process that does nothing else: on one thread, and peers keep quiet."""
    report.use_one_thread()
    ask_peers.make_quiet()
    return rows_of(run, evaluations)


def rows_of(run: Run, evaluations: int) -> list[dict[str, Any]]:
    """Makes one run."""
    function = costs.cost_function(run.space, run.function)
    prepare = METHODS[run.method].begin(function, run.seed)
    X = first_points(function, run.seed)
    Y, times = function.costs(X), [0.0] * len(X)
    while len(X) < evaluations:
        ask = prepare(X, Y)
        start = time.process_time()
        row = ask()
        times.append(time.process_time() - start)
        X = torch.cat([X, row[None]])
        Y = torch.cat([Y, function.costs(row[None])])
    best = Y.nan_to_num(nan=torch.inf).cummin(0).values
    return [
        {
            "method": run.method,
            "space": run.space,
            "function": run.function,
            "seed": run.seed,
            "evaluation": number,
            "cost": f"{cost:.9g}",
            "best": f"{least:.9g}",
            "regret": f"{least - function.optimum:.6g}",
            "ask_cpu_s": f"{cpu_s:.3f}",
        }
        for number, (cost, least, cpu_s) in enumerate(
            zip(Y[:evaluations].tolist(), best[:evaluations].tolist(), times, strict=False), start=1
        )
    ]
