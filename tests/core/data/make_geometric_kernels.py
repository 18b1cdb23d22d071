"""Writes geometric_kernels.json: covariances by the library GeometricKernels, with the error that it makes itself.

    pip install geometric_kernels==1.0.1 'torch==2.13.0'  (needs numpy < 2.4)
    python tests/core/data/make_geometric_kernels.py

Compact spaces: the library's series, at lengthscales that its default number of levels resolves. Its error is taken
from the difference to fewer levels. Hyperbolic spaces: random phases; mean and standard error over several seeds.
SPD(n) is left out: there the library's spectral measure is another one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geometric_kernels.torch  # noqa: F401
import numpy as np
import torch
from geometric_kernels.kernels import MaternGeometricKernel
from geometric_kernels.spaces import Hyperbolic, Hypersphere, SpecialOrthogonal

SEEDS = 8
PAIRS = 6


def spheres(dim: int, generator: torch.Generator) -> torch.Tensor:
    """Random unit vectors."""
    x = torch.randn(2 * PAIRS, dim + 1, generator=generator, dtype=torch.float64)
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def rotations(size: int, generator: torch.Generator) -> torch.Tensor:
    """Random rotation matrices."""
    q, _ = torch.linalg.qr(torch.randn(2 * PAIRS, size, size, generator=generator, dtype=torch.float64))
    return torch.cat([q[..., :1] * torch.linalg.det(q)[:, None, None], q[..., 1:]], -1)


def hyperboloid(dim: int, generator: torch.Generator) -> torch.Tensor:
    """Random points about the origin, the time coordinate first."""
    spatial = torch.randn(2 * PAIRS, dim, generator=generator, dtype=torch.float64)
    return torch.cat([torch.sqrt(1 + (spatial**2).sum(-1, keepdim=True)), spatial], -1)


def values(space: Any, points: torch.Tensor, nu: float, kappa: float, **options: Any) -> np.ndarray:
    """Normalized covariances of the first half of the points with the second."""
    kernel = MaternGeometricKernel(space, **options)
    parameters = {
        "nu": torch.tensor([nu], dtype=torch.float64),
        "lengthscale": torch.tensor([kappa], dtype=torch.float64),
    }
    k = kernel.K(parameters, points, points).detach().numpy()
    scale = np.sqrt(np.diag(k))
    k = k / scale / scale[:, None]
    return k[np.arange(PAIRS), PAIRS + np.arange(PAIRS)]


def entries(fixed: dict[str, Any], points: torch.Tensor, k: np.ndarray, error: np.ndarray) -> list[dict[str, Any]]:
    """One entry for each pair."""
    flat = points.flatten(1).tolist()
    return [
        {**fixed, "x": flat[i], "y": flat[PAIRS + i], "k": float(k[i]), "error": float(error[i])} for i in range(PAIRS)
    ]


def main() -> None:
    """Computes and writes all entries."""
    out: list[dict[str, Any]] = []
    generator = torch.Generator().manual_seed(0)
    compact = [("sphere", dim, Hypersphere(dim), spheres(dim, generator), 25, 15) for dim in (2, 3)]
    compact += [("rotation", size, SpecialOrthogonal(size), rotations(size, generator), 20, 12) for size in (3, 4)]
    for name, dim, space, points, many, fewer in compact:
        for nu in (2.5, 5.5, float("inf")):
            fixed = {"space": name, "dim": dim, "nu": str(nu), "kappa": 1.5}
            k = values(space, points, nu, 1.5, num=many)
            out += entries(fixed, points, k, np.abs(k - values(space, points, nu, 1.5, num=fewer)) + 1e-14)
    for dim in (2, 3):
        points = hyperboloid(dim, generator)
        for nu in (1.5, float("inf")):
            fixed = {"space": "hyperbolic", "dim": dim, "nu": str(nu), "kappa": 1.0}
            each = [
                values(Hyperbolic(dim), points, nu, 1.0, key=torch.Generator().manual_seed(seed))
                for seed in range(SEEDS)
            ]
            out += entries(fixed, points, np.mean(each, 0), np.std(each, 0, ddof=1) / SEEDS**0.5)
    Path(__file__).with_name("geometric_kernels.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
