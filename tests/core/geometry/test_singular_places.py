"""Places where formulas divide by zero or lose their digits: poles, antipodes, half turns, equal eigenvalues, n = 1."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.rotation import (
    Rotation,
    canonical_quaternion,
    matrix_to_quaternion,
    quaternion_to_matrix,
    rotation_vector,
)
from geodrome_core.geometry.spd import SPD
from geodrome_core.geometry.sphere import Sphere
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import MANIFOLDS, generator, seeds

assert_close = torch.testing.assert_close

GAPS = [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3]

IDENTITY = torch.eye(3, dtype=torch.float64).flatten()


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def random_axis(seed: int) -> Tensor:
    axis = torch.randn(3, generator=generator(seed), dtype=torch.float64)
    return axis / torch.linalg.vector_norm(axis)


# Spheres


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("dim", [1, 2, 3, 31])
def test_the_logarithm_is_exact_and_tangent_up_to_the_antipode(dim, gap):
    """A formula that divides by the sine of acos(<x, y>) is 1e5 times too short 1e-5 before the antipode."""
    manifold = Sphere(dim)
    x = manifold.random(1, generator(dim))[0]
    direction = manifold.basis(x)[0]
    y = -math.cos(gap) * x + math.sin(gap) * direction

    u = manifold.log(x, y)

    assert abs(float((u * x).sum())) < 1e-14
    assert float(manifold.distance(x, y)) == pytest.approx(math.pi - gap, abs=1e-14)
    length = float(torch.linalg.vector_norm(u))
    if gap >= 1e-12:  # nearer, no direction is left in the digits of y
        assert length == pytest.approx(math.pi - gap, abs=1e-14)
        assert_close(u / length, direction, atol=1e-3 if gap < 1e-9 else 1e-6, rtol=0.0)
    else:
        assert length == pytest.approx(0.0, abs=1e-14) or length == pytest.approx(math.pi, abs=1e-14)


@pytest.mark.parametrize("angle", [1e-160, 1e-20, 1e-9, 1e-6])
def test_small_angles_keep_their_digits(angle):
    """With acos, an angle of 1e-9 is 0 and one of 1e-6 is half a per mille off."""
    manifold = Sphere(2)
    x, u = tensor(0, 0, 1), tensor(angle, 0, 0)
    y = manifold.exp(x, u)

    assert_close(manifold.log(x, y), u, atol=0.0, rtol=1e-14)
    assert_close(manifold.distance(x, y), u[0], atol=0.0, rtol=1e-14 if angle > 1e-150 else 1e-5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_basis_is_orthonormal_at_the_poles(axis, sign):
    x = sign * torch.eye(3, dtype=torch.float64)[axis]

    basis = Sphere(2).basis(x)

    assert_close(torch.cat([x[None], basis]) @ torch.cat([x[None], basis]).mT, torch.eye(3, dtype=torch.float64))


def test_the_basis_is_orthonormal_where_its_sign_changes():
    x = tensor(1e-17, 1, 0)

    bases = torch.stack([Sphere(2).basis(x), Sphere(2).basis(x * tensor(-1, 1, 1))])

    assert_close(bases @ bases.mT, torch.eye(2, dtype=torch.float64).expand(2, 2, 2))
    assert_close(bases @ x, torch.zeros(2, 2, dtype=torch.float64), atol=1e-15, rtol=0.0)


def test_transport_to_the_antipode_is_finite_and_tangent():
    x, u = tensor(0, 0, 1), tensor(0.3, -0.2, 0)

    moved = Sphere(2).transport(x, -x, u)

    assert bool(torch.isfinite(moved).all())
    assert float((moved * x).sum()) == 0


def test_a_full_turn_on_a_sphere_comes_back():
    x = tensor(0.6, 0, 0.8)

    y = Sphere(2).exp(x, tensor(0, 2 * math.pi, 0))

    assert_close(y, x, atol=1e-15, rtol=0.0)


# Rotations


@pytest.mark.parametrize("gap", GAPS)
@given(seed=seeds)
def test_the_logarithm_of_a_rotation_is_exact_up_to_the_half_turn(gap, seed):
    manifold, axis = Rotation(), random_axis(seed)
    vector = (math.pi - gap) * axis
    y = manifold.exp(IDENTITY, vector @ manifold.basis(IDENTITY))

    u = manifold.log(IDENTITY, y)

    assert float(manifold.distance(IDENTITY, y)) == pytest.approx(math.pi - gap, abs=2e-15)
    assert float(manifold.norm(IDENTITY, u)) == pytest.approx(math.pi - gap, abs=2e-15)
    assert_close(manifold.exp(IDENTITY, u), y, atol=2e-15, rtol=0.0)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, -0.8, 0), (0, 0.6, -0.8), (-0.6, 0, 0.8)])
def test_half_turns_have_one_quaternion_whose_first_number_is_positive(axis):
    a = tensor(*axis)
    r = 2 * torch.outer(a, a) - torch.eye(3, dtype=torch.float64)

    q = matrix_to_quaternion(r)

    first = next(value for value in axis if value)
    assert_close(q, torch.cat([tensor(0), a * math.copysign(1, first)]), atol=1e-15, rtol=0.0)


@pytest.mark.parametrize("angle", [1e-160, 1e-20, 1e-9, 1e-6])
def test_small_turns_keep_their_digits(angle):
    """From the trace of the matrix alone, an angle of 1e-9 would be 0."""
    manifold = Rotation()
    u = tensor(0, angle, 0) @ manifold.basis(IDENTITY)

    y = manifold.exp(IDENTITY, u)

    assert_close(manifold.log(IDENTITY, y), u, atol=0.0, rtol=1e-14)
    assert_close(manifold.distance(IDENTITY, y), tensor(angle)[0], atol=0.0, rtol=1e-14 if angle > 1e-150 else 1e-5)


@given(seed=seeds, small=st.sampled_from([0.0, 1e-20, 1e-12, 1e-8, 1e-3]), axis=st.integers(0, 3))
def test_quaternions_of_every_kind_survive_the_way_through_a_matrix(seed, small, axis):
    """The largest component, and with it the row that is read, changes with the axis."""
    q = small * torch.randn(4, generator=generator(seed), dtype=torch.float64)
    q[axis] = 1
    q = q / torch.linalg.vector_norm(q)

    back = matrix_to_quaternion(quaternion_to_matrix(q))

    sign = torch.sign((back * q).sum())
    assert_close(sign * back, q, atol=1e-15, rtol=0.0)
    assert_close(quaternion_to_matrix(-q), quaternion_to_matrix(q), atol=0.0, rtol=0.0)


@pytest.mark.parametrize(
    ("q", "canonical"),
    [
        ((-1, 0, 0, 0), (1, 0, 0, 0)),
        ((0, -0.6, 0.8, 0), (0, 0.6, -0.8, 0)),
        ((-0.0, 0, 0, -1), (0, 0, 0, 1)),
        ((1e-300, -1, 0, 0), (1e-300, -1, 0, 0)),
        ((-1e-300, -1, 0, 0), (1e-300, 1, 0, 0)),
    ],
)
def test_the_canonical_quaternion_begins_with_a_positive_number(q, canonical):
    found = canonical_quaternion(tensor(*q))

    assert torch.equal(found, tensor(*canonical))
    assert not bool(torch.signbit(found[found == 0]).any())  # printed as 0.0, never as -0.0


def test_the_rotation_vector_of_no_rotation_is_zero():
    assert torch.equal(rotation_vector(tensor(1, 0, 0, 0)), tensor(0, 0, 0))
    assert torch.equal(rotation_vector(tensor(-1, 0, 0, 0)), tensor(0, 0, 0))


def test_the_nearest_rotation_of_a_reflection_is_a_rotation():
    """scipy/scipy issue 15002: a reflection must not come back as if it were a rotation."""
    reflection = torch.diag(tensor(1, 1, -0.5)).flatten()

    nearest = Rotation().nearest(reflection)

    assert_close(nearest, IDENTITY)


@pytest.mark.parametrize("factor", [1e-3, 0.5, 2.0, 1e3])
def test_the_nearest_rotation_does_not_depend_on_the_scale(factor):
    x = Rotation().random(5, generator(0))

    assert_close(Rotation().nearest(factor * x), x, atol=1e-14, rtol=0.0)


# Positive definite matrices


def test_the_distance_from_the_identity_is_the_norm_of_the_logarithm():
    """Bhatia 2007, theorem 6.1.6: for diag(e, 1, 1/e) it is the root of 2."""
    x = torch.eye(3, dtype=torch.float64).flatten()
    y = torch.diag(tensor(math.e, 1, 1 / math.e)).flatten()

    assert float(SPD(3).distance(x, y)) == pytest.approx(math.sqrt(2), abs=1e-15)


@given(seed=seeds)
def test_the_distance_does_not_change_under_congruence(seed):
    manifold = SPD(3)
    x, y = manifold.random(4, generator(seed)), manifold.random(4, generator(seed + 1))
    a = torch.randn(3, 3, generator=generator(seed + 2), dtype=torch.float64) + 3 * torch.eye(3, dtype=torch.float64)

    def congruent(z: Tensor) -> Tensor:
        m = a @ z.unflatten(-1, (3, 3)) @ a.mT
        return (0.5 * (m + m.mT)).flatten(-2)

    assert_close(manifold.distance(congruent(x), congruent(y)), manifold.distance(x, y), atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("gap", GAPS)
def test_equal_eigenvalues_are_no_special_case(gap):
    manifold = SPD(2)
    x = torch.diag(tensor(2, 2)).flatten()
    y = torch.diag(tensor(2 * math.exp(0.3), 2 * math.exp(0.3 + gap))).flatten()

    u = manifold.log(x, y)

    assert_close(u, torch.diag(tensor(0.6, 2 * (0.3 + gap))).flatten(), atol=1e-15, rtol=0.0)
    assert_close(manifold.exp(x, u), y, atol=2e-15, rtol=0.0)
    assert float(manifold.distance(x, y)) == pytest.approx(math.hypot(0.3, 0.3 + gap), abs=1e-15)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e8])
def test_small_and_large_matrices_have_the_geometry_of_ordinary_ones(scale):
    """Inertias of light links are 1e-5 and smaller; stiffnesses are thousands."""
    manifold = SPD(2)
    x, y = manifold.random(5, generator(0)), manifold.random(5, generator(1))
    u = manifold.log(x, y)

    assert_close(manifold.distance(scale * x, scale * y), manifold.distance(x, y), atol=1e-13, rtol=1e-12)
    assert_close(manifold.log(scale * x, scale * y), scale * u, atol=1e-12 * scale, rtol=1e-11)
    assert_close(manifold.exp(scale * x, scale * u), scale * y, atol=1e-12 * scale, rtol=1e-11)


def test_the_retraction_of_any_tangent_is_positive_definite():
    """The term of second order makes it so: x + u alone leaves the cone."""
    manifold, x = SPD(2), torch.eye(2, dtype=torch.float64).flatten()
    u = -100 * x

    y = manifold.retract(x, u)

    assert float(torch.linalg.eigvalsh(y.unflatten(-1, (2, 2)))[0]) == pytest.approx(1 - 100 + 5000)


# One dimension


def test_the_circle_is_the_sphere_of_one_dimension():
    manifold = Sphere(1)
    angles = torch.linspace(-3, 3, 13, dtype=torch.float64)
    x = torch.stack([torch.cos(angles), torch.sin(angles)], -1)

    distance = manifold.distance(x[:1].expand_as(x), x)

    expected = (angles + 3).clamp_max(2 * math.pi)
    assert_close(distance, torch.minimum(expected, 2 * math.pi - expected), atol=1e-14, rtol=0.0)


def test_positive_numbers_are_the_matrices_of_one_row():
    x, y = tensor(2), tensor(5)

    assert_close(SPD(1).distance(x, y), torch.log(y / x)[0])
    assert_close(SPD(1).log(x, y), x * torch.log(y / x))
    assert_close(SPD(1).exp(x, x), x * math.e)


def test_a_product_of_one_factor_is_that_factor():
    factor = Sphere(2)
    product = Product({"direction": factor})
    x, y = factor.random(3, generator(0)), factor.random(3, generator(1))

    assert (product.dim, product.width, product.diameter) == (factor.dim, factor.width, factor.diameter)
    assert torch.equal(product.log(x, y), factor.log(x, y))
    assert_close(product.distance(x, y), factor.distance(x, y), atol=0.0, rtol=1e-15)


def test_the_facts_of_a_product_are_those_of_its_factors():
    product = Product({"a": Sphere(2), "b": Euclidean(2), "c": SPD(2, eigenvalues=(1.0, math.e))})

    assert (product.dim, product.width) == (2 + 2 + 3, 3 + 2 + 4)
    assert product.columns == {"a": slice(0, 3), "b": slice(3, 5), "c": slice(5, 9)}
    assert product.diameter == pytest.approx(math.sqrt(math.pi**2 + 2 + 2))
    assert (product.is_bounded, product.has_border) == (False, True)


# Derivatives


@pytest.mark.parametrize("manifold", MANIFOLDS.values(), ids=MANIFOLDS)
def test_the_retraction_has_finite_first_and_second_derivatives_where_the_step_is_zero(manifold):
    """The search starts there: the gradient and Hessian of its function are pulled back by the retraction at zero."""
    x = manifold.random(1, generator(0))[0]
    direction = torch.randn(manifold.width, generator=generator(1), dtype=torch.float64)

    def pulled_back(xi: Tensor) -> Tensor:
        return (direction * manifold.retract(x, manifold.tangent(x, xi))).sum()

    zero = torch.zeros(manifold.dim, dtype=torch.float64)
    gradient = torch.autograd.functional.jacobian(pulled_back, zero)
    hessian = torch.autograd.functional.hessian(pulled_back, zero)

    assert_close(gradient, manifold.basis(x) @ direction, atol=1e-12, rtol=1e-12)
    step = 1e-3
    steps = step * torch.eye(manifold.dim, dtype=torch.float64)
    bent = (
        torch.stack(
            [
                (
                    direction
                    * (manifold.exp(x, manifold.tangent(x, s)) + manifold.exp(x, manifold.tangent(x, -s)) - 2 * x)
                ).sum()
                for s in steps
            ]
        )
        / step**2
    )  # second differences along geodesics
    assert_close(torch.diagonal(hessian), bent, atol=1e-5, rtol=1e-5)
