"""Domains: where suggestions may lie, how they are drawn, and how they are kept inside."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import torch
from geodrome_core.geometry.ball import BallDomain
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.spec import space_from_spec
from geodrome_core.geometry.sphere import Sphere
from hypothesis import assume, example, given
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import MANIFOLDS, SPECS, generator, points, seeds

assert_close = torch.testing.assert_close

BORDERED = {name: manifold for name, manifold in MANIFOLDS.items() if manifold.has_border}
BORDERLESS = {name: manifold for name, manifold in MANIFOLDS.items() if not manifold.has_border}

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS.values(), ids=MANIFOLDS)
every_border = pytest.mark.parametrize("manifold", BORDERED.values(), ids=BORDERED)
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def as_float32(point: object) -> object:
    """The JSON point after every number went through a float32."""
    match point:
        case float() | int():
            return torch.tensor(point, dtype=torch.float32).item()
        case list():
            return [as_float32(item) for item in point]
        case dict():
            return {key: as_float32(item) for key, item in point.items()}
    raise TypeError(type(point))


def stretched(manifold: Manifold, x: Tensor, factor: float) -> Tensor:
    """Points ``factor`` times as far from the first as they are, in a straight line: across the border when large."""
    return manifold.exp(x[:1].expand_as(x), factor * manifold.log(x[:1].expand_as(x), x))


@every_manifold
@given(seed=seeds)
def test_random_points_lie_in_the_domain_and_repeat_with_their_seed(manifold, seed):
    before = torch.get_rng_state()

    x = manifold.random(8, generator(seed))

    assert x.shape == (8, manifold.width)
    assert x.dtype == torch.float64
    assert bool(manifold.contains(x).all())
    assert torch.equal(x, manifold.random(8, generator(seed)))
    assert not torch.equal(x, manifold.random(8, generator(seed + 1)))
    assert torch.equal(before, torch.get_rng_state())  # no draw from the global generator
    assert manifold.random(0, generator(seed)).shape == (0, manifold.width)


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_random_directions_are_uniform(dim):
    """A uniform unit vector has mean zero and second moments 1 / (dim + 1)."""
    x = Sphere(dim).random(20_000, generator(0))

    moments = x.mT @ x / len(x)

    assert_close(x.mean(0), torch.zeros(dim + 1, dtype=torch.float64), atol=0.02, rtol=0.0)
    assert_close(moments, torch.eye(dim + 1, dtype=torch.float64) / (dim + 1), atol=0.02, rtol=0.0)


def test_random_rotations_are_uniform():
    """The angle t of a uniform rotation has the distribution function (t - sin t) / pi."""
    identity = torch.eye(3, dtype=torch.float64).flatten()
    x = Rotation().random(20_000, generator(0))

    angles, _ = torch.sort(Rotation().distance(identity.expand_as(x), x))

    expected = (angles - torch.sin(angles)) / math.pi
    found = (torch.arange(len(x)) + 0.5) / len(x)
    assert float((expected - found).abs().max()) < 0.0115  # Kolmogorov's bound at 1 %


def test_random_eigenvalues_are_log_uniform_and_eigenvectors_uniform():
    x = SPD(2, eigenvalues=(0.1, 1000.0)).random(20_000, generator(0)).unflatten(-1, (2, 2))

    values, vectors = torch.linalg.eigh(x)

    logs, _ = torch.sort(torch.log10(values.flatten()))
    assert float(((logs + 1) / 4 - (torch.arange(len(logs)) + 0.5) / len(logs)).abs().max()) < 0.0082
    turns, _ = torch.sort(torch.atan2(vectors[:, 1, 0], vectors[:, 0, 0]) % math.pi / math.pi)
    assert float((turns - (torch.arange(len(turns)) + 0.5) / len(turns)).abs().max()) < 0.0115


@every_manifold
@given(data=st.data())
def test_clamping_leads_into_the_domain_and_leaves_inner_points_alone(manifold, data):
    x = data.draw(points(manifold, count=6))
    outside = stretched(manifold, x, data.draw(st.floats(0, 4)))

    clamped = manifold.clamp(outside)

    assert bool(manifold.contains(clamped).all())
    assert_close(manifold.clamp(clamped), clamped, atol=1e-6, rtol=1e-6)
    inner = x if isinstance(manifold, Integer) else stretched(manifold, x, 0.9)
    if isinstance(manifold, BallDomain):
        inner = inner[manifold.contains(inner)]  # large balls are not convex
    assert_close(manifold.clamp(inner), inner, atol=1e-6, rtol=1e-6)


@every_spec
@given(data=st.data())
def test_answered_points_are_inside_even_after_a_float32(spec, data):
    """JSON readers of other languages often keep floats of 32 bits."""
    space = space_from_spec(spec)
    manifold = space.manifold
    x = manifold.random(3, generator(data.draw(seeds)))
    rows = manifold.clamp(manifold.nearest(stretched(manifold, x, data.draw(st.floats(0, 3)))))

    for row in rows:
        point = space.point(row)
        text = json.dumps(point, allow_nan=False)

        assert json.loads(text) == point
        assert space.check(json.loads(text)).outside == ()
        assert space.check(json.loads(text)).corrections == ()
        assert space.check(as_float32(point)).outside == ()


@given(
    low=st.floats(-1e6, 1e6),
    span=st.floats(1e-9, 1e9),
    position=st.floats(0, 1),
)
@example(low=1.0, span=1e-9, position=0.5)  # no float32 lies between these bounds
@example(low=1e300, span=1e300, position=1.0)
@example(low=1e-60, span=1e-55, position=0.0)
def test_answered_reals_are_inside_any_bounds(low, span, position):
    bounds = [low, low + span]
    assume(bounds[0] < bounds[1])
    space = space_from_spec({"type": "real", "bounds": bounds})

    point = space.point(torch.tensor([position], dtype=torch.float64))

    assert bounds[0] <= point <= bounds[1]
    if any(bounds[0] <= float(torch.tensor(b, dtype=torch.float32)) <= bounds[1] for b in [*bounds, point]):
        assert bounds[0] <= float(torch.tensor(point, dtype=torch.float32)) <= bounds[1]


@given(
    low=st.floats(1e-6, 1e3),
    ratio=st.floats(1.00001, 1e9),
    seed=seeds,
    at=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=2),
)
def test_answered_matrices_are_inside_any_eigenvalue_bounds_even_after_a_float32(low, ratio, seed, at):
    space = space_from_spec({"type": "spd", "dim": 2, "eigenvalues": [low, low * ratio]})
    frame = torch.linalg.qr(torch.randn(2, 2, generator=generator(seed), dtype=torch.float64)).Q
    values = low * ratio ** torch.tensor(at, dtype=torch.float64)
    row = space.manifold.clamp((frame * values @ frame.mT).flatten())

    point = space.point(row)

    rounded = torch.tensor(point, dtype=torch.float32).double()
    for matrix in (torch.tensor(point, dtype=torch.float64), rounded):
        eigenvalues = torch.linalg.eigvalsh(matrix)
        assert low * (1 - 1e-15) <= float(eigenvalues[0])
        assert float(eigenvalues[-1]) <= low * ratio * (1 + 1e-15)


@every_border
@given(data=st.data())
def test_the_barrier_is_finite_inside_and_minus_infinity_outside(manifold, data):
    x = data.draw(points(manifold, count=6))
    outside = stretched(manifold, x, 50.0)
    outside = outside[~manifold.contains(outside)]

    assert bool(torch.isfinite(manifold.barrier(x)).all())
    assert bool((manifold.barrier(outside) == -torch.inf).all())


@pytest.mark.parametrize("manifold", BORDERLESS.values(), ids=BORDERLESS)
@given(data=st.data())
def test_the_barrier_is_zero_where_there_is_no_border(manifold, data):
    x = data.draw(points(manifold))

    assert torch.equal(manifold.barrier(x), torch.zeros(len(x), dtype=torch.float64))


@pytest.mark.parametrize(
    ("manifold", "point"),
    [
        (Euclidean(2, boxed=True), lambda gap: [gap, 0.5]),
        (Euclidean(2, boxed=True), lambda gap: [0.5, 1 - gap]),
        (SPD(2, eigenvalues=(0.2, 5.0)), lambda gap: [0.2 + gap, 0.0, 0.0, 1.0]),
        (SPD(2, eigenvalues=(0.2, 5.0)), lambda gap: [1.0, 0.0, 0.0, 5.0 - gap]),
    ],
)
def test_the_barrier_falls_as_the_logarithm_of_the_gap_to_the_border(manifold, point):
    def barrier(gap: float) -> float:
        return float(manifold.barrier(torch.tensor(point(gap), dtype=torch.float64)))

    gaps = [1e-1, 1e-3, 1e-6, 1e-9]

    assert all(barrier(near) < barrier(far) for far, near in itertools.pairwise(gaps))
    assert barrier(1e-6) - barrier(1e-9) == pytest.approx(math.log(1000), abs=1e-4)
    assert barrier(0.0) == -math.inf
    assert barrier(-1e-9) == -math.inf


def test_the_barrier_of_a_matrix_is_the_log_determinant_of_its_gaps():
    """By hand: eigenvalues 1 and 3 between 0.5 and 4 leave the relative gaps 1, 5 below and 3/4, 1/4 above."""
    turn = math.sqrt(0.5) * torch.tensor([[1.0, -1.0], [1.0, 1.0]], dtype=torch.float64)
    x = (turn @ torch.diag(torch.tensor([1.0, 3.0], dtype=torch.float64)) @ turn.mT).flatten()

    barrier = SPD(2, eigenvalues=(0.5, 4.0)).barrier(x)

    assert float(barrier) == pytest.approx(math.log(1 * 5) + math.log(0.75 * 0.25), abs=1e-14)


@every_border
@given(seed=seeds)
def test_the_barrier_is_concave_in_its_ambient_numbers(manifold, seed):
    x, y = manifold.random(10, generator(seed)), manifold.random(10, generator(seed + 1))
    if "nested" in BORDERED and manifold is BORDERED["nested"]:
        y = torch.cat([y[:, :1], x[:, 1:4], y[:, 4:]], -1)  # a chord leaves the sphere
    if manifold is BORDERED["pose"]:
        y = torch.cat([y[:, :3], x[:, 3:]], -1)

    middle = manifold.barrier((x + y) / 2)

    assert bool((middle >= (manifold.barrier(x) + manifold.barrier(y)) / 2 - 1e-12).all())


@every_border
@example(seed=20582)  # far outside, a matrix whose least eigenvalue is positive or negative as one rounds
@given(seed=seeds)
def test_the_barrier_s_gradient_is_its_slope_also_beside_points_outside(manifold, seed):
    """One point outside must not spoil the gradients of the others in its batch."""
    x = manifold.random(5, generator(seed))
    outside = stretched(manifold, x, 50.0)
    outside = outside[~manifold.contains(outside)]
    u = manifold.tangent(x, torch.ones(5, manifold.dim, dtype=torch.float64))
    leaf = torch.cat([x, outside]).requires_grad_()

    (gradient,) = torch.autograd.grad(manifold.barrier(leaf)[:5].sum(), leaf)

    step = 1e-6 * torch.exp(manifold.barrier(x) / 4).clamp(max=1.0).unsqueeze(-1)
    slope = (manifold.barrier(x + step * u) - manifold.barrier(x - step * u)) / (2 * step.squeeze(-1))
    assert bool(torch.isfinite(gradient).all())
    assert_close((gradient[:5] * u).sum(-1), slope, atol=1e-4, rtol=1e-3)
