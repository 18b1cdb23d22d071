"""Draws the kernels along geodesics, one picture for each page of this folder.

    python docs/geometry/figures.py

needs matplotlib (the extra ``robots``), and writes the SVG files beside this one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space
from matplotlib import pyplot as plt
from torch import Tensor

HERE = Path(__file__).parent

SMOOTHNESS = {0.5: "ν = 1/2", 1.5: "ν = 3/2", 2.5: "ν = 5/2", math.inf: "SE"}

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000")
"""Of Okabe and Ito: told apart by colour-blind eyes."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes: kernels along a geodesic.

    Attributes:
        title: Says what is varied.
        spec: Of the space.
        start: The point where the geodesic starts, in JSON.
        direction: Its velocity in the orthonormal basis there; normalized here.
        length: How far it is followed.
        lengthscale: Of the kernels, or of each factor.
        options: Of ``for_space``.
    """

    title: str
    spec: Mapping[str, Any]
    start: Any
    direction: tuple[float, ...]
    length: float
    lengthscale: float | Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)


EYE2 = [[1.0, 0.0], [0.0, 1.0]]
IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SPD2 = {"type": "spd", "dim": 2}
SPD3 = {"type": "spd", "dim": 3}
POSE = {"type": "product", "factors": {"p": {"type": "euclidean", "dim": 3}, "r": {"type": "rotation"}}}
POSE_SCALES = {"p": 0.3, "r": 1.0}

FIGURES: dict[str, tuple[Panel, ...]] = {
    "euclidean": (
        Panel("R³, κ = 0.3", {"type": "euclidean", "dim": 3}, [0.0, 0.0, 0.0], (1, 0, 0), 1.5, 0.3),
        Panel("R³, κ = 1", {"type": "euclidean", "dim": 3}, [0.0, 0.0, 0.0], (1, 0, 0), 1.5, 1.0),
    ),
    "sphere": (
        Panel("S², κ = 0.5", {"type": "sphere", "dim": 2}, [0.0, 0.0, 1.0], (1, 0), math.pi, 0.5),
        Panel("S¹⁰, κ = 0.5", {"type": "sphere", "dim": 10}, [1.0] + 10 * [0.0], (1,) + 9 * (0,), math.pi, 0.5),
    ),
    "torus": (
        Panel("T², κ = 0.7, one joint turns", {"type": "torus", "dim": 2}, [0.0, 0.0], (1, 0), 2 * math.pi, 0.7),
        Panel("T², κ = 0.7, both turn", {"type": "torus", "dim": 2}, [0.0, 0.0], (1, 1), 2 * math.pi, 0.7),
    ),
    "rotation": (
        Panel("SO(3), κ = 0.5", {"type": "rotation"}, IDENTITY, (1, 0, 0), math.pi, 0.5),
        Panel("SO(3), κ = 2", {"type": "rotation"}, IDENTITY, (1, 0, 0), math.pi, 2.0),
    ),
    "spd": (
        Panel("SPD(2), κ = 1, larger and larger", SPD2, EYE2, (1, 0, 1), 4.0, 1.0),
        Panel("SPD(2), κ = 1, longer and thinner", SPD2, EYE2, (1, 0, -1), 4.0, 1.0),
        Panel("SPD(3), κ = 1, longer and thinner", SPD3, IDENTITY, (2, 0, 0, -1, 0, -1), 4.0, 1.0),
    ),
    "product": (
        Panel("position, κ = 0.3", POSE, {"p": [0.0] * 3, "r": IDENTITY}, (1, 0, 0, 0, 0, 0), 1.5, POSE_SCALES),
        Panel("orientation, κ = 1", POSE, {"p": [0.0] * 3, "r": IDENTITY}, (0, 0, 0, 1, 0, 0), math.pi, POSE_SCALES),
        Panel("both, in equal parts", POSE, {"p": [0.0] * 3, "r": IDENTITY}, (1, 0, 0, 1, 0, 0), 2.0, POSE_SCALES),
    ),
    "hyperbolic": tuple(
        Panel(
            f"H², κ = 2, definition {definition}",
            {"type": "hyperbolic", "dim": 2},
            [1.0, 0.0, 0.0],
            (1, 0),
            6.0,
            2.0,
            {"definition": definition},
        )
        for definition in ("paper", "spde", "shifted")
    ),
}


def along(panel: Panel, nu: float, distances: Tensor) -> Tensor:
    """The kernel between the start and points at ``distances`` along the geodesic."""
    space = space_from_spec(panel.spec)
    manifold = space.manifold
    x = space.rows([panel.start])
    xi = torch.tensor([panel.direction], dtype=torch.float64)
    u = manifold.tangent(x, xi / torch.linalg.vector_norm(xi))
    y = manifold.exp(x.expand(len(distances), -1), distances.unsqueeze(-1) * u)
    kernel = for_space(space, nu=nu, lengthscale=panel.lengthscale, **panel.options)
    return kernel(x, y).to_dense().detach()[0]


def draw(name: str, panels: tuple[Panel, ...]) -> Path:
    """Writes the picture of one page."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4 * len(panels), 3), sharey=True, layout="constrained")
    for ax, panel in zip(axes, panels, strict=True):
        distances = torch.linspace(0, panel.length, 81, dtype=torch.float64)
        for (nu, label), colour in zip(SMOOTHNESS.items(), COLOURS, strict=True):
            ax.plot(distances, along(panel, nu, distances), color=colour, label=label)
        ax.set(title=panel.title, xlabel="length along a geodesic", xlim=(0, panel.length), ylim=(0, 1.02))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("covariance k")
    axes[-1].legend(frameon=False)
    path = HERE / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def main() -> None:
    """Draws all of them."""
    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "geodrome", "svg.fonttype": "none"})
    for name, panels in FIGURES.items():
        draw(name, panels)


if __name__ == "__main__":
    main()
