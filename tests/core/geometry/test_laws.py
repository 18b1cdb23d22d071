"""What holds on every manifold, whatever its formulas."""

from __future__ import annotations

import inspect
import math

import pytest
import torch
from geodrome_core import geometry
from geodrome_core.geometry.hyperbolic import Hyperbolic
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd_domain import EigenvalueBox
from geodrome_core.geometry.spec import CODECS
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import MANIFOLDS, SPECS, generator, geodesics, points, reach, seeds

assert_close = torch.testing.assert_close

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS.values(), ids=MANIFOLDS)


def off_manifold(manifold: Manifold, x: Tensor) -> float:
    """How far points are from fulfilling the equations of their manifold; infinite for a wrong sign."""
    match manifold:
        case Sphere():
            return float((torch.linalg.vector_norm(x, dim=-1) - 1).abs().max())
        case Rotation() | SpecialOrthogonal():
            size = math.isqrt(manifold.width)
            r = x.unflatten(-1, (size, size))
            reflects = bool((torch.linalg.det(r) < 0).any())
            return math.inf if reflects else float((r @ r.mT - torch.eye(size, dtype=x.dtype)).abs().max())
        case EigenvalueBox(size=size):
            m = x.unflatten(-1, (size, size))
            is_definite = bool((torch.linalg.eigvalsh(m) > 0).all())
            return float((m - m.mT).abs().max()) if is_definite else math.inf
        case Hyperbolic():
            time = torch.sqrt(1 + (x[..., 1:] ** 2).sum(-1))
            return float(((x[..., 0] - time) / time).abs().max())
        case Product():
            parts = [(factor, x[..., manifold.columns[name]]) for name, factor in manifold.factors.items()]
            return max(off_manifold(factor, part) for factor, part in parts)
        case _:
            return 0.0


def test_the_laws_are_tried_on_every_manifold_and_every_type_of_space():
    def concrete(kind: type) -> set[type]:
        below = set().union(*(concrete(sub) for sub in kind.__subclasses__()))
        return below if inspect.isabstract(kind) else {kind, *below}

    def types(spec: dict) -> set[str]:
        inner = [types(factor) for factor in spec.get("factors", {}).values()]
        return {spec["type"]}.union(*inner)

    ours = {kind for kind in concrete(Manifold) if kind.__module__.startswith(geometry.__name__)}

    assert {type(manifold) for manifold in MANIFOLDS.values()} == ours
    assert set().union(*(types(spec) for spec in SPECS.values())) == {*CODECS, "product", "pose"}


@every_manifold
@given(data=st.data())
def test_exp_stays_on_the_manifold(manifold, data):
    x, u = data.draw(geodesics(manifold))

    y = manifold.exp(x, u)

    assert off_manifold(manifold, y) < 1e-14


@every_manifold
@given(data=st.data())
def test_the_retraction_stays_on_the_manifold_however_long_the_step(manifold, data):
    x, u = data.draw(geodesics(manifold))
    factor = data.draw(st.floats(0, 100))

    y = manifold.retract(x, factor * u)

    assert off_manifold(manifold, y) < 1e-14


@every_manifold
@given(data=st.data())
def test_log_undoes_exp_within_the_injectivity_radius(manifold, data):
    x, u = data.draw(geodesics(manifold))

    back = manifold.log(x, manifold.exp(x, u))

    assert_close(back, u, atol=1e-13, rtol=1e-10)


@pytest.mark.parametrize(
    "manifold", [pytest.param(m, id=name) for name, m in MANIFOLDS.items() if math.isfinite(m.injectivity_radius)]
)
def test_beyond_the_injectivity_radius_some_geodesic_is_no_longer_shortest(manifold):
    x = manifold.random(1, generator(0)).expand(manifold.dim, -1)
    u = 1.05 * manifold.injectivity_radius * manifold.tangent(x, torch.eye(manifold.dim, dtype=torch.float64))

    lengths = manifold.distance(x, manifold.exp(x, u))

    assert float(lengths.min()) == pytest.approx(0.95 * manifold.injectivity_radius, rel=1e-12)


@every_manifold
@given(data=st.data())
def test_exp_undoes_log_between_any_two_points(manifold, data):
    x, y = data.draw(points(manifold)), data.draw(points(manifold))

    there = manifold.exp(x, manifold.log(x, y))

    assert_close(there, y, atol=1e-12, rtol=1e-10)


@every_manifold
@given(data=st.data())
def test_distance_is_the_length_of_the_geodesic_and_of_the_logarithm(manifold, data):
    x, u = data.draw(geodesics(manifold))

    y = manifold.exp(x, u)

    assert_close(manifold.distance(x, y), manifold.norm(x, u), atol=1e-14, rtol=1e-9)
    assert_close(manifold.norm(x, manifold.log(x, y)), manifold.norm(x, u), atol=1e-14, rtol=1e-9)


@every_manifold
@given(data=st.data())
def test_distance_is_a_metric(manifold, data):
    x, y, z = (data.draw(points(manifold)) for _ in range(3))

    xy, yz, xz = manifold.distance(x, y), manifold.distance(y, z), manifold.distance(x, z)

    assert_close(manifold.distance(y, x), xy, atol=1e-14, rtol=1e-12)
    assert bool((xz <= xy + yz + 1e-13).all())
    assert bool((manifold.distance(x, x) < 1e-14).all())


@every_manifold
@given(seed=seeds)
def test_no_two_points_of_a_bounded_domain_are_further_apart_than_its_diameter(manifold, seed):
    x = manifold.random(30, generator(seed))

    distances = manifold.distance(x[:, None].expand(-1, 30, -1), x.expand(30, -1, -1))

    if manifold.is_bounded:
        assert float(distances.max()) <= manifold.diameter + 1e-12
    else:
        assert 0.1 < float(distances.max()) / manifold.diameter < 10  # the scale of ordinary data


@every_manifold
@given(data=st.data())
def test_projection_is_idempotent_orthogonal_and_keeps_tangents(manifold, data):
    x, u = data.draw(geodesics(manifold))
    v = torch.randn(x.shape, generator=generator(data.draw(seeds)), dtype=torch.float64)

    tangent = manifold.project(x, v)

    assert_close(manifold.project(x, tangent), tangent, atol=1e-14, rtol=1e-13)
    assert_close(manifold.project(x, u), u, atol=1e-13, rtol=1e-13)
    across = ((v - tangent).unsqueeze(-2) * manifold.basis(x)).sum(-1)
    assert_close(across, torch.zeros_like(across), atol=1e-12, rtol=0.0)


@every_manifold
@given(seed=seeds)
def test_the_dimension_is_the_rank_of_random_tangents(manifold, seed):
    x = manifold.random(1, generator(seed))
    ambient = torch.randn(3 * manifold.width, manifold.width, generator=generator(seed + 1), dtype=torch.float64)

    tangents = manifold.project(x.expand_as(ambient), ambient)

    assert int(torch.linalg.matrix_rank(tangents, rtol=1e-9)) == manifold.dim


@every_manifold
@given(data=st.data())
def test_the_basis_is_orthonormal_and_tangent(manifold, data):
    x = data.draw(points(manifold))

    basis = manifold.basis(x)

    assert basis.shape == (*x.shape[:-1], manifold.dim, manifold.width)
    base = x.unsqueeze(-2).expand_as(basis)
    assert_close(manifold.project(base, basis), basis, atol=1e-13, rtol=1e-13)
    square = (*x.shape[:-1], manifold.dim, manifold.dim, manifold.width)
    gram = manifold.inner(
        x[:, None, None].expand(square), basis.unsqueeze(-2).expand(square), basis.unsqueeze(-3).expand(square)
    )
    assert_close(gram, torch.eye(manifold.dim, dtype=x.dtype).expand_as(gram), atol=1e-11, rtol=0.0)


@every_manifold
@given(data=st.data())
def test_coordinates_in_the_basis_have_the_length_of_their_tangent(manifold, data):
    x = data.draw(points(manifold))
    xi = torch.randn(len(x), manifold.dim, generator=generator(data.draw(seeds)), dtype=torch.float64)

    u = manifold.tangent(x, xi)

    assert_close(manifold.norm(x, u), torch.linalg.vector_norm(xi, dim=-1), atol=0.0, rtol=1e-11)


@every_manifold
@given(data=st.data())
def test_the_retraction_differs_from_exp_in_third_order_only(manifold, data):
    """Half the step leaves an eighth of the difference: for a first-order retraction it would be a quarter."""
    x = data.draw(points(manifold))
    xi = torch.randn(len(x), manifold.dim, generator=generator(data.draw(seeds)), dtype=torch.float64)
    u = manifold.tangent(x, xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True))

    def difference(step: float) -> Tensor:
        return manifold.distance(manifold.exp(x, step * u), manifold.retract(x, step * u))

    far, near = difference(0.08), difference(0.04)

    assert bool((near < far / 7 + 1e-13).all())
    assert bool((near < 0.04**3).all())


@every_manifold
@given(data=st.data())
def test_parallel_transport_keeps_lengths_and_angles(manifold, data):
    x, along = data.draw(geodesics(manifold))
    y = manifold.exp(x, along)
    stream = generator(data.draw(seeds))
    u, v = (
        manifold.tangent(x, torch.randn(len(x), manifold.dim, generator=stream, dtype=torch.float64)) for _ in range(2)
    )

    moved = manifold.transport(x, y, u)

    assert_close(manifold.project(y, moved), moved, atol=1e-11, rtol=1e-11)
    assert_close(manifold.inner(y, moved, manifold.transport(x, y, v)), manifold.inner(x, u, v), atol=1e-10, rtol=1e-10)


@every_manifold
@given(data=st.data())
def test_parallel_transport_carries_the_velocity_along_and_is_undone_on_the_way_back(manifold, data):
    x, along = data.draw(geodesics(manifold))
    y = manifold.exp(x, along)
    u = manifold.tangent(x, torch.randn(len(x), manifold.dim, generator=generator(3), dtype=torch.float64))

    assert_close(manifold.transport(x, y, along), -manifold.log(y, x), atol=1e-12, rtol=1e-9)
    assert_close(manifold.transport(y, x, manifold.transport(x, y, u)), u, atol=1e-10, rtol=1e-10)


@every_manifold
@given(data=st.data())
def test_parallel_transport_is_minus_the_reflection_through_the_midpoint(manifold, data):
    """On a symmetric space the reflection through the middle of a geodesic swaps its ends and turns tangents over."""
    x, along = data.draw(geodesics(manifold))
    along, u = 0.3 * along, 0.3 * data.draw(geodesics(manifold))[1]
    u = manifold.project(x, u)
    u = 0.3 * reach(manifold) * u / manifold.norm(x, u).clamp_min(1).unsqueeze(-1)
    y, middle = manifold.exp(x, along), manifold.exp(x, 0.5 * along)

    reflected = manifold.exp(middle, -manifold.log(middle, manifold.exp(x, u)))

    assert_close(-manifold.log(y, reflected), manifold.transport(x, y, u), atol=1e-11, rtol=1e-9)


@every_manifold
@given(data=st.data())
def test_nearest_keeps_points_and_mends_what_rounding_has_done(manifold, data):
    x = data.draw(points(manifold))
    rounded = x.to(torch.float32).double()

    mended = manifold.nearest(rounded)

    assert_close(manifold.nearest(x), x, atol=1e-14, rtol=1e-14)
    assert off_manifold(manifold, mended) < 1e-14
    assert_close(mended, x, atol=1e-6, rtol=1e-6)


@every_manifold
def test_three_hundred_small_steps_do_not_drift_off_the_manifold(manifold):
    """Iterates of other programs were found at norms of 1.004 and 3.2: JuliaManifolds/Manopt.jl issues 306 and 67."""
    stream = generator(0)
    x = manifold.random(2, stream)

    for _ in range(300):
        xi = torch.randn(2, manifold.dim, generator=stream, dtype=torch.float64)
        x = manifold.retract(x, manifold.tangent(x, 0.05 * xi))

    assert off_manifold(manifold, x) < 1e-12


@every_manifold
@settings(max_examples=4)
@given(data=st.data())
def test_batches_give_what_each_point_gives_and_change_no_argument(manifold, data):
    x, u = data.draw(geodesics(manifold, count=6))
    y = data.draw(points(manifold, count=6))
    functions = {
        "inner": lambda x, y, u: manifold.inner(x, u, u),
        "norm": lambda x, y, u: manifold.norm(x, u),
        "exp": lambda x, y, u: manifold.exp(x, u),
        "log": lambda x, y, u: manifold.log(x, y),
        "distance": lambda x, y, u: manifold.distance(x, y),
        "project": lambda x, y, u: manifold.project(x, y),
        "nearest": lambda x, y, u: manifold.nearest(x + 0.01 * u),
        "retract": lambda x, y, u: manifold.retract(x, u),
        "transport": manifold.transport,
        "basis": lambda x, y, u: manifold.basis(x),
        "contains": lambda x, y, u: manifold.contains(x),
        "barrier": lambda x, y, u: manifold.barrier(x),
        "clamp": lambda x, y, u: manifold.clamp(x),
    }
    before = [x.clone(), y.clone(), u.clone()]

    for name, function in functions.items():
        each = torch.stack([function(*arguments) for arguments in zip(x, y, u, strict=True)])
        at_once = function(*(a.unflatten(0, (2, 3)) for a in (x, y, u)))
        nothing = function(x[:0], y[:0], u[:0])

        assert at_once.shape == (2, 3, *each.shape[1:]), name
        assert nothing.shape == (0, *each.shape[1:]), name
        assert_close(at_once.flatten(0, 1), each, atol=1e-12, rtol=1e-10, msg=name)
    for kept, argument in zip(before, (x, y, u), strict=True):
        assert torch.equal(kept, argument)
