"""Kernels of SO(n): against Weyl's character formula in high precision, and against the product of two spheres."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import scipy.stats
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space
from geodrome_core.kernels.isotropic import RotationMatern, SphereMatern
from geodrome_core.kernels.rotation_invariants import differentiable_invariants, invariants
from geodrome_core.kernels.special_orthogonal import SpecialOrthogonalMatern
from geodrome_core.kernels.special_orthogonal_heat import (
    BORDER_TIME,
    characters,
    kernel_determinant,
    kernel_determinant_jet,
    short_time,
)
from geodrome_core.kernels.symmetric import chebyshev, determinant, elementary, power_sums, remainder, trace
from mpmath import mpf
from torch import Tensor

from tests.core.kernels.cases import gram
from tests.strategies import generator

assert_close = torch.testing.assert_close


def turns(size: int, *angles: float) -> Tensor:
    """The rotation by these angles in the first coordinate planes, seen from random axes, as a row."""
    out = torch.eye(size, dtype=torch.float64)
    for index, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        places = slice(2 * index, 2 * index + 2)
        out[places, places] = torch.tensor([[c, -s], [s, c]], dtype=torch.float64)
    axes = torch.from_numpy(scipy.stats.special_ortho_group(size, seed=np.random.default_rng(size)).rvs())
    return (axes @ out @ axes.mT).reshape(1, -1)


def covariance(size: int, *angles: float, nu: float, kappa: float) -> float:
    """Between the identity and a rotation by these angles."""
    kernel = for_space(space_from_spec({"type": "rotation", "dim": size}), nu=nu, lengthscale=kappa)
    return float(kernel(torch.eye(size, dtype=torch.float64).reshape(1, -1), turns(size, *angles)).to_dense().detach())


def weights(size: int) -> tuple[list[mpf], Callable[[mpf, mpf], mpf]]:
    """The numbers of rho, and the functions whose determinants are Weyl's numerators."""
    half = mpf(size % 2) / 2
    rho = [b + half for b in reversed(range(size // 2))]
    return rho, (mpmath.sin if size % 2 else mpmath.cos)


def character_sum(size: int, angles: list[mpf], spectrum: Callable[[mpf], mpf], largest: float) -> mpf:
    """Sum of d spectrum(lambda) chi over the representations with lambda <= ``largest``, normalized.

    Weyl's formulas, Bröcker and tom Dieck 1985, chapter VI: with l = highest weight + rho, chi is det[sin(l_i theta_j)]
    for odd n, and for even n det[cos(l_i theta_j)], twice where it stands for two representations, those of l and of l
    with its last number negative; d is the product of all l_i^2 - l_j^2, for odd n also of the l_i; each divided by the
    same for l = rho. lambda = |l|^2 - |rho|^2.
    """
    rho, function = weights(size)
    origin = sum(r * r for r in rho)
    levels = [rho[-1] + index for index in range(int(mpmath.sqrt(largest + origin)) + 1)]
    table = {level: [function(level * angle) for angle in angles] for level in levels}
    denominator = mpmath.det(mpmath.matrix([table[r] for r in rho]))

    def dimension(numbers: tuple[mpf, ...]) -> mpf:
        out = mpmath.fprod(a * a - b * b for a, b in itertools.combinations(numbers, 2))
        return out * (mpmath.fprod(numbers) if size % 2 else 1)

    smallest = dimension(tuple(rho))
    value = norm = mpf(0)
    for numbers in itertools.combinations(reversed(levels), size // 2):
        eigenvalue = sum(number * number for number in numbers) - origin
        if eigenvalue > largest:
            continue
        count = 1 if size % 2 or numbers[-1] == 0 else 2
        d, weight = dimension(numbers) / smallest, spectrum(eigenvalue)
        value += weight * count * d * mpmath.det(mpmath.matrix([table[number] for number in numbers])) / denominator
        norm += weight * count * d * d
    return value / norm


ANGLES = {
    "generic": (0.7, 0.3, 1.4),
    "far": (2.9, 1.7, 0.4),
    "near": (0.05, 0.02, 0.11),
    "nearly-equal": (0.8, 0.8 + 1e-7, 0.3),
    "half-turns": (math.pi, 0.5, 1.1),
    "equal": (0.9, 0.9, 0.9),
    "opposite": (0.9, -0.9, 0.2),
    "one": (1.3, 0.0, 0.0),
    "two-half-turns": (math.pi, math.pi, 0.3),
}

SEPARATION = mpf(10) ** -12
"""By so much angles are moved apart, where Weyl's quotient is 0 / 0: the characters change by 1e-12 times a slope."""


def apart(angles: tuple[float, ...], sign: int) -> list[mpf]:
    return [mpf(angle) + sign * (index + 1) * SEPARATION for index, angle in enumerate(angles)]


@pytest.mark.parametrize("place", ANGLES)
@pytest.mark.parametrize(("size", "kappa"), [(4, 0.4), (4, 2.0), (5, 0.45), (5, 1.5), (6, 0.8), (6, 2.5), (7, 1.2)])
def test_heat_kernels_are_the_sums_of_their_characters(size, kappa, place):
    angles = ANGLES[place][: size // 2]

    found = covariance(size, *angles, nu=math.inf, kappa=kappa)

    u = mpf(kappa) ** 2 / 2
    with mpmath.workdps(90):
        # The mean of both sides leaves an error of second order.
        both = [
            character_sum(size, apart(angles, sign), lambda value: mpmath.exp(-u * value), float(68 / u))
            for sign in (1, -1)
        ]
        expected = float(sum(both) / 2)
    assert found == pytest.approx(expected, abs=2e-14)  # measured: 6e-15


@pytest.mark.parametrize("place", ["generic", "far", "nearly-equal", "equal"])
@pytest.mark.parametrize(("size", "kappa"), [(4, 0.8), (5, 1.0), (6, 2.0)])
def test_matern_kernels_are_the_sums_of_their_characters(size, kappa, place):
    """For nu = 30 the terms fall fast enough to be summed as they stand."""
    nu, dim = 30.0, size * (size - 1) // 2
    angles = ANGLES[place][: size // 2]

    found = covariance(size, *angles, nu=nu, kappa=kappa)

    rate = 2 * nu / kappa**2
    largest = rate * (10 ** (22 / (nu + dim / 2)) - 1)
    with mpmath.workdps(90):
        both = [
            character_sum(
                size,
                apart(angles, sign),
                lambda value: (1 + value / mpf(rate)) ** (-mpf(nu) - mpf(dim) / 2),
                largest,
            )
            for sign in (1, -1)
        ]
        expected = float(sum(both) / 2)
    assert found == pytest.approx(expected, abs=1e-12)


def plain_sum(size: int, angles: tuple[float, ...], *, nu: float, kappa: float, levels: int) -> float:
    """The sum over characters without its normalization, in double precision at well separated angles."""
    half = size % 2 / 2
    dim = size * (size - 1) // 2
    function = np.sin if size % 2 else np.cos
    rho = np.arange(size // 2)[::-1] + half
    level = np.arange(levels) + half
    table = function(level[:, None] * np.array(angles))
    numbers = np.array(list(itertools.combinations(range(levels)[::-1], size // 2)))
    numerators = np.linalg.det(table[numbers])
    denominator = np.linalg.det(function(rho[:, None] * np.array(angles)))
    values = level[numbers]
    d = np.ones(len(values))
    for i, j in itertools.combinations(range(size // 2), 2):
        d *= (values[:, i] ** 2 - values[:, j] ** 2) / (rho[i] ** 2 - rho[j] ** 2)
    if size % 2:
        d *= np.prod(values / rho, -1)
    count = np.where((size % 2 == 1) | (values[:, -1] == 0), 1, 2)
    eigenvalue = (values**2).sum(-1) - (rho**2).sum()
    terms = count * d * numerators / denominator * (2 * nu / kappa**2 + eigenvalue) ** (-nu - dim / 2)
    return math.fsum(terms)


@pytest.mark.parametrize(("size", "levels"), [(4, 300), (5, 200), (6, 70)])
def test_rough_kernels_have_the_ratios_of_the_sums_of_their_characters(size, levels):
    """The sum for coincident points, which normalizes, converges too slowly; a ratio does not need it."""
    nu, kappa = 2.5, 0.9
    one, other = (0.9, 0.4, 1.6)[: size // 2], (2.4, 1.1, 0.3)[: size // 2]

    found = covariance(size, *one, nu=nu, kappa=kappa) / covariance(size, *other, nu=nu, kappa=kappa)

    sums = [plain_sum(size, angles, nu=nu, kappa=kappa, levels=levels) for angles in (one, other)]
    assert found == pytest.approx(sums[0] / sums[1], rel=1e-8)


# Relations to other spaces


def quaternion_product(p: Tensor, q: Tensor) -> Tensor:
    w = p[..., 0] * q[..., 0] - (p[..., 1:] * q[..., 1:]).sum(-1)
    v = (
        p[..., :1] * q[..., 1:]
        + q[..., :1] * p[..., 1:]
        + torch.linalg.cross(*torch.broadcast_tensors(p[..., 1:], q[..., 1:]))
    )
    return torch.cat([w.unsqueeze(-1), v], -1)


@pytest.mark.parametrize("kappa", [0.1, 0.5, 2.0, 5.0])
def test_the_heat_kernel_of_four_dimensions_is_that_of_two_spheres_made_even(kappa):
    """SO(4) is S^3 x S^3, acting by v -> p v q*, with (p, q) and (-p, -q) made one; there, time runs half as fast."""
    p, q = (torch.randn(12, 4, generator=generator(seed), dtype=torch.float64) for seed in (0, 1))
    p, q = (each / torch.linalg.vector_norm(each, dim=-1, keepdim=True) for each in (p, q))
    p[1], q[1] = p[0], q[0]
    p[2], q[2] = -p[0], q[0]
    star = q * torch.tensor([1, -1, -1, -1], dtype=torch.float64)
    units = torch.eye(4, dtype=torch.float64)
    images = quaternion_product(quaternion_product(p[:, None], units), star[:, None])
    x = images.mT.flatten(-2)  # the images of the units are columns
    ours, sphere = SpecialOrthogonalMatern(nu=math.inf), SphereMatern(nu=math.inf)
    scale = torch.tensor(kappa, dtype=torch.float64)  # a bare number would be rounded to float32
    ours.lengthscale, sphere.lengthscale = scale, scale / math.sqrt(2)

    even = gram(sphere, p) * gram(sphere, q) + gram(sphere, p, -p) * gram(sphere, q, -q)

    assert_close(gram(ours, x), even / even[0, 0], atol=1e-13, rtol=0.0)


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
def test_with_one_plane_the_general_kernel_is_the_circle_s_and_that_of_orientations(nu):
    angles = torch.linspace(-3, 3, 9, dtype=torch.float64)
    circle = torch.stack([torch.cos(angles), torch.sin(angles)], -1)
    c, s = circle.unbind(-1)
    zero, one = torch.zeros_like(c), torch.ones_like(c)
    plane = torch.stack([c, -s, s, c], -1)
    space = torch.stack([c, -s, zero, s, c, zero, zero, zero, one], -1)
    general, on_circle, on_space = (kind(nu=nu) for kind in (SpecialOrthogonalMatern, SphereMatern, RotationMatern))

    assert_close(gram(general, plane), gram(on_circle, circle), atol=1e-15, rtol=0.0)
    assert torch.equal(gram(general, space), gram(on_space, space))


@pytest.mark.parametrize("size", [6, 7, 8])
@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
def test_kernels_of_many_planes_are_kernels(size, nu):
    """Symmetric, one at coincident points, bi-invariant, positive definite; with derivatives that are finite."""
    space = space_from_spec({"type": "rotation", "dim": size})
    kernel = for_space(space, nu=nu, lengthscale=1.0)
    x = space.manifold.random(12, generator(0))
    x[1] = x[0]
    r = x.unflatten(-1, (size, size))
    turn = turns(size, 0.4, 1.2).reshape(size, size)

    k = gram(kernel, x)

    assert_close(torch.diagonal(k), torch.ones(12, dtype=torch.float64), atol=0.0, rtol=0.0)
    assert float(k[0, 1]) == pytest.approx(1, abs=1e-15)
    assert float(torch.linalg.eigvalsh(k)[0]) > -1e-12
    for moved in (turn @ r, r @ turn, r.mT):
        assert_close(gram(kernel, moved.flatten(-2)), k, atol=1e-12, rtol=0.0)
    moving = x[:3].clone().requires_grad_()
    (first,) = torch.autograd.grad(kernel(moving, x).to_dense().sum(), moving, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), moving)
    assert bool(torch.isfinite(first).all())
    assert bool(torch.isfinite(second).all())


# The pieces


def random_angles(planes: int, count: int = 200, *, largest: float = 1.2) -> Tensor:
    """Angles (planes, count), some of them equal, opposite, or zero."""
    theta = largest * torch.rand(planes, count, generator=generator(planes), dtype=torch.float64)
    theta[1, :30], theta[1, 30:60], theta[0, 60:90] = theta[0, :30], -theta[0, 30:60], 0
    return theta


def invariants_of(theta: Tensor) -> Tensor:
    c = 2 * torch.sin(theta / 2) ** 2
    return elementary(torch.stack([(c**m).sum(0) for m in range(1, len(c) + 1)]))


@pytest.mark.parametrize("size", [4, 5, 6, 7, 8])
def test_the_short_time_formula_meets_the_determinant_at_their_border(size):
    theta = random_angles(size // 2, largest=1.2 / math.sqrt(size // 2))
    e = invariants_of(theta)
    group, u = characters(size), torch.tensor([BORDER_TIME], dtype=torch.float64)
    rows = group.rows(u, group.levels(BORDER_TIME))

    late = kernel_determinant(rows, group.basis(e, rows.shape[-1]))[0] / group.peak(rows)

    squared_angle, jacobian = short_time(e, is_odd=size % 2 == 1)
    assert_close(squared_angle, (theta**2).sum(0), atol=2e-15, rtol=0.0)
    assert_close(jacobian * torch.exp(-squared_angle / (4 * BORDER_TIME)), late, atol=1e-13, rtol=0.0)


@pytest.mark.parametrize("size", [4, 5, 6, 7, 8])
def test_the_peaks_of_both_formulas_are_equal_up_to_a_factor(size):
    """Where both are exact, from the border to twice it."""
    group, dim = characters(size), size * (size - 1) // 2
    u = BORDER_TIME * torch.tensor([0.5, 1.001, 1.4, 2.0], dtype=torch.float64)
    rho = torch.arange(size // 2) + size % 2 / 2

    found = group.log_peak(u) + dim / 2 * torch.log(u) - (rho**2).sum() * u

    assert_close(found, torch.zeros_like(found), atol=3e-14, rtol=0.0)


@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_the_determinant_s_derivatives_are_those_that_autograd_finds(size):
    """It puts them together from digits modulo the characteristic polynomial."""
    planes = size // 2
    e = invariants_of(random_angles(planes, 96)[:, ::12]).requires_grad_()
    group, u = characters(size), torch.tensor([0.1, 1.0], dtype=torch.float64)
    rows = group.rows(u, group.levels(0.1))
    with torch.no_grad():
        jet = kernel_determinant_jet(rows, group.basis(e, rows.shape[-1], digits=3), e)

    value = kernel_determinant(rows, group.basis(e, rows.shape[-1]))

    assert_close(jet[0], value.detach(), atol=0.0, rtol=1e-11)
    for time in range(2):
        (slopes,) = torch.autograd.grad(value[time].sum(), e, create_graph=True)
        bends = [torch.autograd.grad(slope.sum(), e, retain_graph=True)[0] for slope in slopes]
        expected = torch.stack([*slopes, *(bends[i][j] for i in range(planes) for j in range(i + 1))]).detach()
        scale = expected.abs().amax(-1, keepdim=True)
        # measured: 2e-10 with four planes, 1e-12 with fewer
        assert_close(jet[1:, time] / scale, expected / scale, atol=1e-9 if size == 8 else 1e-11, rtol=0.0)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8])
def test_invariants_of_pairs_are_those_of_their_angles(size):
    theta = random_angles(size // 2, 100, largest=math.pi) if size > 3 else torch.linspace(0, 3, 5).double()[None]
    x = turns(size).expand(theta.shape[1], -1)
    y = torch.cat([turns(size, *column) for column in theta.mT.tolist()])

    expected = invariants_of(theta)

    assert_close(invariants(x, y), expected, atol=1e-13, rtol=1e-13)
    assert_close(torch.stack(differentiable_invariants(x, y)), expected, atol=1e-13, rtol=1e-13)
    every = differentiable_invariants(x[:4].unsqueeze(1), y.unsqueeze(0))
    assert_close(torch.stack(every)[:, 0], expected, atol=1e-13, rtol=1e-13)


def test_symmetric_functions_are_those_of_the_numbers():
    c = torch.rand(4, 50, generator=generator(0), dtype=torch.float64)
    sums = torch.stack([(c**m).sum(0) for m in range(1, 5)])
    e = elementary(sums)
    products = [
        torch.stack([torch.stack(subset).prod(0) for subset in itertools.combinations(list(c), m)]).sum(0)
        for m in range(1, 5)
    ]

    functions = chebyshev(7, 0.0, remainder(e))

    assert_close(e, torch.stack(products), atol=1e-14, rtol=1e-13)
    assert_close(power_sums(e), sums, atol=1e-14, rtol=1e-13)
    for level, f in enumerate(functions):
        cosine = torch.cos(level * torch.arccos(1 - c))
        assert_close(sum(coefficient * c**b for b, coefficient in enumerate(f)), cosine, atol=1e-11, rtol=0.0)
        assert_close(trace(f, sums), cosine.sum(0), atol=1e-11, rtol=0.0)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_determinants_are_those_of_numpy(size):
    m = torch.randn(20, size, size, generator=generator(size), dtype=torch.float64)

    found = determinant([row.unbind(-1) for row in m.unbind(-2)])

    np.testing.assert_allclose(found.numpy(), np.linalg.det(m.numpy()), atol=1e-13)
