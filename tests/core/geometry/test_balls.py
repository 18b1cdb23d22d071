"""Geodesic balls as domains: uniform draws, clamping, barriers up to the border, and points and specs on the wire."""

from __future__ import annotations

import math

import pytest
import scipy.stats
import torch
from geodrome_core import space_from_spec
from geodrome_core.geometry.ball import Ball, BallDomain
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.rotation_ball import squared_angles
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal, rotation_angles, skew_exponential
from geodrome_core.geometry.sphere import Sphere
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import around, generator, seeds

assert_close = torch.testing.assert_close

KOLMOGOROV = 1.63  # over sqrt(n), at 1 %
PEER_KOLMOGOROV = 1.63 * math.sqrt(2)  # of two samples of n each

CAP = {"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 2e-3 + 1], "radius": 0.5}}
TOOL = {"type": "rotation", "order": "xyzw", "ball": {"center": [0, 0, 0, -1], "radius": 0.5}}


def sphere(dim: int, radius: float) -> Sphere:
    return Sphere(dim, cap=around(Sphere(dim), radius=radius))


def rotations(size: int, radius: float) -> BallDomain:
    if size == 3:
        return Rotation(ball=around(Rotation(), radius=radius))
    return SpecialOrthogonal(size, ball=around(SpecialOrthogonal(size), radius=radius))


def distances(manifold: BallDomain, x: Tensor) -> Tensor:
    """From the center."""
    return manifold.distance(manifold.ball.center, x)


def at(manifold: BallDomain, distance: float, *, seed: int = 0) -> Tensor:
    """A point at a distance from the center, in a random direction."""
    xi = torch.randn(manifold.dim, generator=generator(seed), dtype=torch.float64)
    center = manifold.ball.center
    return manifold.exp(center, manifold.tangent(center, distance * xi / torch.linalg.vector_norm(xi)))


DOMAINS = {
    "S1": sphere(1, 0.8),
    "S2": sphere(2, 0.001),
    "S2-large": sphere(2, 3.14),
    "S31": sphere(31, 1.0),
    "SO2": rotations(2, 1.0),
    "SO3": rotations(3, 0.001),
    "SO3-large": rotations(3, 3.14),
    "SO4": rotations(4, 0.001),
    "SO5": rotations(5, 2.0),
    "SO8-large": rotations(8, 3.14),
}

every_domain = pytest.mark.parametrize("manifold", DOMAINS.values(), ids=DOMAINS)


# Draws


def largest_gap(samples: Tensor, distribution) -> float:
    """Kolmogorov's distance between samples and a distribution function."""
    ordered, _ = torch.sort(samples)
    return float((distribution(ordered) - (torch.arange(len(samples)) + 0.5) / len(samples)).abs().max())


AREAS = {
    1: lambda t: t,
    2: lambda t: 1 - torch.cos(t),
    3: lambda t: 2 * t - torch.sin(2 * t),
    5: lambda t: 12 * t - 8 * torch.sin(2 * t) + torch.sin(4 * t),
}
"""Integrals of sin^(m-1), up to a factor: the area of a cap of S^m."""


@pytest.mark.parametrize("radius", [0.4, 1.6, 3.1])
@pytest.mark.parametrize("dim", AREAS)
def test_directions_are_uniform_in_a_cap(dim, radius):
    manifold = sphere(dim, radius)
    x = manifold.random(20_000, generator(0))

    share = largest_gap(distances(manifold, x), lambda t: AREAS[dim](t) / AREAS[dim](torch.tensor(radius).double()))

    assert share < KOLMOGOROV / math.sqrt(20_000)
    u = manifold.log(manifold.ball.center.expand_as(x), x)
    u = u / torch.linalg.vector_norm(u, dim=-1, keepdim=True)
    tangent = manifold.basis(manifold.ball.center)
    assert_close(u.mean(0), torch.zeros(dim + 1).double(), atol=0.025, rtol=0.0)
    assert_close(u.mT @ u / len(u), tangent.mT @ tangent / dim, atol=0.025, rtol=0.0)


@pytest.mark.parametrize("dim", [2, 31])
def test_a_small_cap_is_filled_as_a_flat_ball(dim):
    manifold = sphere(dim, 0.001)

    t = distances(manifold, manifold.random(20_000, generator(0)))

    assert largest_gap(t, lambda t: (t / 0.001) ** dim) < KOLMOGOROV / math.sqrt(20_000)


@pytest.mark.parametrize("radius", [0.4, 3.1])
def test_rotations_are_uniform_in_a_ball(radius):
    """Their angles have the density 1 - cos t."""
    manifold = rotations(3, radius)

    t = distances(manifold, manifold.random(20_000, generator(0)))

    gap = largest_gap(t, lambda t: (t - torch.sin(t)) / (radius - math.sin(radius)))
    assert gap < KOLMOGOROV / math.sqrt(20_000)


@pytest.mark.parametrize(("size", "radius"), [(2, 1.5), (3, 3.1), (4, 3.1), (5, 3.14), (6, 3.14)])
def test_rotations_of_any_size_are_those_of_the_whole_group_that_lie_in_the_ball(size, radius):
    """Each angle has the same law in the ball as among Haar's rotations that happen to fall into it."""
    ball = Ball(torch.eye(size, dtype=torch.float64).flatten(), radius)
    manifold = SpecialOrthogonal(size, ball=ball)
    expected = SpecialOrthogonal(size).random(20_000, generator(1))
    expected = expected[manifold.contains(expected)]

    x = manifold.random(len(expected), generator(0))

    eye = torch.eye(size, dtype=torch.float64)
    angles, peers = (rotation_angles(eye, rows.unflatten(-1, (size, size))) for rows in (x, expected))
    for one, other in zip(
        [*angles.unbind(-1), angles.norm(dim=-1)], [*peers.unbind(-1), peers.norm(dim=-1)], strict=True
    ):
        found = scipy.stats.ks_2samp(one.numpy(), other.numpy()).statistic
        assert found < PEER_KOLMOGOROV / math.sqrt(len(expected))


def test_a_small_ball_of_any_size_is_filled_as_a_flat_ball():
    manifold = rotations(8, 0.001)

    t = distances(manifold, manifold.random(5_000, generator(0)))

    assert largest_gap(t, lambda t: (t / 0.001) ** 28) < KOLMOGOROV / math.sqrt(5_000)


# Clamping


@every_domain
def test_clamped_points_are_inside_also_when_their_numbers_are_rounded_to_float32(manifold):
    x = torch.stack([at(manifold, manifold.ball.radius + 1e-4, seed=seed) for seed in range(300)])

    clamped = manifold.clamp(x)

    assert not bool(manifold.contains(x).any())
    assert bool(manifold.contains(clamped).all())
    assert bool(manifold.contains(manifold.nearest(clamped.to(torch.float32).double())).all())
    assert float(distances(manifold, clamped).min()) > manifold.ball.radius - 3e-7


@pytest.mark.parametrize("radius", [0.001, 1.0, 3.14])
def test_clamped_quaternions_are_inside_also_when_their_numbers_are_rounded_to_float32(radius):
    """Their rotations turn by twice as much as they do."""
    center = [0.1, -0.7, 0.5, 0.5]
    space = space_from_spec({"type": "rotation", "ball": {"center": center, "radius": radius}})
    (manifold,) = space.factors.values()

    for seed in range(300):
        point = space.point(manifold.clamp(at(manifold, radius + 1e-4, seed=seed)))

        assert space.check(torch.tensor(point, dtype=torch.float32).tolist()).outside == ()


@every_domain
@given(seed=seeds, share=st.floats(0.5, 1.0), margin=st.floats(0.0, 0.4))
def test_clamping_moves_along_the_geodesic_to_the_center_and_keeps_the_margin(manifold, seed, share, margin):
    radius = manifold.ball.radius
    x = at(manifold, share * radius, seed=seed)

    clamped = manifold.clamp(x, margin=margin)

    kept = min(share * radius, (1 - 2 * margin) * radius - 2.0**-22)
    assert float(distances(manifold, clamped)) == pytest.approx(kept, abs=1e-13)
    assert float(manifold.distance(clamped, x)) == pytest.approx(share * radius - kept, abs=1e-12)


# Barriers


def derivatives(manifold: BallDomain, x: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient (m,) and Hessian (m, m) of the barrier in tangent coordinates at ``x``, as the search does it."""
    xi = torch.zeros(manifold.dim, dtype=torch.float64, requires_grad=True)
    value = manifold.barrier(manifold.retract(x, manifold.tangent(x, xi)))
    (gradient,) = torch.autograd.grad(value, xi, create_graph=True)
    axes = torch.eye(manifold.dim, dtype=torch.float64)
    (hessian,) = torch.autograd.grad(gradient, xi, axes, is_grads_batched=True)
    return gradient.detach(), hessian


@every_domain
def test_the_barrier_is_a_logarithm_that_ends_at_the_border(manifold):
    radius = manifold.ball.radius

    def barrier(distance: float) -> float:
        return float(manifold.barrier(at(manifold, distance)))

    assert barrier(0.0) == pytest.approx(0.0, abs=1e-12)
    assert barrier(radius * (1 - 1e-5)) - barrier(radius * (1 - 1e-8)) == pytest.approx(math.log(1000), abs=0.01)
    assert math.isfinite(barrier(radius * (1 - 1e-9)))
    assert barrier(radius * (1 + 1e-9)) == -math.inf
    assert barrier((radius + math.pi) / 2) == -math.inf
    assert barrier(math.pi) == -math.inf


def test_the_barrier_of_a_cap_is_the_logarithm_of_its_height():
    """By hand: a cap of 60 degrees is 1/2 high, and over 30 degrees (sqrt 3 - 1) / 2 of it are left."""
    expected = math.log(math.sqrt(3) - 1)

    for manifold in (sphere(2, math.pi / 3), rotations(3, math.pi / 3)):
        assert float(manifold.barrier(at(manifold, math.pi / 6))) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("size", [2, 4, 5])
def test_the_barrier_of_other_rotations_is_that_of_the_squared_distance(size):
    manifold = rotations(size, 1.0)

    assert float(manifold.barrier(at(manifold, 0.5))) == pytest.approx(math.log(3 / 4), abs=1e-14)


@every_domain
def test_at_the_center_the_barrier_is_flat_and_round(manifold):
    """Its Hessian is minus the inverse of 1 - cos r, or of half r squared, which is nearly the same when r is small."""
    radius = manifold.ball.radius
    is_chord = isinstance(manifold, Sphere | Rotation)

    gradient, hessian = derivatives(manifold, manifold.ball.center)

    scale = 2 * math.sin(radius / 2) ** 2 if is_chord else radius**2 / 2
    assert_close(gradient * math.sqrt(scale), torch.zeros_like(gradient), atol=1e-9, rtol=0.0)
    assert_close(hessian * scale, -torch.eye(manifold.dim, dtype=torch.float64), atol=1e-8, rtol=0.0)


@every_domain
@pytest.mark.parametrize("gap", [0.5, 1e-2, 1e-5, 1e-9])
def test_the_barrier_s_derivatives_point_along_the_radius_up_to_the_border(manifold, gap):
    """Those of log(cos t - cos r) and of log(r^2 - t^2), for t = (1 - gap) r."""
    radius = manifold.ball.radius
    t, total = (1 - gap) * radius, (2 - gap) * radius
    if isinstance(manifold, Sphere | Rotation):
        depth = 2 * math.sin(total / 2) * math.sin(gap * radius / 2)
        slope, bend = -math.sin(t) / depth, -math.cos(t) / depth
    else:
        depth = total * gap * radius
        slope, bend = -2 * t / depth, -2 / depth
    x = at(manifold, t, seed=1)
    outward = -manifold.log(x, manifold.ball.center)
    base, outward = x.expand(manifold.dim, -1), (outward / manifold.norm(x, outward)).expand(manifold.dim, -1)
    direction = manifold.inner(base, outward, manifold.basis(x))

    gradient, hessian = derivatives(manifold, x)

    assert_close(gradient, slope * direction, atol=1e-3 * abs(slope), rtol=0.0)
    assert bool(torch.isfinite(hessian).all())
    assert float(direction @ hessian @ direction) == pytest.approx(bend - slope**2, rel=1e-3)


@every_domain
def test_points_outside_spoil_no_derivatives_of_their_batch(manifold):
    """At the antipode, at half turns and just outside, in one batch with the center."""
    radius = manifold.ball.radius
    x = torch.stack([at(manifold, t) for t in (0.0, radius * (1 + 1e-9), radius + 1e-4, math.pi - 1e-9, math.pi)])
    xi = torch.zeros(len(x), manifold.dim, dtype=torch.float64, requires_grad=True)

    value = manifold.barrier(manifold.retract(x, manifold.tangent(x, xi)))
    (gradient,) = torch.autograd.grad(torch.where(value > -torch.inf, value, 0.0).sum(), xi, create_graph=True)
    (hessian,) = torch.autograd.grad(gradient.sum(), xi)

    assert value.isneginf().tolist() == [False, True, True, True, True]
    assert bool(torch.isfinite(gradient).all())
    assert bool(torch.isfinite(hessian).all())


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
@given(seed=seeds, longest=st.sampled_from([1e-6, 0.1, 1.0, 3.0]))
def test_squared_angles_have_the_derivatives_of_the_squared_distance(size, seed, longest):
    """Which come from the logarithm, by another way."""
    manifold = SpecialOrthogonal(size)
    center, x = manifold.random(1, generator(seed))[0], None
    xi = torch.randn(manifold.dim, generator=generator(seed + 1), dtype=torch.float64)
    x = manifold.exp(center, manifold.tangent(center, longest * xi / xi.norm()))

    def ours(step: Tensor) -> Tensor:
        return squared_angles((manifold.retract(x, manifold.tangent(x, step)) - center).unflatten(-1, (size, size)))

    def theirs(step: Tensor) -> Tensor:
        a = manifold.log(center, manifold.retract(x, manifold.tangent(x, step)))
        return manifold.inner(center, a, a)

    zero = torch.zeros(manifold.dim, dtype=torch.float64)
    assert_close(ours(zero), theirs(zero), atol=0.0, rtol=1e-9)
    jacobians = [torch.autograd.functional.jacobian(f, zero) for f in (ours, theirs)]
    assert_close(jacobians[0], jacobians[1], atol=1e-9, rtol=1e-9)
    hessians = [torch.autograd.functional.hessian(f, zero) for f in (ours, theirs)]
    assert_close(hessians[0], hessians[1], atol=1e-8, rtol=1e-7)


@pytest.mark.parametrize("angles", [(0.0, 0.0), (1.0, 1.0), (1.0, -1.0), (2.0, 0.0), (2.2, 2.2), (3.1, 0.3)])
def test_squared_angles_are_smooth_where_angles_are_equal_or_zero(angles):
    """Along the two planes t_1 and t_2 their second derivatives are 2, wherever they start."""

    def turned(t: Tensor) -> Tensor:
        planes = torch.zeros(4, 4, dtype=torch.float64)
        planes = planes.index_put((torch.tensor([1, 3]), torch.tensor([0, 2])), t)
        return squared_angles(torch.eye(4, dtype=torch.float64) - skew_exponential(planes - planes.mT))

    start = torch.tensor(angles, dtype=torch.float64)

    assert float(turned(start)) == pytest.approx(sum(t * t for t in angles), abs=1e-13)
    assert_close(torch.autograd.functional.jacobian(turned, start), 2 * start, atol=1e-9, rtol=1e-9)
    hessian = torch.autograd.functional.hessian(turned, start)
    assert_close(hessian, 2 * torch.eye(2, dtype=torch.float64), atol=1e-7, rtol=0.0)


# On the wire


def factor(spec: dict) -> BallDomain:
    (manifold,) = space_from_spec(spec).factors.values()
    return manifold


@pytest.mark.parametrize(
    "center",
    [
        [0.5, 0.5, 0.5, 0.5],
        [-0.5, -0.5, -0.5, -0.5],
        {"w": 1 / 2, "x": 1 / 2, "y": 1 / 2, "z": 1 / 2},
        {"rotvec": [2 * math.pi / 3 / math.sqrt(3)] * 3},
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    ],
)
def test_the_center_is_a_point_in_any_accepted_form(center):
    expected = torch.tensor([0.0, 0, 1, 1, 0, 0, 0, 1, 0], dtype=torch.float64)

    for representation in ("quaternion", "matrix"):
        ball = factor(
            {"type": "rotation", "representation": representation, "ball": {"center": center, "radius": 1}}
        ).ball

        assert_close(ball.center, expected, atol=1e-15, rtol=0.0)
        assert ball.radius == 1.0


def test_a_center_is_read_in_the_order_of_the_spec_and_normalized():
    turned = {"type": "rotation", "order": "xyzw", "ball": {"center": [0, 0, 1.001, 0], "radius": 1}}

    assert factor(turned).ball.center.tolist() == [-1, 0, 0, 0, -1, 0, 0, 0, 1]
    assert factor(CAP).ball.center.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("spec", "point", "distance"),
    [
        (CAP, [math.sin(0.75), 0, math.cos(0.75)], 0.75),
        (CAP, [0, 0, -1], math.pi),
        (TOOL, {"rotvec": [0, 0.75, 0]}, 0.75),
        (TOOL, [0, 0, math.sin(0.375), -math.cos(0.375)], 0.75),
        (TOOL, [[-1, 0, 0], [0, -1, 0], [0, 0, 1]], math.pi),
        ({**TOOL, "representation": "matrix"}, {"rotvec": [0, 0.75, 0]}, 0.75),
    ],
)
def test_a_point_beyond_the_radius_is_read_and_said_to_be_outside(spec, point, distance):
    found = space_from_spec(spec).check(point)

    (outside,) = found.outside
    assert outside.got == pytest.approx(distance, abs=1e-15)
    assert outside.detail.startswith(f"the point is {distance:.6g} rad from the center, {distance - 0.5:.3g} beyond")
    assert outside.rule == "within the radius"


@pytest.mark.parametrize("spec", [CAP, TOOL])
def test_a_rounding_beyond_the_radius_is_clamped(spec):
    space = space_from_spec(spec)
    (manifold,) = space.factors.values()

    found = space.check(space.point(at(manifold, 0.5 * (1 + 1e-11))))
    beyond = space.check(space.point(at(manifold, 0.5 * (1 + 1e-8))))

    assert found.outside == ()
    assert 0.4999997 < float(distances(manifold, found.row)) < 0.5
    assert beyond.outside[0].detail == "the point is 0.5 rad from the center, 5e-09 beyond the radius 0.5"


def test_a_ball_bounds_the_scale_of_its_domain():
    assert factor(CAP).diameter == 1.0
    assert factor({**CAP, "cap": {"center": [0, 0, 1], "radius": 3}}).diameter == math.pi
    assert rotations(5, 3.0).diameter == math.pi * math.sqrt(2)
