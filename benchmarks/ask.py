"""CPU seconds of one suggestion: Geodrome beside BoTorch, Optuna and Ax, and the floor that linear algebra sets.

    python benchmarks/ask.py [--quick] [--spaces NAME …] [--counts N …] [--json FILE]

Every method knows the same n costs at random points (smooth, with one optimum and some waves) and is asked for one more
point: fit and search together, one thread, the median of the repeats after one ask of few points that does not count.
``geodrome`` begins its fit where that of all but the last point ended, as the service does; ``geodrome_cold`` does not.
Others get a parametrization of the space by as many numbers as it has dimensions, see ``ask_peers``. The floor is 20
evaluations of the log marginal likelihood and its gradient for a ready n x n Gram matrix: what a fit needs at least.

Peers that are not installed are left out; an environment of their own is best:

    pip install -c constraints.txt -e '.[core]' rich threadpoolctl optuna ax-platform
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import ask_peers
import report
import torch
from geodrome_core import History, Problem, Space, space_from_spec, suggest
from rich.console import Console
from rich.table import Table
from spaces import SPACES
from torch import Tensor

COUNTS = (20, 60, 100, 200, 500, 1000, 2000)

FEW = 20

REPEATS, QUICK_REPEATS = 5, 3

PATIENCE = 4.0
"""CPU seconds from which on one ask is enough."""

Ask = Callable[[], object]


def main() -> None:
    """Measure, print and write."""
    parser = report.parser(__doc__, quick="rotation3 and spd2 at n = 100, 3 repeats")
    parser.add_argument("--spaces", nargs="*", choices=SPACES, metavar="NAME", help=f"of {', '.join(SPACES)}")
    parser.add_argument("--counts", nargs="*", type=int, metavar="N", help="numbers of observations")
    arguments = parser.parse_args()
    names = arguments.spaces or (["rotation3", "spd2"] if arguments.quick else list(SPACES))
    counts = arguments.counts or ([100] if arguments.quick else COUNTS)
    report.use_one_thread()
    ask_peers.make_quiet()
    rows = [row for name in names for row in timed(name, counts, QUICK_REPEATS if arguments.quick else REPEATS)]
    totals = ratios(rows)
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def timed(name: str, counts: list[int], repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each method and number of observations; printed, too, as soon as it is there."""
    space = space_from_spec(SPACES[name])
    for method, prepare in methods(space).items():
        prepare(*data(space, FEW), 0)()
        for count in counts:
            X, Y = data(space, count)
            times: list[float] = []
            while len(times) < repeats and sum(times) < PATIENCE:
                ask = prepare(X, Y, len(times))
                start = time.process_time()
                ask()
                times.append(time.process_time() - start)
            row = {"method": method, "space": name, "n": count, "cpu_s": statistics.median(times), "asks": len(times)}
            print(f"{name}, n = {count}: {method} {row['cpu_s']:.3f} s", flush=True)
            yield row


def methods(space: Space) -> dict[str, Callable[[Tensor, Tensor, int], Ask]]:
    """What is measured: from points, costs and a seed, all that is done before an ask, and the ask."""

    def peer(name: str) -> Callable[[Tensor, Tensor, int], Ask]:
        return lambda X, Y, seed: ask_peers.PEERS[name](ask_peers.chart(space, X), Y, seed)

    return {
        "geodrome": lambda X, Y, seed: geodrome(space, X, Y, seed, is_warm=True),
        "geodrome_cold": lambda X, Y, seed: geodrome(space, X, Y, seed, is_warm=False),
        **{name: peer(name) for name in ask_peers.installed()},
        "floor": lambda X, Y, seed: lambda: floor(X, Y, seed),
    }


def data(space: Space, count: int) -> tuple[Tensor, Tensor]:
    """Random points, and a smooth cost with one optimum and some waves."""
    generator = torch.Generator().manual_seed(0)
    optimum = space.manifold.random(1, generator)
    X = space.manifold.random(count, generator)
    distance = space.manifold.distance(X, optimum) / space.manifold.diameter
    return X, distance**2 + 0.05 * torch.sin(12 * distance)


def geodrome(space: Space, X: Tensor, Y: Tensor, seed: int, *, is_warm: bool) -> Ask:
    """One suggestion."""
    problem, none = Problem(space), space.rows([])
    start = None
    if is_warm:
        (before,) = suggest(problem, History(X[:-1], Y[:-1], none, none, none), 1, seed=seed)
        start = before.hyperparameters
    return lambda: suggest(problem, History(X, Y, none, none, none), 1, seed=seed, start=start)


def floor(X: Tensor, Y: Tensor, seed: int) -> None:
    """Twenty log marginal likelihoods with their gradients in one parameter."""
    del seed
    squares = torch.cdist(X, X) ** 2
    gram = torch.exp(-squares) + 1e-4 * torch.eye(len(X), dtype=torch.float64)
    slope = squares * gram
    for _ in range(20):
        factor = torch.linalg.cholesky(gram)
        inverse = torch.cholesky_inverse(factor)
        weights = inverse @ Y
        (0.5 * Y @ weights + torch.diagonal(factor).log().sum()).item()
        (0.5 * ((inverse * slope).sum() - weights @ slope @ weights)).item()


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Times of others over Geodrome's, and Geodrome's over the floor, for each space and n."""
    times = {(row["space"], row["n"], row["method"]): row["cpu_s"] for row in rows}
    out: dict[str, float] = {}
    for (space, n, method), cpu_s in times.items():
        ours = times[space, n, "geodrome"]
        if method == "floor":
            out[f"{space}, n = {n}: geodrome / floor"] = ours / cpu_s
        elif method != "geodrome":
            out[f"{space}, n = {n}: {method} / geodrome"] = cpu_s / ours
    return out


def show(rows: list[dict[str, Any]], totals: dict[str, float]) -> None:
    """Prints a line for each space and n, and the ratios."""
    times = {(row["space"], row["n"], row["method"]): row["cpu_s"] for row in rows}
    columns = list(dict.fromkeys(row["method"] for row in rows))
    table = Table("space", "n", *columns, title="CPU s of one ask")
    for space, n in dict.fromkeys((row["space"], row["n"]) for row in rows):
        table.add_row(space, str(n), *(f"{times[space, n, method]:.3f}" for method in columns))
    Console().print(table)
    for name, ratio in totals.items():
        print(f"{name} = {ratio:.2f}")


if __name__ == "__main__":
    main()
