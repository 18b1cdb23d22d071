"""Whether a suggestion is the maximum of its acquisition function: beside 200 restarts of the search, and pymanopt.

    python benchmarks/search.py [--quick] [--posteriors N] [--json FILE]

Each posterior is fitted to 5 to 80 random costs on one space: draws from a Gaussian process, at points of which half
lie near the best ones, as late in a run. ``geodrome_core.suggest`` then maximizes log EI as it does for users. The same
function is maximized from 200 other starts, half of them uniform on the domain and half near the observed points of
least mean, and, for every fifth posterior, by ``suggest(…, solver="pymanopt")``. A suggestion *reaches* if its log EI
is within 1e-6 of the restarts' best; it is *beaten* if pymanopt's is larger by more. One thread.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import report
import spaces
import torch
from geodrome_core import History, Problem, Space, space_from_spec, suggest
from geodrome_core.gp.posterior import Posterior
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.parts import parts_of
from geodrome_core.model import Model
from geodrome_core.promises import PROMISES
from geodrome_core.search import integers
from geodrome_core.search.starts import near
from geodrome_core.search.trust_region import Tolerance
from rich.console import Console
from rich.table import Table
from torch import Tensor

SPACES: dict[str, dict[str, Any]] = {
    **spaces.SPACES,
    "euclidean3": {"type": "euclidean", "dim": 3, "bounds": [[0, 1]] * 3},
    "cap2": {"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 0.6}},
    "gains": spaces.GAINS,
}

POSTERIORS, QUICK = 200, 5

RESTARTS = 200

FROM_EACH = Tolerance(patience=math.inf)

VERIFIED = 5
"""One posterior in so many is given to pymanopt, too: it takes one start after another."""

ENOUGH = 1e-6
"""Of log EI."""


def main() -> None:
    """Maximize, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK} posteriors on each space")
    parser.add_argument("--posteriors", type=int, metavar="N", help=f"on each space; {POSTERIORS} without")
    parser.add_argument("--spaces", nargs="*", default=list(SPACES), choices=SPACES, help="all without")
    arguments = parser.parse_args()
    report.use_one_thread()
    count = arguments.posteriors or (QUICK if arguments.quick else POSTERIORS)
    rows: list[dict[str, Any]] = []
    for name in arguments.spaces:
        rows += compared(name, count)
        show(rows)
    totals = summary(rows)
    report.write(arguments.json, rows=rows, summary=totals)


def compared(name: str, count: int) -> Iterator[dict[str, Any]]:
    """A row for each posterior of a space."""
    space = space_from_spec(SPACES[name])
    for seed in range(count):
        problem, history = Problem(space), drawn(space, seed)
        start = time.process_time()
        (ours,) = suggest(problem, history, 1, seed=seed)
        cpu_s = time.process_time() - start
        assert ours.value is not None, (name, seed)
        best, restarts = dense(problem, history, seed)
        ahead = None
        if seed % VERIFIED == 0:
            (theirs,) = suggest(problem, history, 1, seed=seed, solver="pymanopt")
            assert theirs.value is not None, (name, seed)
            ahead = theirs.value - ours.value
        yield {
            "method": "geodrome",
            "space": name,
            "seed": seed,
            "n": len(history.Y),
            "cpu_s": cpu_s,
            "log_ei": ours.value,
            "short": best - ours.value,
            "restarts": restarts,
            "pymanopt_ahead": ahead,
        }


def drawn(space: Space, seed: int) -> History:
    """A history whose costs are a draw from a Gaussian process, with noise or almost without."""
    generator = torch.Generator().manual_seed(seed)

    def one_of(*values: float) -> float:
        return values[int(torch.randint(len(values), (1,), generator=generator))]

    manifold = space.manifold
    count = int(torch.randint(5, 81, (1,), generator=generator))
    X = manifold.random(max(count // 2, 3), generator)
    kernel = for_space(space, nu=one_of(1.5, 2.5)).requires_grad_(requires_grad=False)
    for part, factor in zip(parts_of(kernel), space.factors.values(), strict=True):
        part.lengthscale = one_of(0.1, 0.2, 0.4) * factor.diameter
    noise = one_of(1e-3, 1e-1)
    while len(X) < count:
        Y = costs(kernel, X, noise, torch.Generator().manual_seed(seed))
        X = torch.cat([X, near(Problem(space).domain, X[Y.argsort()[:3]], generator)[: count - len(X)][:8]])
    none = space.rows([])
    return History(X, costs(kernel, X, noise, torch.Generator().manual_seed(seed)), none, none, none)


def costs(kernel: Any, X: Tensor, noise: float, generator: torch.Generator) -> Tensor:
    """Draws at the points; those at the first points are the same, however many follow."""
    covariance = kernel(X).to_dense() + (noise**2 + 1e-9) * torch.eye(len(X), dtype=torch.float64)
    draws = torch.randn(len(X), generator=generator, dtype=torch.float64)
    return torch.linalg.cholesky(covariance) @ draws


def dense(problem: Problem, history: History, seed: int) -> tuple[float, int]:
    """The largest log EI that the search finds from many starts, and how many those are."""
    posterior = Model.of(problem, history).fitted.posterior
    assert isinstance(posterior, Posterior)
    generator = torch.Generator().manual_seed(10_000 + seed)
    promise = PROMISES["log_ei"](problem.space, posterior, generator)
    incumbents = posterior.X[posterior.at_observed.mean(-1).argsort(stable=True)[:10]]
    uniform = problem.domain.random(RESTARTS // 2, generator)
    about = torch.cat([near(problem.domain, incumbents, generator) for _ in range(4)])[: RESTARTS // 2]
    found = integers.maximize(promise, problem.domain, torch.cat([uniform, about]), tolerance=FROM_EACH).points
    # As suggestions are: so far inside that rounding to float32 keeps them there.
    return float(promise(problem.space.manifold.clamp(found)).max()), len(found)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The shares of suggestions that reach, and the number of those that pymanopt beats."""
    out: dict[str, float] = {}
    for name in dict.fromkeys(row["space"] for row in rows):
        own = [row for row in rows if row["space"] == name]
        out[f"{name}: reached"] = sum(row["short"] <= ENOUGH for row in own) / len(own)
        out[f"{name}: beaten"] = sum(row["pymanopt_ahead"] > ENOUGH for row in own if row["pymanopt_ahead"] is not None)
    return out


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Prints a table."""
    table = Table(
        "space", "posteriors", "reached", "largest shortfall", "beaten by pymanopt", "pymanopt behind", "CPU s"
    )
    for name in dict.fromkeys(row["space"] for row in rows):
        own = [row for row in rows if row["space"] == name]
        reached = sum(row["short"] <= ENOUGH for row in own)
        ahead = [row["pymanopt_ahead"] for row in own if row["pymanopt_ahead"] is not None]
        beaten, behind = sum(each > ENOUGH for each in ahead), sum(each < -ENOUGH for each in ahead)
        table.add_row(
            name,
            str(len(own)),
            f"{100 * reached / len(own):.1f} %",
            f"{max(row['short'] for row in own):.2g}",
            f"{beaten} of {len(ahead)}",
            f"{behind} of {len(ahead)}",
            f"{statistics.median(row['cpu_s'] for row in own):.3f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
