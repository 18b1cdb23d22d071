"""A long run of ask and tell on each space: how far points drift from their manifold, how near they get to the optimum.

    python benchmarks/rounds.py [--quick] [--rounds N] [--spaces NAME …] [--json FILE]

Every suggestion goes through its JSON form, as it does over HTTP, and what is read back joins the history; its cost is
the squared distance from a hidden optimum, with some noise. The *drift* of a point is the largest difference between
its numbers and those of the nearest point of the manifold, relative to its largest number if that is above 1. One
thread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import report
import spaces
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from rich.console import Console
from rich.table import Table

SPACES: dict[str, dict[str, Any]] = {
    "real": {"type": "real", "bounds": [0.1, 1000.0], "scale": "log"},
    "euclidean3": {"type": "euclidean", "dim": 3, "bounds": [[-1, 1], [0, 1000], [5, 5.001]]},
    "integer": {"type": "integer", "bounds": [0, 100_000]},
    "sphere3": spaces.SPACES["sphere3"],
    "cap2": {"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 0.5}},
    "rotation2": {"type": "rotation", "dim": 2},
    "rotation3": spaces.SPACES["rotation3"],
    "rotation4": {"type": "rotation", "dim": 4},
    "spd2": spaces.SPACES["spd2"],
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [10.0, 3000.0]},
    "compliance3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10.0], "metric": "log_euclidean"},
    "inertia3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10.0], "metric": "cholesky"},
    "hyperbolic3": {"type": "hyperbolic", "dim": 3, "radius": 4.0},
    "poincare2": {"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 6.0},
    "torus7": spaces.SPACES["torus7"],
    "joints6": {"type": "joints", "bounds": [[-2.9, 2.9]] * 6},
    "pose": spaces.SPACES["pose"],
    "gains": spaces.GAINS,
}

ROUNDS, QUICK_ROUNDS = 300, 12

QUICK_SPACES = ("sphere3", "rotation3", "spd2", "gains")

NOISE = 1e-3


def main() -> None:
    """Run, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK_ROUNDS} rounds on {', '.join(QUICK_SPACES)}")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"on each space; {ROUNDS} without")
    parser.add_argument("--spaces", nargs="*", choices=SPACES, metavar="NAME", help=f"of {', '.join(SPACES)}")
    arguments = parser.parse_args()
    names = arguments.spaces or (QUICK_SPACES if arguments.quick else SPACES)
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
    report.use_one_thread()
    rows = [run(name, rounds) for name in names]
    show(rows)
    report.write(arguments.json, rows=rows, summary=summary(rows))


def run(name: str, rounds: int) -> dict[str, Any]:
    """One study from its first ask to its last tell; a line is printed when it is done."""
    space = space_from_spec(SPACES[name])
    manifold, problem, none = space.manifold, Problem(space), space.rows([])
    generator = torch.Generator().manual_seed(0)
    optimum = manifold.random(1, generator)
    X, Y = none, torch.empty(0, dtype=torch.float64)
    start, outside = None, 0
    before = time.process_time()
    for number in range(rounds):
        (suggestion,) = suggest(problem, History(X, Y, none, none, none), 1, seed=number, start=start)
        start = suggestion.hyperparameters or None
        read = space.check(json.loads(json.dumps(suggestion.point)))
        outside += bool(read.outside)
        row = read.row.unsqueeze(0)
        gap = manifold.distance(row, optimum) / manifold.diameter
        noise = NOISE * torch.randn(1, generator=generator, dtype=torch.float64)
        X, Y = torch.cat([X, row]), torch.cat([Y, gap**2 + noise])
    size = X.abs().amax(-1).clamp_min(1.0)
    drift = float(((manifold.nearest(X) - X).abs().amax(-1) / size).max())
    gaps = manifold.distance(X, optimum) / manifold.diameter
    row = {
        "method": "geodrome",
        "space": name,
        "n": rounds,
        "cpu_s": time.process_time() - before,
        "drift": drift,
        "outside": outside,
        "nearest": float(gaps.min()),
    }
    print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The largest drift, and how many points were outside their domain."""
    return {"drift": max(row["drift"] for row in rows), "outside": sum(row["outside"] for row in rows)}


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Prints a table."""
    table = Table("space", "rounds", "largest drift", "outside", "nearest to the optimum (of the diameter)", "CPU s")
    for row in rows:
        numbers = [f"{row['drift']:.1e}", str(row["outside"]), f"{row['nearest']:.1e}", f"{row['cpu_s']:.1f}"]
        table.add_row(row["space"], str(row["n"]), *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
