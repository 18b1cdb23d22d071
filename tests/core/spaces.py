"""Spaces that the tests of the model and the search run over."""

from __future__ import annotations

SPACES = {
    "real": {"type": "real", "bounds": [0.1, 1000], "scale": "log"},
    "euclidean2": {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [5, 9]]},
    "sphere2": {"type": "sphere", "dim": 2},
    "cap2": {"type": "sphere", "dim": 2, "cap": {"center": [0.6, 0, -0.8], "radius": 0.6}},
    "rotation3": {"type": "rotation"},
    "ball3": {"type": "rotation", "ball": {"center": {"rotvec": [0.5, -1, 2]}, "radius": 0.8}},
    "rotation4": {"type": "rotation", "dim": 4},
    "ball4": {
        "type": "rotation",
        "dim": 4,
        "ball": {"center": [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0.6, -0.8], [0, 0, 0.8, 0.6]], "radius": 2.0},
    },
    "spd2": {"type": "spd", "dim": 2, "eigenvalues": [0.1, 10]},
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10]},
    "compliance3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10], "metric": "log_euclidean"},
    "inertia3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10], "metric": "cholesky"},
    "ball2": {"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 3.0},
    "torus2": {"type": "torus", "dim": 2, "unit": "deg"},
    "joints2": {"type": "joints", "bounds": [[-2.9, 2.9], [-1.8, 1.8]]},
    "count": {"type": "integer", "bounds": [-5, 500]},
    "product": {
        "type": "product",
        "factors": {
            "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10, 3000]},
            "tool": {"type": "rotation", "order": "xyzw"},
            "gain": {"type": "real", "bounds": [0, 1]},
        },
    },
}
