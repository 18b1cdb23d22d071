"""Hyperbolic space: pymanopt's Poincaré ball, digits near and far, and what clients may send."""

from __future__ import annotations

import math

import numpy as np
import pymanopt.manifolds
import pytest
import torch
from geodrome_core import PointError, space_from_spec
from geodrome_core.geometry.hyperbolic import Hyperbolic, from_poincare, to_poincare
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import generator, seeds

LORENTZ = {"type": "hyperbolic", "dim": 2}
BALL = {"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 3.0}


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("dim", [2, 3, 8])
@given(seed=seeds)
def test_distances_and_geodesics_are_those_of_pymanopt_s_ball(dim, seed):
    manifold, theirs = Hyperbolic(dim), pymanopt.manifolds.PoincareBall(dim)
    x, y = manifold.random(2, generator(seed))
    p, q = to_poincare(x).numpy(), to_poincare(y).numpy()
    half = manifold.exp(x, 0.5 * manifold.log(x, y))

    assert float(manifold.distance(x, y)) == pytest.approx(float(theirs.dist(p, q)), rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(to_poincare(half).numpy(), theirs.exp(p, 0.5 * theirs.log(p, q)), atol=1e-7)


@given(seed=seeds, distance=st.floats(0, 12))
def test_both_models_name_the_same_point(seed, distance):
    direction = torch.randn(3, generator=generator(seed), dtype=torch.float64)
    direction = direction / torch.linalg.vector_norm(direction)
    x = torch.cat([tensor(math.cosh(distance)), math.sinh(distance) * direction])

    p = to_poincare(x)

    assert float(torch.linalg.vector_norm(p)) == pytest.approx(math.tanh(distance / 2), abs=1e-15)
    # A rounding of the ball's radius is a rounding over 1 - |p|^2 of the point.
    torch.testing.assert_close(from_poincare(p), x, atol=1e-15, rtol=1e-15 * math.cosh(distance) + 1e-15)


@pytest.mark.parametrize("gap", [1e-15, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("far", [0.0, 3.0, 8.0])
def test_short_distances_keep_their_digits_also_far_out(gap, far):
    """With acosh of the inner product, 1e-8 is 0, and far from the origin so is 1e-5."""
    manifold = Hyperbolic(2)
    x = tensor(math.cosh(far), math.sinh(far), 0)
    u = gap * tensor(0, 0, 1)  # tangent at x, and it changes only a small coordinate

    y = manifold.exp(x, u)

    assert float(manifold.distance(x, y)) == pytest.approx(gap, rel=1e-12)
    assert float(manifold.norm(x, manifold.log(x, y))) == pytest.approx(gap, rel=1e-12)


# Reading


def fault(spec, point):
    with pytest.raises(PointError) as error:
        space_from_spec(spec).check(point)
    (only,) = error.value.faults
    return only


def test_each_model_may_be_named():
    lorentz, ball = space_from_spec(LORENTZ), space_from_spec(BALL)
    row = [math.cosh(1), math.sinh(1), 0.0]
    inside = [math.tanh(0.5), 0.0]

    assert lorentz.check({"poincare": inside}).point == pytest.approx(row, abs=1e-15)
    assert ball.check({"lorentz": row}).point == pytest.approx(inside, abs=1e-15)
    assert lorentz.check({"lorentz": row}).point == lorentz.check(row).point
    assert ball.check({"poincare": inside}).point == inside


def test_a_rounded_time_coordinate_is_recomputed_and_reported():
    found = space_from_spec(LORENTZ).check([1.54, math.sinh(1), 0.0])

    assert found.point == pytest.approx([math.cosh(1), math.sinh(1), 0.0], abs=1e-15)
    (correction,) = found.corrections
    assert "recomputed" in correction.detail
    assert correction.deviation == pytest.approx((math.cosh(1) / 1.54) ** 2 - 1, abs=1e-3)


@pytest.mark.parametrize(
    ("spec", "point", "says"),
    [
        (LORENTZ, [-1.0, 0.0, 0.0], "the time coordinate, the first, is -1"),
        (LORENTZ, [0.0, 1.0, 0.0], "the time coordinate, the first, is 0"),
        (LORENTZ, [1.0, 1.0, 1.0], "<x, x> is 1 and not -1; the time coordinate would be 1.73205"),
        (LORENTZ, [1.0, 0.0], "expected 3 numbers, got 2"),
        (LORENTZ, [1e7, 1e7, 0.0], "16.8112 from the origin, too far"),
        (LORENTZ, {"ball": [0.0, 0.0]}, "unknown form ['ball']"),
        (BALL, [1.0, 0.0], "norm 1, not inside the ball"),
        (BALL, [3.0, 4.0], "norm 5, not inside the ball"),
        (BALL, [0.0, 0.0, 0.0], "expected 2 numbers, got 3"),
        (BALL, {"lorentz": [1.0, 0.0]}, "expected 3 numbers, got 2"),
    ],
)
def test_what_is_no_point_is_refused_with_its_number(spec, point, says):
    assert says in fault(spec, point).detail


def test_a_point_beyond_the_radius_is_read_and_said_to_be_outside():
    found = space_from_spec(BALL).check([math.tanh(1.6), 0.0])

    (outside,) = found.outside
    assert "3.2 from the origin, outside the radius 3" in outside.detail


def test_a_rounding_beyond_the_radius_is_clamped():
    found = space_from_spec(BALL).check([math.tanh(1.5) * (1 + 1e-12), 0.0])

    assert found.outside == ()
    assert found.point[0] < math.tanh(1.5)
