"""CPU seconds of one suggestion: Geodrome beside BoTorch on the same data, and the floor that linear algebra sets.

    python benchmarks/ask.py [--quick] [--json FILE]

Each method gets the same n observations (a smooth cost on random points, seed 0), fits a Matérn 5/2 model from a cold
start and maximizes log expected improvement from 8 starts out of 128 looked-at points. BoTorch gets the ambient numbers
of a point in a box (quaternion, unit vector, Mandel vector), as one would use it; its proposals leave the manifold.
The floor is 20 Cholesky factorizations with gradient of an n x n covariance: what a fit needs at least. One thread.
The first call, with imports and tables, is not counted; the median of the repeats is.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import report
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions import InputDataWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from geodrome_core import History, Problem, Space, space_from_spec, suggest
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from rich.console import Console
from rich.table import Table
from torch import Tensor

SPACES = {
    "rotation3": {"type": "rotation"},
    "sphere3": {"type": "sphere", "dim": 3},
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [0.1, 10.0]},
    "euclidean3": {"type": "euclidean", "dim": 3, "bounds": [[0, 1]] * 3},
}


def main() -> None:
    """Measure, print and write."""
    arguments = report.arguments(__doc__, quick="rotation3 and spd2 at n = 100, 3 repeats")
    names, counts, repeats = (["rotation3", "spd2"], [100], 3) if arguments.quick else ([*SPACES], [20, 100, 300], 5)
    report.use_one_thread()
    warnings.simplefilter("ignore", InputDataWarning)
    rows = []
    for name in names:
        space = space_from_spec(SPACES[name])
        for count in counts:
            X, Y = data(space, count)
            methods: dict[str, Callable[[int], None]] = {
                "geodrome": lambda seed, s=space, x=X, y=Y: ask_geodrome(s, x, y, seed),
                "botorch": lambda seed, n=name, x=X, y=Y: ask_botorch(ambient(n, x), y, seed),
                "floor": lambda _, x=X, y=Y: floor(x, y),
            }
            for method, run in methods.items():
                rows.append({"method": method, "space": name, "n": count, "cpu_s": cpu_seconds(run, repeats)})
    totals = ratios(rows)
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def data(space: Space, count: int) -> tuple[Tensor, Tensor]:
    """Random points, and a smooth cost with one optimum and some waves."""
    generator = torch.Generator().manual_seed(0)
    X = space.manifold.random(count, generator)
    distance = space.manifold.distance(X, space.manifold.random(1, generator)) / space.manifold.diameter
    return X, distance**2 + 0.05 * torch.sin(12 * distance)


def ask_geodrome(space: Space, X: Tensor, Y: Tensor, seed: int) -> None:
    """One suggestion."""
    none = space.rows([])
    suggest(Problem(space), History(X, Y, pending=none, failed=none, abandoned=none), 1, seed=seed)


def ambient(name: str, X: Tensor) -> Tensor:
    """The numbers that one would give to a Euclidean optimizer."""
    if name == "rotation3":
        space = space_from_spec(SPACES[name])
        return torch.tensor([space.point(row) for row in X], dtype=torch.float64)
    if name == "spd2":
        return torch.stack([X[:, 0], X[:, 3], 2**0.5 * X[:, 1]], -1)
    return X


def ask_botorch(X: Tensor, Y: Tensor, seed: int) -> None:
    """Fit, and maximize over the box around the data."""
    torch.manual_seed(seed)
    bounds = torch.stack([X.amin(0), X.amax(0)])
    dim = X.shape[1]
    model = SingleTaskGP(
        X,
        -Y.unsqueeze(-1),
        covar_module=ScaleKernel(MaternKernel(nu=2.5)),
        input_transform=Normalize(dim, bounds=bounds),
        outcome_transform=Standardize(1),
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    acquisition = LogExpectedImprovement(model, best_f=-Y.min())
    optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=8, raw_samples=128)


def floor(X: Tensor, Y: Tensor) -> None:
    """Twenty evaluations of a Gaussian log likelihood with its gradient, the cheapest kernel there is."""
    squares = torch.cdist(X, X) ** 2
    for _ in range(20):
        scale = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        covariance = torch.exp(-squares / (2 * scale**2)) + 1e-4 * torch.eye(len(X), dtype=torch.float64)
        factor = torch.linalg.cholesky(covariance)
        white = torch.linalg.solve_triangular(factor, Y.unsqueeze(-1), upper=False)
        (0.5 * (white**2).sum() + torch.diagonal(factor).log().sum()).backward()


def cpu_seconds(run: Callable[[int], None], repeats: int) -> float:
    """Median CPU time of a call, after one that is not counted."""
    run(0)
    times = []
    for seed in range(repeats):
        start = time.process_time()
        run(seed + 1)
        times.append(time.process_time() - start)
    return statistics.median(times)


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """BoTorch's time over Geodrome's, for each space and n."""
    times = {(row["space"], row["n"], row["method"]): row["cpu_s"] for row in rows}
    return {
        f"{space}, n = {n}: botorch / geodrome": times[space, n, "botorch"] / cpu_s
        for (space, n, method), cpu_s in times.items()
        if method == "geodrome"
    }


def show(rows: list[dict[str, Any]], totals: dict[str, float]) -> None:
    """Prints the rows as a table, and the ratios."""
    table = Table("space", "n", "method", "CPU s")
    for row in rows:
        table.add_row(row["space"], str(row["n"]), row["method"], f"{row['cpu_s']:.3f}")
    Console().print(table)
    for name, ratio in totals.items():
        print(f"{name} = {ratio:.2f}")


if __name__ == "__main__":
    main()
