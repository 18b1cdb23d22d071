"""Spaces, points and smoothness that the tests of kernels run over."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.space import Space
from geodrome_core.kernels import for_space
from gpytorch.kernels import Kernel
from torch import Tensor

from tests.strategies import generator

SPACES: dict[str, Space] = {
    name: space_from_spec(spec)
    for name, spec in {
        "R1": {"type": "real"},
        "R3": {"type": "euclidean", "dim": 3},
        "T1": {"type": "torus", "dim": 1},
        "T2": {"type": "torus", "dim": 2},
        "T4": {"type": "torus", "dim": 4},
        "S1": {"type": "sphere", "dim": 1},
        "S2": {"type": "sphere", "dim": 2},
        "S3": {"type": "sphere", "dim": 3},
        "S10": {"type": "sphere", "dim": 10},
        "S31": {"type": "sphere", "dim": 31},
        "SO3": {"type": "rotation"},
        "SO2": {"type": "rotation", "dim": 2},
        "SO4": {"type": "rotation", "dim": 4},
        "SO5": {"type": "rotation", "dim": 5},
        "SPD2": {"type": "spd", "dim": 2},
        "SPD3": {"type": "spd", "dim": 3},
        "log-SPD3": {"type": "spd", "dim": 3, "metric": "log_euclidean"},
        "cholesky-SPD3": {"type": "spd", "dim": 3, "metric": "cholesky"},
        "H2": {"type": "hyperbolic", "dim": 2},
        "H3": {"type": "hyperbolic", "dim": 3},
        "H8": {"type": "hyperbolic", "dim": 8},
        "pose": {
            "type": "product",
            "factors": {"position": {"type": "euclidean", "dim": 3}, "orientation": {"type": "rotation"}},
        },
        "tool": {
            "type": "product",
            "factors": {"direction": {"type": "sphere", "dim": 2}, "stiffness": {"type": "spd", "dim": 2}},
        },
    }.items()
}

SMOOTHNESS = [0.5, 1.5, 2.5, 3.2, math.inf]

every_space = pytest.mark.parametrize("name", SPACES)
every_smoothness = pytest.mark.parametrize("nu", SMOOTHNESS)


def manifold_of(name: str) -> Manifold:
    return SPACES[name].manifold


def kernel_of(name: str, *, nu: float, kappa: float | None = None) -> Kernel:
    return for_space(SPACES[name], nu=nu, lengthscale=kappa)


def random_rows(name: str, count: int, seed: int = 0) -> Tensor:
    return manifold_of(name).random(count, generator(seed))


def crowded_rows(name: str, count: int) -> Tensor:
    """Random points; a fifth of them twice, a fifth again 1e-9 beside, the antipodes and half turns of some."""
    manifold, fifth = manifold_of(name), count // 5
    x = random_rows(name, 3 * fifth)
    u = manifold.tangent(x[:fifth], torch.full((fifth, manifold.dim), 1e-9, dtype=torch.float64))
    rows = torch.cat([x, x[:fifth], manifold.exp(x[:fifth], u)])
    if name.startswith("S") and name[1:].isdigit():
        rows[: fifth // 2] = -rows[fifth : fifth + fifth // 2]
    return rows


def gram(kernel: Kernel, x: Tensor, y: Tensor | None = None) -> Tensor:
    return kernel(x, x if y is None else y).to_dense().detach()
