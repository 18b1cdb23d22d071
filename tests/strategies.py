"""Hypothesis strategies: manifolds with points and tangents on them, spaces, and JSON that nobody has checked."""

from __future__ import annotations

from typing import Any

import torch
from geodrome_core.geometry.ball import Ball
from geodrome_core.geometry.constrained import ConstrainedProduct
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.polytope import Polytope, Reals
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.spd_domain import EigenvalueBox
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.geometry.torus import Torus
from hypothesis import strategies as st
from torch import Tensor


def bound_together(*, is_log: bool) -> ConstrainedProduct:
    """Two reals and a direction between them, where the reals are bound by two inequalities."""
    factors = {"a": Euclidean(1, boxed=True), "up": Sphere(2), "b": Euclidean(1, boxed=True)}
    low = 1e-3 if is_log else -1.0
    reals = Reals(
        torch.tensor([0, 4]),
        torch.tensor([0, 3]),
        torch.tensor([[low, 1.0], [low, 1.0]], dtype=torch.float64),
        torch.tensor([is_log, False]),
    )
    weights = torch.tensor([[1.0, 1.0], [2.0, -1.0]], dtype=torch.float64)
    return ConstrainedProduct(factors, Polytope(reals, weights, torch.tensor([0.5, 0.1], dtype=torch.float64)))


def around(manifold: Manifold, *, radius: float) -> Ball:
    """A ball about some point of the manifold."""
    return Ball(manifold.random(1, torch.Generator().manual_seed(5))[0], radius)


MANIFOLDS: dict[str, Manifold] = {
    "R1": Euclidean(1),
    "R7": Euclidean(7),
    "box1": Euclidean(1, boxed=True),
    "box3": Euclidean(3, boxed=True),
    "integer": Integer(7),
    "T1": Torus(1),
    "T2": Torus(2),
    "T7": Torus(7),
    "S1": Sphere(1),
    "S2": Sphere(2),
    "S3": Sphere(3),
    "S10": Sphere(10),
    "S31": Sphere(31),
    "S1-arc": Sphere(1, cap=around(Sphere(1), radius=1.0)),
    "S2-cap": Sphere(2, cap=around(Sphere(2), radius=0.5)),
    "S10-large-cap": Sphere(10, cap=around(Sphere(10), radius=2.0)),
    "SO3": Rotation(),
    "SO3-ball": Rotation(ball=around(Rotation(), radius=1.0)),
    "SO3-large-ball": Rotation(ball=around(Rotation(), radius=3.0)),
    "SO2": SpecialOrthogonal(2),
    "SO4": SpecialOrthogonal(4),
    "SO5": SpecialOrthogonal(5),
    "SO6": SpecialOrthogonal(6),
    "SO2-arc": SpecialOrthogonal(2, ball=around(SpecialOrthogonal(2), radius=2.0)),
    "SO4-ball": SpecialOrthogonal(4, ball=around(SpecialOrthogonal(4), radius=1.0)),
    "SO5-large-ball": SpecialOrthogonal(5, ball=around(SpecialOrthogonal(5), radius=2.5)),
    "SPD1": SPD(1),
    "SPD2": SPD(2),
    "SPD2-bounded": SPD(2, eigenvalues=(0.2, 5.0)),
    "SPD3-bounded": SPD(3, eigenvalues=(0.2, 5.0)),
    "eigen-SPD2-bounded": EigenProductSPD(2, eigenvalues=(0.2, 5.0)),
    "log-SPD2": LogEuclideanSPD(2),
    "log-SPD5-bounded": LogEuclideanSPD(5, eigenvalues=(0.2, 5.0)),
    "cholesky-SPD2": CholeskySPD(2),
    "cholesky-SPD5-bounded": CholeskySPD(5, eigenvalues=(0.2, 5.0)),
    "H2": Hyperbolic(2),
    "H2-bounded": Hyperbolic(2, radius=1.5),
    "H3": Hyperbolic(3),
    "H8-bounded": Hyperbolic(8, radius=1.5),
    "pose": Product({"position": Euclidean(3, boxed=True), "orientation": Rotation()}),
    "wedge": bound_together(is_log=False),
    "log-wedge": bound_together(is_log=True),
    "nested": Product(
        {
            "gain": Euclidean(1),
            "tool": Product({"direction": Sphere(2), "stiffness": SPD(2, eigenvalues=(0.2, 5.0))}),
        }
    ),
}
"""Every kind of manifold, at the dimensions where its formulas change."""

SPECS: dict[str, dict[str, Any]] = {
    "real": {"type": "real"},
    "gain": {"type": "real", "bounds": [-3.0, 0.1]},
    "log-gain": {"type": "real", "bounds": [1e-5, 1e5], "scale": "log"},
    "count": {"type": "integer", "bounds": [-3, 40]},
    "large-count": {"type": "integer", "bounds": [0, 2**53]},
    "vector": {"type": "euclidean", "dim": 3},
    "box": {"type": "euclidean", "dim": 2, "bounds": [[0.1, 0.3], [-7.0, 1e6]]},
    "log-box": {"type": "euclidean", "dim": 1, "bounds": [[1e-3, 0.7]], "scale": "log"},
    "joints": {"type": "joints", "bounds": [[-2.9, 2.9], [-0.07, 3.75]]},
    "joints-deg": {"type": "joints", "bounds": [[-170.0, 170.0]], "unit": "deg"},
    "wrist": {"type": "torus", "dim": 3},
    "wrist-deg": {"type": "torus", "dim": 2, "unit": "deg"},
    "direction": {"type": "sphere", "dim": 2},
    "circle": {"type": "sphere", "dim": 1},
    "sphere31": {"type": "sphere", "dim": 31},
    "cap": {"type": "sphere", "dim": 2, "cap": {"center": [0.6, 0.0, -0.8], "radius": 0.4}},
    "large-cap": {"type": "sphere", "dim": 5, "cap": {"center": [0, 0, 0, 0, 0, 1], "radius": 3.14}},
    "smallest-cap": {"type": "sphere", "dim": 3, "cap": {"center": [0.1, 0.7, -0.1, 0.7], "radius": 0.001}},
    "wxyz": {"type": "rotation", "representation": "quaternion", "order": "wxyz"},
    "xyzw": {"type": "rotation", "representation": "quaternion", "order": "xyzw"},
    "matrix": {"type": "rotation", "representation": "matrix"},
    "ball": {"type": "rotation", "order": "xyzw", "ball": {"center": {"rotvec": [0.3, -1, 2]}, "radius": 0.3}},
    "matrix-ball": {
        "type": "rotation",
        "representation": "matrix",
        "ball": {"center": [[0, 0, 1], [1, 0, 0], [0, 1, 0]], "radius": 2.5},
    },
    "smallest-ball": {"type": "rotation", "ball": {"center": [0, 0.1, 0.7, 0.707], "radius": 0.001}},
    "planar": {"type": "rotation", "dim": 2},
    "planar-ball": {"type": "rotation", "dim": 2, "ball": {"center": [[0, -1], [1, 0]], "radius": 1.5}},
    "rotation5": {"type": "rotation", "dim": 5, "representation": "matrix"},
    "ball4": {
        "type": "rotation",
        "dim": 4,
        "ball": {"center": [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0.6, 0.8], [0, 0, -0.8, 0.6]], "radius": 0.01},
    },
    "spd": {"type": "spd", "dim": 2},
    "eigen-product": {"type": "spd", "dim": 2, "eigenvalues": [0.2, 5.0], "metric": "eigen_product"},
    "grasp": {
        "type": "pose",
        "position": {"bounds": [[-1, 1], [0.2, 0.3], [0, 7e-3]], "unit": "mm", "frame": "base"},
        "orientation": {"order": "xyzw"},
    },
    "spd3": {"type": "spd", "dim": 3, "eigenvalues": [0.1, 10]},
    "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10.0, 3000.0]},
    "compliance": {"type": "spd", "dim": 6, "eigenvalues": [1e-4, 0.3], "metric": "log_euclidean"},
    "inertia": {"type": "spd", "dim": 3, "eigenvalues": [0.01, 2.0], "metric": "cholesky"},
    "tree": {"type": "hyperbolic", "dim": 3},
    "lorentz": {"type": "hyperbolic", "dim": 2, "model": "lorentz", "radius": 3.0},
    "poincare": {"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 6.0},
    "pose": {
        "type": "product",
        "factors": {
            "position": {"type": "euclidean", "dim": 3, "bounds": [[-1.0, 1.0]] * 3},
            "orientation": {"type": "rotation", "representation": "quaternion", "order": "xyzw"},
        },
    },
    "nested": {
        "type": "product",
        "factors": {
            "gain": {"type": "real", "bounds": [0.01, 100.0], "scale": "log"},
            "tool": {
                "type": "product",
                "factors": {
                    "direction": {"type": "sphere", "dim": 2},
                    "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [0.3, 7.0]},
                },
            },
        },
    },
}
"""A spec of every type of space, with each of its options."""

seeds = st.integers(0, 2**32 - 1)


def generator(seed: int) -> torch.Generator:
    """A generator of its own for each draw."""
    return torch.Generator().manual_seed(seed)


def reach(manifold: Manifold) -> float:
    """Length of tangents within which geodesics are shortest and numbers stay within a few powers of ten."""
    match manifold:
        case EigenvalueBox() | Hyperbolic():
            return 2.0
        case Product():
            return min(reach(factor) for factor in manifold.factors.values())
        case _:
            return min(3.1, 0.97 * manifold.injectivity_radius)


@st.composite
def points(draw: st.DrawFn, manifold: Manifold, count: int = 4) -> Tensor:
    """Points (count, d) in the domain."""
    return manifold.random(count, generator(draw(seeds)))


@st.composite
def geodesics(draw: st.DrawFn, manifold: Manifold, count: int = 4) -> tuple[Tensor, Tensor]:
    """Points and tangents, both (count, d): tangents from zero to ``reach`` long, very short ones included."""
    longest = reach(manifold)
    lengths = st.one_of(st.floats(0, longest), st.sampled_from([0.0, 1e-12, 1e-8, 1e-4, longest]))
    stream = generator(draw(seeds))
    x = manifold.random(count, stream)
    xi = torch.randn(count, manifold.dim, generator=stream, dtype=torch.float64)
    xi = xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True)
    length = torch.tensor([draw(lengths) for _ in range(count)], dtype=torch.float64)
    return x, manifold.tangent(x, length[:, None] * xi)


numbers = st.one_of(
    st.integers(-3, 3),
    st.floats(),  # NaN and infinities included: JSON parsers read 1e400 as infinity
    st.sampled_from([10**400, -(10**400), 1e308, -1e308, 1e200, 5e-324, 1e-160, 1.0, -0.0]),
)

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=4), st.sampled_from(["1.0", "NaN", "w"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    [
                        "w",
                        "x",
                        "y",
                        "z",
                        "rotvec",
                        "diag",
                        "cholesky_lower",
                        "poincare",
                        "gain",
                        "tool",
                        "direction",
                        "matrix",
                    ]
                ),
                st.text(max_size=3),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
"""Anything that a JSON parser may return."""

number_arrays = st.one_of(
    st.lists(numbers, min_size=1, max_size=4),
    st.integers(2, 3).flatmap(
        lambda size: st.lists(st.lists(numbers, min_size=size, max_size=size), min_size=size, max_size=size)
    ),
    st.builds(lambda v: {"rotvec": v}, st.lists(numbers, min_size=3, max_size=3)),
    st.builds(lambda v: {"diag": v}, st.lists(numbers, min_size=2, max_size=2)),
    st.builds(
        lambda m: {"cholesky_lower": m},
        st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=2, max_size=2),
    ),
)
"""Points of the right shape, of any numbers: what gets past the first checks."""

_bounds = st.one_of(st.lists(numbers, min_size=2, max_size=2), st.lists(st.lists(numbers, max_size=2), max_size=3))

_centers = [[0, 1], [1, 0, 0, 0], [[0, 1], [-1, 0]], {"rotvec": [0, 0, 1e9]}, [None], "up", 1e300]
_balls = st.one_of(
    st.builds(lambda center, radius: {"center": center, "radius": radius}, st.sampled_from(_centers), numbers),
    st.sampled_from([None, 0.5, [], {"center": [0, 1]}, {"center": [0, 1], "radius": 2.5, "unit": "deg"}]),
)

_leaf_specs = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "real",
                "integer",
                "euclidean",
                "joints",
                "torus",
                "sphere",
                "rotation",
                "spd",
                "hyperbolic",
                "pose",
                "choice",
                "Real",
                "",
            ]
        )
    },
    optional={
        "dim": st.one_of(st.integers(-1, 4), numbers, json_values),
        "bounds": st.one_of(_bounds, json_values),
        "eigenvalues": st.one_of(_bounds, json_values),
        "scale": st.one_of(st.sampled_from(["linear", "log"]), json_values),
        "representation": st.one_of(st.sampled_from(["matrix", "quaternion"]), json_values),
        "order": st.one_of(st.sampled_from(["wxyz", "xyzw"]), json_values),
        "metric": st.one_of(st.sampled_from(["affine_invariant", "log_euclidean", "cholesky"]), json_values),
        "radius": st.one_of(numbers, json_values),
        "cap": _balls,
        "ball": _balls,
        "model": st.one_of(st.sampled_from(["lorentz", "poincare"]), json_values),
        "unit": st.one_of(st.text(max_size=3), json_values),
        "position": st.one_of(st.just({"bounds": [[0, 1]] * 3}), json_values),
        "orientation": st.one_of(st.just({}), json_values),
    },
)

space_specs = st.one_of(
    json_values,
    st.recursive(
        _leaf_specs,
        lambda inner: st.builds(
            lambda factors: {"type": "product", "factors": factors},
            st.one_of(
                json_values,
                st.dictionaries(
                    st.one_of(st.sampled_from(["a", "b", "a.b", ""]), st.text(max_size=3)), inner, max_size=3
                ),
            ),
        ),
        max_leaves=4,
    ),
)
"""JSON that looks like a space spec, and JSON that does not."""
