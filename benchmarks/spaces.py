"""Spaces that several benchmarks run on, by the names that their results carry."""

from __future__ import annotations

from typing import Any

SPACES: dict[str, dict[str, Any]] = {
    "sphere3": {"type": "sphere", "dim": 3},
    "sphere5": {"type": "sphere", "dim": 5},
    "rotation3": {"type": "rotation"},
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [0.1, 10.0]},
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10.0]},
    "hyperbolic3": {"type": "hyperbolic", "dim": 3, "radius": 2.0},
    "torus7": {"type": "torus", "dim": 7},
    "pose": {
        "type": "product",
        "factors": {
            "position": {"type": "euclidean", "dim": 3, "bounds": [[-0.5, 0.5]] * 3},
            "orientation": {"type": "rotation"},
        },
    },
}

GAINS: dict[str, Any] = {
    "type": "product",
    "factors": {
        "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10.0, 3000.0]},
        "speed": {"type": "real", "bounds": [0.01, 1.0], "scale": "log"},
        "steps": {"type": "integer", "bounds": [1, 12]},
    },
}
