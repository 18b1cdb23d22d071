"""A space of every type, and of every figure."""

from __future__ import annotations

from typing import Any

NODE = {"type": "hyperbolic", "dim": 2, "radius": 2.0}

SPACES: dict[str, dict[str, Any]] = {
    "real": {"type": "real", "bounds": [0.1, 1000], "scale": "log", "unit": "N/m"},
    "integer": {"type": "integer", "bounds": [1, 9]},
    "euclidean1": {"type": "euclidean", "dim": 1, "bounds": [[0, 1]]},
    "euclidean2": {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [5, 9]]},
    "euclidean3": {"type": "euclidean", "dim": 3, "bounds": [[0.1, 1]] * 3, "scale": "log"},
    "euclidean5": {"type": "euclidean", "dim": 5, "bounds": [[0, 1]] * 5},
    "joints2": {"type": "joints", "bounds": [[-90, 90], [0, 120]], "unit": "deg"},
    "joints7": {"type": "joints", "bounds": [[-2.9, 2.9]] * 7},
    "torus1": {"type": "torus", "dim": 1, "unit": "deg"},
    "torus2": {"type": "torus", "dim": 2},
    "torus4": {"type": "torus", "dim": 4, "unit": "deg"},
    "circle": {"type": "sphere", "dim": 1},
    "sphere2": {"type": "sphere", "dim": 2},
    "cap2": {"type": "sphere", "dim": 2, "cap": {"center": [0.6, 0, -0.8], "radius": 0.6}},
    "sphere5": {"type": "sphere", "dim": 5},
    "rotation2": {"type": "rotation", "dim": 2},
    "rotation3": {"type": "rotation"},
    "rotation3-xyzw": {"type": "rotation", "order": "xyzw"},
    "rotation3-matrix": {"type": "rotation", "representation": "matrix"},
    "ball3": {"type": "rotation", "ball": {"center": {"rotvec": [0.5, -1, 2]}, "radius": 0.8}},
    "rotation4": {"type": "rotation", "dim": 4},
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [10, 300], "unit": "N/m"},
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10]},
    "spd4": {"type": "spd", "dim": 4, "eigenvalues": [0.1, 10], "metric": "log_euclidean"},
    "hyperbolic2": NODE,
    "hyperbolic2-poincare": {"type": "hyperbolic", "dim": 2, "radius": 3.0, "model": "poincare"},
    "hyperbolic3": {"type": "hyperbolic", "dim": 3, "radius": 2.0},
    "pose": {"type": "pose", "position": {"bounds": [[0, 1]] * 3}, "orientation": {"order": "xyzw"}},
    "branch": {"type": "product", "factors": {f"node_{number}": NODE for number in (1, 2, 3)}},
    "product": {
        "type": "product",
        "factors": {
            "arm": {"type": "product", "factors": {"tool": {"type": "rotation", "order": "xyzw"}}},
            "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10, 3000]},
            "speed": {"type": "real", "bounds": [0, 1]},
        },
    },
}
