"""Covariance matrices with gradients: Geodrome beside GPyTorch and GeometricKernels, in seconds and in digits.

    python benchmarks/kernels.py [--quick] [--json FILE]

For each space, the Matérn 5/2 kernel of n random points and the gradient of a sum over its matrix, in the points and in
the lengthscale; CPU seconds of one thread, the median of the repeats, each with its own lengthscale so that nothing
is left from the last. GPyTorch's Matérn kernel of R^3 on as many points is the measure. GeometricKernels is left out if
it is not installed; it needs an older numpy, hence an environment of its own:

    pip install -c constraints.txt -e '.[core]' rich threadpoolctl geometric_kernels

It is timed at the number of points that the table shows (its matrices take minutes at 1,000 on the spaces where they
are made of random features or characters), and so is Geodrome for the ratio between the two.
Errors are the largest over the entries of tests/core/data/kernel_reference.json for which the two libraries mean the
same kernel (on non-compact spaces, where the Matérn kernels differ by definition: SE). In a fresh process: the time
of the first matrix, when tables are made, and by how much memory grew at its peak for a matrix of 2,000 points.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpytorch
import report
import torch
from geodrome_core import Space, space_from_spec
from geodrome_core.kernels import for_space
from rich.console import Console
from rich.table import Table
from torch import Tensor

REFERENCE = Path(__file__).parents[1] / "tests" / "core" / "data" / "kernel_reference.json"

POINTS, QUICK_POINTS, MEMORY_POINTS = 1000, 100, 2000


@dataclass(frozen=True)
class Case:
    """A space, and how the reference values and GeometricKernels know it.

    Attributes:
        spec: Of the space.
        lengthscale: Of the kernel that is timed.
        reference: Manifold and dimension in the file of reference values; None where it has none.
        peer: Its space in GeometricKernels, by class and arguments; None where it has none.
        peer_points: Points at which the peer is timed.
        peer_unit: Lengthscale of the peer for ours of 1.
        is_matrix: Whether the peer takes matrices and not rows.
    """

    spec: dict[str, Any]
    lengthscale: float
    reference: tuple[str, int] | None
    peer: tuple[str, tuple[Any, ...]] | None = None
    peer_points: int = POINTS
    peer_unit: float = 1.0
    is_matrix: bool = False


CASES = {
    "R^3": Case({"type": "euclidean", "dim": 3}, 0.5, ("euclidean", 3)),
    "S^2": Case({"type": "sphere", "dim": 2}, 0.5, ("sphere", 2), ("Hypersphere", (2,))),
    "S^3": Case({"type": "sphere", "dim": 3}, 0.5, ("sphere", 3), ("Hypersphere", (3,))),
    "S^10": Case({"type": "sphere", "dim": 10}, 0.5, ("sphere", 10), ("Hypersphere", (10,))),
    "T^2": Case({"type": "torus", "dim": 2}, 0.7, ("torus", 2)),
    "T^7": Case({"type": "torus", "dim": 7}, 0.7, None),
    "SO(3)": Case({"type": "rotation"}, 0.5, ("so", 3), ("SpecialOrthogonal", (3,)), 200, is_matrix=True),
    "SO(4)": Case(
        {"type": "rotation", "dim": 4, "representation": "matrix"},
        1.0,
        ("so", 4),
        ("SpecialOrthogonal", (4,)),
        60,
        is_matrix=True,
    ),
    "SO(6)": Case({"type": "rotation", "dim": 6, "representation": "matrix"}, 1.5, None),
    "H^2": Case({"type": "hyperbolic", "dim": 2}, 0.5, ("hyperbolic", 2), ("Hyperbolic", (2,)), 200),
    "H^3": Case({"type": "hyperbolic", "dim": 3}, 0.5, ("hyperbolic", 3), ("Hyperbolic", (3,)), 200),
    "SPD(2)": Case(
        {"type": "spd", "dim": 2},
        1.0,
        ("spd", 2),
        ("SymmetricPositiveDefiniteMatrices", (2,)),
        200,
        peer_unit=0.5,
        is_matrix=True,
    ),
    "SPD(3)": Case(
        {"type": "spd", "dim": 3},
        1.0,
        ("spd", 3),
        ("SymmetricPositiveDefiniteMatrices", (3,)),
        200,
        peer_unit=0.5,
        is_matrix=True,
    ),
}

QUICK = ("R^3", "S^2", "SPD(2)")

Covariance = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]
"""From rows, nu (a tensor of one number) and a lengthscale to the matrix and the tensor that holds the lengthscale."""


def main() -> None:
    """Measure, print and write."""
    arguments = report.arguments(__doc__, quick="three spaces at n = 100, without the peer and without memory")
    report.use_one_thread()
    peer = None if arguments.quick else geometric_kernels()
    count = QUICK_POINTS if arguments.quick else POINTS
    names = QUICK if arguments.quick else tuple(CASES)
    unit = cpu_seconds(euclidean(), torch.randn(count, 3, dtype=torch.float64), 0.5)
    rows = [{"method": "gpytorch", "space": "R^3", "n": count, "cpu_s": unit}]
    for name in names:
        case = CASES[name]
        space = space_from_spec(case.spec)
        ours = geodrome(space)
        rows.append(
            {
                "method": "geodrome",
                "space": name,
                "n": count,
                "cpu_s": cpu_seconds(ours, points(space, count), case.lengthscale),
                "error": error(case, space, ours),
                **({} if arguments.quick else fresh(name)),
            }
        )
        if peer is not None and case.peer is not None:
            theirs = peer(case)
            n = min(case.peer_points, count)
            few = points(space, n)
            rows.append(
                {"method": "geodrome", "space": name, "n": n, "cpu_s": cpu_seconds(ours, few, case.lengthscale)}
            )
            rows.append(
                {
                    "method": "geometric_kernels",
                    "space": name,
                    "n": n,
                    "cpu_s": cpu_seconds(theirs, few, case.lengthscale, repeats=1),
                    "error": error(case, space, theirs),
                }
            )
    totals = ratios(rows, unit)
    show(rows, totals)
    report.write(arguments.json, rows=rows, summary=totals)


def points(space: Space, count: int) -> Tensor:
    """Random rows of a space."""
    return space.manifold.random(count, torch.Generator().manual_seed(0))


def euclidean() -> Covariance:
    """GPyTorch's Matérn kernel."""

    def covariance(x: Tensor, nu: Tensor, kappa: float) -> tuple[Tensor, Tensor]:
        kernel = gpytorch.kernels.MaternKernel(nu=float(nu)).double()
        kernel.lengthscale = kappa
        return kernel(x).to_dense(), kernel.raw_lengthscale

    return covariance


def geodrome(space: Space) -> Covariance:
    """Our kernel of a space."""

    def covariance(x: Tensor, nu: Tensor, kappa: float) -> tuple[Tensor, Tensor]:
        kernel = for_space(space, nu=float(nu), lengthscale=kappa)
        return kernel(x).to_dense(), kernel.raw_lengthscale

    return covariance


def geometric_kernels() -> Callable[[Case], Covariance] | None:
    """The peer's kernels, if it is installed."""
    try:
        import geometric_kernels.torch  # noqa: F401, PLC0415
        from geometric_kernels import kernels, spaces  # noqa: PLC0415
    except ImportError:
        print("GeometricKernels is not installed: see the head of this file")
        return None

    def of(case: Case) -> Covariance:
        assert case.peer is not None
        kind, arguments = case.peer
        space = getattr(spaces, kind)(*arguments)
        is_compact = isinstance(space, spaces.DiscreteSpectrumSpace)
        key = {} if is_compact else {"key": torch.Generator().manual_seed(0)}
        kernel = kernels.MaternGeometricKernel(space, **key)

        def covariance(x: Tensor, nu: Tensor, kappa: float) -> tuple[Tensor, Tensor]:
            scale = torch.tensor([case.peer_unit * kappa], dtype=torch.float64, requires_grad=True)
            size = math.isqrt(x.shape[-1])
            at = x.unflatten(-1, (size, size)) if case.is_matrix else x
            return kernel.K({"nu": nu.reshape(1), "lengthscale": scale}, at, at), scale

        return covariance

    return of


def cpu_seconds(covariance: Covariance, x: Tensor, kappa: float, *, repeats: int = 5) -> float:
    """Median CPU time of a matrix and its gradient, after one that is not counted."""
    times = []
    for index in range(repeats + 1):
        start = time.process_time()
        gradients(covariance, x, kappa * (1 + 1e-3 * index))
        times.append(time.process_time() - start)
    return statistics.median(times[1:])


def gradients(covariance: Covariance, x: Tensor, kappa: float) -> None:
    """A matrix and the gradient of a sum over it, in points and lengthscale."""
    leaf = x.clone().requires_grad_()
    k, scale = covariance(leaf, torch.tensor(2.5, dtype=torch.float64), kappa)
    # Entries weigh differently, so that no cancellation by symmetry can be used.
    weights = torch.linspace(0, 1, k.numel(), dtype=torch.float64).reshape(k.shape)
    torch.autograd.grad((weights * k).sum(), [leaf, scale])


def error(case: Case, space: Space, covariance: Covariance) -> float | None:
    """Largest error over the reference values."""
    if case.reference is None:
        return None
    is_compact = case.reference[0] in ("sphere", "torus", "so", "euclidean")
    errors = []
    for entry in json.loads(REFERENCE.read_text())["entries"]:
        if (entry["manifold"], entry["dim"]) != case.reference or not (is_compact or entry["nu"] == "inf"):
            continue
        x = torch.tensor([entry["x"], entry["y"]], dtype=torch.float64).reshape(2, space.manifold.width)
        nu = torch.tensor(float(entry["nu"]), dtype=torch.float64)
        k, _ = covariance(x, nu, entry["kappa"])
        k = k.detach()
        errors.append(abs(float(k[0, 1] / k[0, 0]) - float(entry["k"])))
    return max(errors)


def fresh(name: str) -> dict[str, float]:
    """Seconds of the first matrix in a process, and the mebibytes that one of 2,000 points with its gradients needs."""
    run = subprocess.run(
        [sys.executable, __file__, "--fresh", name], capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(run.stdout)


def print_fresh(name: str) -> None:
    """Measures what ``fresh`` returns."""
    report.use_one_thread()
    space = space_from_spec(CASES[name].spec)
    few, many = points(space, 10), points(space, MEMORY_POINTS)
    start = time.process_time()
    gradients(geodrome(space), few, CASES[name].lengthscale)
    first = time.process_time() - start
    before = peak_mebibytes()
    gradients(geodrome(space), many, CASES[name].lengthscale)
    print(json.dumps({"first_use_s": first, "mebibytes": peak_mebibytes() - before}))


def peak_mebibytes() -> float:
    """Largest resident size of this process; getrusage would give that of its parent, if it was larger."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def ratios(rows: list[dict[str, Any]], unit: float) -> dict[str, float]:
    """Our time over GPyTorch's on R^3, and GeometricKernels' time over ours."""
    times = {(row["method"], row["space"], row["n"]): row["cpu_s"] for row in rows}
    out = {
        f"{space}: geodrome / gpytorch on R^3": cpu_s / unit
        for (method, space, n), cpu_s in times.items()
        if method == "geodrome" and n == rows[0]["n"]
    }
    for (method, space, n), cpu_s in times.items():
        if method == "geometric_kernels":
            out[f"{space}: geometric_kernels / geodrome, n = {n}"] = cpu_s / times["geodrome", space, n]
    return out


def show(rows: list[dict[str, Any]], totals: dict[str, float]) -> None:
    """Prints the rows as a table, and the ratios."""
    table = Table("space", "method", "n", "CPU s", "largest error", "first use, s", "MiB at n = 2,000")
    for row in rows:
        wrong, first, size = row.get("error"), row.get("first_use_s"), row.get("mebibytes")
        table.add_row(
            row["space"],
            row["method"],
            str(row["n"]),
            f"{row['cpu_s']:.4f}",
            "" if wrong is None else f"{wrong:.1e}",
            "" if first is None else f"{first:.2f}",
            "" if size is None else f"{size:.0f}",
        )
    Console().print(table)
    for name, ratio in totals.items():
        print(f"{name} = {ratio:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fresh"]:
        print_fresh(sys.argv[2])
    else:
        main()
