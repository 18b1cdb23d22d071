"""SO(n) of any n: against pymanopt and scipy, at half turns and equal angles, and on the wire."""

from __future__ import annotations

import math

import numpy as np
import pymanopt.manifolds
import pytest
import scipy.linalg
import torch
from geodrome_core import PointError, space_from_spec
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal, rotation_angles, skew_exponential
from hypothesis import given
from torch import Tensor

from tests.strategies import generator, seeds

assert_close = torch.testing.assert_close

SIZES = [2, 3, 4, 5, 6, 7, 8]

every_size = pytest.mark.parametrize("size", SIZES)


def pair(size: int, seed: int) -> tuple[Tensor, Tensor]:
    x, y = SpecialOrthogonal(size).random(2, generator(seed))
    return x, y


def square(x: Tensor) -> np.ndarray:
    size = math.isqrt(len(x))
    return x.numpy().reshape(size, size)


def turns(size: int, *angles: float) -> Tensor:
    """The rotation by these angles in the first coordinate planes, as a row."""
    out = torch.eye(size, dtype=torch.float64)
    for index, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        out[2 * index : 2 * index + 2, 2 * index : 2 * index + 2] = torch.tensor([[c, -s], [s, c]], dtype=torch.float64)
    return out.flatten()


# Oracles


@every_size
@given(seed=seeds)
def test_rotations_of_any_size_agree_with_pymanopt(size, seed):
    """Their tangents are skew matrices R^T U, and their metric is the trace: the root of 2 times ours."""
    manifold, theirs = SpecialOrthogonal(size), pymanopt.manifolds.SpecialOrthogonalGroup(size)
    x, y = pair(size, seed)
    u = manifold.log(x, y)
    skew = square(x).T @ square(u)

    assert manifold.dim == theirs.dim
    assert math.sqrt(2) * float(manifold.distance(x, y)) == pytest.approx(theirs.dist(square(x), square(y)), abs=1e-9)
    np.testing.assert_allclose(skew, theirs.log(square(x), square(y)), atol=1e-9)
    np.testing.assert_allclose(square(manifold.exp(x, u)), theirs.exp(square(x), skew), atol=1e-13)
    assert 2 * float(manifold.inner(x, u, u)) == pytest.approx(theirs.inner_product(square(x), skew, skew))


@every_size
@pytest.mark.parametrize("length", [1e-6, 0.01, 0.03, 0.05, 0.07, 0.1, 0.5, 3.0, 6.0])
def test_the_exponential_of_a_single_tangent_has_all_digits(size, length):
    identity = torch.eye(size, dtype=torch.float64).flatten()
    xi = torch.randn(SpecialOrthogonal(size).dim, generator=generator(0), dtype=torch.float64)
    u = SpecialOrthogonal(size).tangent(identity, length * xi / torch.linalg.vector_norm(xi))

    theirs = scipy.linalg.expm(square(u))

    found = square(SpecialOrthogonal(size).exp(identity, u))
    np.testing.assert_allclose(found, theirs, atol=1e-15 if length < 1 else 1e-13, rtol=0)


@given(seed=seeds)
def test_in_three_dimensions_nothing_differs_from_the_formulas_by_quaternions(seed):
    ours, theirs = SpecialOrthogonal(3), Rotation()
    x, y, z = theirs.random(3, generator(seed))
    u = theirs.log(x, z)

    assert_close(ours.log(x, y), theirs.log(x, y), atol=1e-13, rtol=0.0)
    assert_close(ours.exp(x, u), theirs.exp(x, u), atol=1e-14, rtol=0.0)
    assert_close(ours.retract(x, u), theirs.retract(x, u), atol=1e-14, rtol=0.0)
    assert_close(ours.transport(x, y, u), theirs.transport(x, y, u), atol=1e-13, rtol=0.0)
    assert_close(ours.nearest(x + 0.1 * u), theirs.nearest(x + 0.1 * u), atol=1e-14, rtol=0.0)
    assert_close(ours.distance(x, y), theirs.distance(x, y), atol=1e-14, rtol=0.0)


@every_size
def test_random_rotations_have_the_moments_of_haar_s_measure(size):
    """Traces of powers have mean 0 or 1, the square of the trace has mean 1 (2 for n = 2): Diaconis and Shahshahani."""
    r = SpecialOrthogonal(size).random(20_000, generator(0)).unflatten(-1, (size, size))

    trace = torch.diagonal(r, dim1=-2, dim2=-1).sum(-1)

    assert float(trace.mean()) == pytest.approx(0, abs=0.04)
    assert float((trace**2).mean()) == pytest.approx(2 if size == 2 else 1, abs=0.05)
    assert_close(r.mean(0), torch.zeros(size, size, dtype=torch.float64), atol=0.03, rtol=0.0)
    assert_close(torch.linalg.det(r), torch.ones(len(r), dtype=torch.float64))


# Singular places

HALF_TURNS = {
    "one-plane": turns(4, math.pi),
    "two-planes": turns(4, math.pi, math.pi),
    "other-axes": torch.diag(torch.tensor([-1.0, 1.0, 1.0, -1.0], dtype=torch.float64)).flatten(),
    "odd": turns(5, math.pi, math.pi),
    "three-planes": turns(6, math.pi, math.pi, math.pi),
    "half-and-quarter": turns(6, math.pi, math.pi / 2, math.pi),
}


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("name", HALF_TURNS)
@given(seed=seeds)
def test_the_logarithm_leads_to_half_turns_and_to_all_near_them(name, gap, seed):
    half = HALF_TURNS[name]
    manifold = SpecialOrthogonal(math.isqrt(len(half)))
    y = manifold.exp(half, manifold.tangent(half, gap * torch.randn(manifold.dim, generator=generator(seed)).double()))
    x = manifold.random(1, generator(seed + 1))[0]
    y = (x.unflatten(0, (manifold.size, manifold.size)) @ y.unflatten(0, (manifold.size, manifold.size))).flatten()

    u = manifold.log(x, y)

    assert_close(manifold.project(x, u), u, atol=1e-14, rtol=0.0)
    assert_close(manifold.exp(x, u), y, atol=1e-14, rtol=0.0)
    assert_close(manifold.norm(x, u), manifold.distance(x, y), atol=1e-14, rtol=0.0)


@pytest.mark.parametrize("angle", [1e-160, 1e-20, 1e-9, 1e-6, 0.1])
@pytest.mark.parametrize("size", [2, 4, 5])
def test_small_turns_of_any_size_keep_their_digits(size, angle):
    manifold = SpecialOrthogonal(size)
    identity = torch.eye(size, dtype=torch.float64).flatten()
    u = angle * manifold.basis(identity)[-1]

    y = manifold.exp(identity, u)

    assert_close(manifold.log(identity, y), u, atol=0.0, rtol=1e-14)
    assert float(manifold.distance(identity, y)) == pytest.approx(angle, rel=1e-14 if angle > 1e-150 else 1e-5)


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_distances_have_the_digits_of_their_angles_up_to_the_half_turn(size, gap):
    angles = torch.tensor([math.pi - gap, 0.3 + gap], dtype=torch.float64)[: size // 2]
    x, y = turns(size), turns(size, *angles.tolist())

    found = rotation_angles(*(row.unflatten(0, (size, size)) for row in (x, y)))

    assert_close(found, angles.flip(-1), atol=2e-15, rtol=0.0)
    assert_close(SpecialOrthogonal(size).distance(x, y), torch.linalg.vector_norm(angles), atol=2e-15, rtol=0.0)


def central(values: list[float], step: float) -> tuple[float, float]:
    """First and second derivative from values at -3 … 3 steps: differences of sixth order."""
    a, b, c, d, e, f, g = values
    first = (-a + 9 * b - 45 * c + 45 * e - 9 * f + g) / (60 * step)
    second = (2 * a - 27 * b + 270 * c - 490 * d + 270 * e - 27 * f + 2 * g) / (180 * step**2)
    return first, second


ANGLES = {
    "zero": (4, 0.0, 0.0),
    "one": (4, 0.7, 0.0),
    "equal": (4, 0.7, 0.7),
    "opposite": (4, 0.7, -0.7),
    "nearly-equal": (4, 0.7, 0.7 + 1e-9),
    "two": (5, 2.5, 0.4),
    "circle": (2, 2.0),
    "long": (6, 4.0, -3.5, 7.0),
}


@pytest.mark.parametrize("name", ANGLES)
def test_the_exponential_has_its_first_and_second_derivatives_at_equal_angles(name):
    size, *angles = ANGLES[name]
    manifold = SpecialOrthogonal(size)
    at = torch.zeros(size, size, dtype=torch.float64)
    for index, angle in enumerate(angles):
        at[2 * index + 1, 2 * index], at[2 * index, 2 * index + 1] = angle, -angle
    weights, xi = (torch.randn(count, generator=generator(1), dtype=torch.float64) for count in (size, manifold.dim))
    eye = torch.eye(size, dtype=torch.float64).flatten()

    def f(c: Tensor) -> Tensor:
        a = at + manifold.tangent(eye, c).unflatten(0, (size, size))
        return weights @ skew_exponential(a) @ weights

    zero = torch.zeros_like(xi)
    gradient = torch.autograd.functional.jacobian(f, zero)
    hessian = torch.autograd.functional.hessian(f, zero)
    first, second = central([float(f(i * 1e-2 * xi)) for i in range(-3, 4)], 1e-2)
    assert float(gradient @ xi) == pytest.approx(first, abs=1e-9)
    assert float(xi @ hessian @ xi) == pytest.approx(second, abs=1e-7)


@pytest.mark.parametrize("name", [name for name in ANGLES if name != "long"])
def test_the_logarithm_and_the_distance_have_their_derivatives_at_equal_angles(name):
    size, *angles = ANGLES[name]
    manifold = SpecialOrthogonal(size)
    x, y = turns(size), turns(size, *angles)
    weights, xi = (
        torch.randn(count, generator=generator(1), dtype=torch.float64) for count in (size * size, manifold.dim)
    )

    def logarithm(c: Tensor) -> Tensor:
        return weights @ manifold.log(x, manifold.exp(y, manifold.tangent(y, c)))

    def square_of_distance(c: Tensor) -> Tensor:
        return manifold.distance(x + 0 * c.sum(), manifold.exp(y, manifold.tangent(y, c))) ** 2

    zero = torch.zeros_like(xi)
    for f in (logarithm, square_of_distance) if any(angles) else (logarithm,):
        gradient = torch.autograd.functional.jacobian(f, zero)
        hessian = torch.autograd.functional.hessian(f, zero)
        first, second = central([float(f(i * 1e-2 * xi)) for i in range(-3, 4)], 1e-2)
        assert float(gradient @ xi) == pytest.approx(first, abs=1e-8)
        assert float(xi @ hessian @ xi) == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize("name", HALF_TURNS)
def test_the_logarithm_s_derivatives_are_finite_at_half_turns(name):
    half = HALF_TURNS[name]
    manifold = SpecialOrthogonal(math.isqrt(len(half)))
    x = torch.eye(manifold.size, dtype=torch.float64).flatten()

    def f(c: Tensor) -> Tensor:
        return (manifold.log(x, manifold.retract(half, manifold.tangent(half, c))) ** 3).sum()

    zero = torch.zeros(manifold.dim, dtype=torch.float64)
    assert bool(torch.isfinite(torch.autograd.functional.jacobian(f, zero)).all())
    assert bool(torch.isfinite(torch.autograd.functional.hessian(f, zero)).all())


def test_rotations_of_the_plane_are_a_circle():
    angles = torch.linspace(-3, 3, 13, dtype=torch.float64)
    x = torch.stack([turns(2, angle) for angle in angles.tolist()])

    distance = SpecialOrthogonal(2).distance(x[:1], x)

    expected = angles + 3
    assert_close(distance, torch.minimum(expected, 2 * math.pi - expected), atol=1e-14, rtol=0.0)


@every_size
def test_the_nearest_rotation_of_a_reflection_is_one_whatever_the_size(size):
    reflection = torch.diag(torch.tensor([1.0] * (size - 1) + [-0.5], dtype=torch.float64)).flatten()

    nearest = SpecialOrthogonal(size).nearest(reflection)

    assert_close(nearest, torch.eye(size, dtype=torch.float64).flatten())


# On the wire


def space_of(size: int):
    return space_from_spec({"type": "rotation", "dim": size})


def fault(size: int, point):
    with pytest.raises(PointError) as error:
        space_of(size).check(point)
    (only,) = error.value.faults
    return only


@pytest.mark.parametrize("size", [2, 4, 8])
@given(seed=seeds)
def test_a_rotation_of_any_size_is_its_matrix(size, seed):
    space = space_of(size)
    x, _ = pair(size, seed)
    point = square(x).tolist()

    found = space.check(point)

    assert_close(found.row, x, atol=1e-14, rtol=0.0)
    assert space.check(found.point).point == found.point
    assert found.corrections == ()


@pytest.mark.parametrize("digits", [3, 6])
@given(seed=seeds)
def test_a_rounded_matrix_of_any_size_is_moved_to_the_nearest_rotation(digits, seed):
    x, _ = pair(5, seed)
    rounded = square(x).round(digits)

    found = space_of(5).check(rounded.tolist())

    r = found.row.unflatten(-1, (5, 5))
    assert_close(r @ r.mT, torch.eye(5, dtype=torch.float64), atol=1e-14, rtol=0.0)
    assert_close(found.row, x, atol=2 * 10.0**-digits, rtol=0.0)
    assert len(found.corrections) <= 1


@pytest.mark.parametrize("size", [2, 4, 5])
def test_a_reflection_of_any_size_is_called_one(size):
    point = np.diag([1.0] * (size - 1) + [-1.3]).tolist()

    assert fault(size, point).detail == "this is a reflection, det = -1.300"


@pytest.mark.parametrize(
    ("point", "pointer"),
    [
        ([[1, 0], [0, "1"]], "/1/1"),
        ([[1, 0], [0]], "/1"),
        ([1, 0], "/0"),
        ([1, 0, 0, 0], ""),
        ({"w": 1, "x": 0, "y": 0, "z": 0}, ""),
        ({"rotvec": [0, 0, 1]}, ""),
        ([[1.1, 0], [0, 1]], ""),
        ([[1e200, 0], [0, 1e200]], ""),
        (0.3, ""),
    ],
)
def test_a_fault_in_a_rotation_of_the_plane_is_pointed_at(point, pointer):
    assert fault(2, point).pointer == pointer
