"""Values from sources that share no code with the kernels: mpmath, printed tables, closed forms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.special
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space
from mpmath import mpf
from torch import Tensor

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "kernel_reference.json").read_text())

SPECS: dict[str, Callable] = {
    "sphere": lambda dim: {"type": "sphere", "dim": dim},
    "torus": lambda dim: {"type": "torus", "dim": dim},
    "so": lambda dim: {"type": "rotation", "dim": dim},
    "spd": lambda dim: {"type": "spd", "dim": dim},
    "euclidean": lambda dim: {"type": "euclidean", "dim": dim},
    "hyperbolic": lambda dim: {"type": "hyperbolic", "dim": dim},
    "S3xR3": lambda dims: {
        "type": "product",
        "factors": {
            "direction": {"type": "sphere", "dim": dims[0]},
            "offset": {"type": "euclidean", "dim": dims[1]},
        },
    },
}


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def covariance(spec: dict, x: Tensor, y: Tensor, *, nu: float, kappa: float | list[float]) -> Tensor:
    """The kernel between one row ``x`` and rows ``y``."""
    space = space_from_spec(spec)
    lengthscale = dict(zip(space.factors, kappa, strict=True)) if isinstance(kappa, list) else kappa
    kernel = for_space(space, nu=nu, lengthscale=lengthscale)
    return kernel(x.reshape(1, -1), y.reshape(-1, space.manifold.width)).to_dense().detach()[0]


def on_circle(dim: int, *angles: float) -> Tensor:
    """Points of S^dim at these angles from the first axis."""
    out = torch.zeros(len(angles), dim + 1, dtype=torch.float64)
    out[:, 0], out[:, 1] = torch.cos(tensor(*angles)), torch.sin(tensor(*angles))
    return out


def about_z(*angles: float) -> Tensor:
    """Rotations about the third axis."""
    c, s, zero, one = torch.cos(tensor(*angles)), torch.sin(tensor(*angles)), tensor(0), tensor(1)
    zero, one = zero.expand(len(angles)), one.expand(len(angles))
    return torch.stack([c, -s, zero, s, c, zero, zero, zero, one], -1)


@pytest.mark.parametrize(
    ("name", "dim"),
    [("sphere", dim) for dim in (1, 2, 3, 5, 10)]
    + [("hyperbolic", dim) for dim in (2, 3, 4, 5)]
    + [("torus", dim) for dim in (2, 3)]
    + [("so", dim) for dim in (2, 3, 4)]
    + [("spd", dim) for dim in (2, 3)]
    + [("euclidean", 3), ("S3xR3", [3, 3])],
)
def test_kernels_have_the_values_of_mpmath(name, dim):
    """At distances from 0.05 to almost the antipode, kappa from 0.05 to 3, nu = 0.5, 0.8, 1.5, 2.5 and infinity."""
    entries = [entry for entry in REFERENCE["entries"] if (entry["manifold"], entry["dim"]) == (name, dim)]

    errors = [
        float(
            covariance(
                SPECS[name](dim),
                torch.tensor(entry["x"], dtype=torch.float64),
                torch.tensor(entry["y"], dtype=torch.float64),
                nu=float(entry["nu"]),
                kappa=entry["kappa"],
            )
        )
        - float(entry["k"])
        for entry in entries
    ]

    assert len(errors) >= 12
    assert max(abs(error) for error in errors) < 1e-12  # measured: 2.4e-15 (S^10), all others below it


@pytest.mark.parametrize(
    "entry",
    [e for e in REFERENCE["entries"] if (e["manifold"], e["dim"], e["nu"]) == ("sphere", 3, "inf")],
    ids=lambda entry: f"kappa={entry['kappa']}",
)
def test_the_reference_values_are_those_of_the_series(entry):
    """Some of them again, by the definition, in 30 digits."""
    with mpmath.workdps(30):
        x, y = (mpmath.matrix([mpf(value) for value in entry[name]]) for name in "xy")
        cosine = sum(a * b for a, b in zip(x, y, strict=True)) / (mpmath.norm(x) * mpmath.norm(y))
        half_square = mpf(entry["kappa"]) ** 2 / 2

        k = spectral_series(3, mpmath.acos(cosine), lambda level: mpmath.exp(-half_square * level))

        assert abs(k - mpf(entry["k"])) < 1e-18


def spectral_series(dim: int, theta: mpf, spectrum: Callable[[mpf], mpf], levels: int = 400) -> mpf:
    """Sum of mult_n spectrum(lambda_n) C_n(cos theta) / C_n(1) over the levels of S^dim, normalized.

    C_n is the Gegenbauer polynomial of order (dim - 1) / 2, DLMF 18.9.1, and mult_n the dimension of the spherical
    harmonics of level n.
    """
    z, a = mpmath.cos(theta), mpf(dim - 1) / 2
    before, now = mpf(1), z  # normalized: 1 at theta = 0; on the circle cos(n theta)
    value = norm = mpf(0)
    for n in range(levels):
        polynomial = before
        multiplicity = mpmath.binomial(n + dim, dim) - (mpmath.binomial(n + dim - 2, dim) if n >= 2 else 0)
        weight = multiplicity * spectrum(mpf(n * (n + dim - 1)))
        value += weight * polynomial
        norm += weight
        before, now = now, (2 * (n + 1 + a) * z * now - (n + 1) * before) / (n + 1 + 2 * a)
    return value / norm


@pytest.mark.parametrize("dim", [4, 31])
@pytest.mark.parametrize("kappa", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("nu", [20.0, math.inf])
def test_spheres_of_high_dimension_agree_with_their_series_in_30_digits(dim, kappa, nu):
    """For nu = 20 the terms of the series fall as n^-41, so that it can be summed as it stands."""
    angles = [0.1, 1.0, 2.0, 3.1]

    found = covariance(SPECS["sphere"](dim), on_circle(dim, 0), on_circle(dim, *angles), nu=nu, kappa=kappa)

    def spectrum(level: mpf) -> mpf:
        if math.isinf(nu):
            return mpmath.exp(-(mpf(kappa) ** 2) / 2 * level)
        return (2 * mpf(nu) / mpf(kappa) ** 2 + level) ** (-mpf(nu) - mpf(dim) / 2)

    with mpmath.workdps(40):
        expected = [float(spectral_series(dim, mpf(angle), spectrum)) for angle in angles]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13, rtol=0)


@pytest.mark.parametrize("kappa", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("nu", [20.0, math.inf])
def test_rotations_agree_with_the_sum_over_their_characters(kappa, nu):
    """The characters are sin((2 l + 1) t / 2) / sin(t / 2), with weight 2 l + 1 and eigenvalue l (l + 1)."""
    angles = [0.1, 1.0, 2.0, 3.1, math.pi]

    found = covariance(SPECS["so"](3), about_z(0), about_z(*angles), nu=nu, kappa=kappa)

    def spectrum(level: mpf) -> mpf:
        if math.isinf(nu):
            return mpmath.exp(-(mpf(kappa) ** 2) / 2 * level)
        return (2 * mpf(nu) / mpf(kappa) ** 2 + level) ** (-mpf(nu) - mpf(3) / 2)

    with mpmath.workdps(30):
        weights = [(2 * n + 1) * spectrum(mpf(n * (n + 1))) for n in range(400)]
        norm = sum((2 * n + 1) * weight for n, weight in enumerate(weights))
        expected = [
            float(
                sum(w * mpmath.sin((2 * n + 1) * mpf(t) / 2) for n, w in enumerate(weights))
                / mpmath.sin(mpf(t) / 2)
                / norm
            )
            for t in angles
        ]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13, rtol=0)


PRINTED = [
    # 12 digits (SE) and 10 (Matern) at angles 0.5, 1.5 and pi, each computed in two ways: series and heat integral
    (2, math.inf, 1.0, [0.902046042562, 0.402385563554, 0.054148841509]),
    (2, 2.5, 1.0, [0.8578166420, 0.3808220167, 0.1336209580]),
    (3, math.inf, 1.0, [0.920368631503, 0.488150144296, 0.127578346796]),
    (3, 2.5, 1.0, [0.8941048994, 0.5127303333, 0.2829185197]),
    (5, math.inf, 1.0, [0.951676714076, 0.664193187210, 0.360032056146]),
    (5, 2.5, 1.0, [0.9622535150, 0.8014998212, 0.6755839846]),
    (3, math.inf, 0.5, [0.632559814688, 0.016705341913, 2.05882e-7]),
    (3, 2.5, 0.5, [0.5618064493, 0.0474056125, 0.0019001599]),
    (1, math.inf, 1.0, [0.882496952598, 0.324663228249, 0.014383766635]),
    (1, 2.5, 1.0, [0.8287357663, 0.2842585878, 0.0435357732]),
]


@pytest.mark.parametrize(("dim", "nu", "kappa", "values"), PRINTED)
def test_spheres_have_the_printed_values(dim, nu, kappa, values):
    found = covariance(SPECS["sphere"](dim), on_circle(dim, 0), on_circle(dim, 0.5, 1.5, math.pi), nu=nu, kappa=kappa)

    np.testing.assert_allclose(found.numpy(), values, atol=6e-13 if math.isinf(nu) else 6e-11, rtol=0)


def test_the_sphere_has_its_values_to_the_last_printed_digit():
    """S^2 at kappa = 0.7, by its series in 30 digits."""
    found = covariance(SPECS["sphere"](2), on_circle(2, 0), on_circle(2, 0.5, 1.5, 3.0), nu=math.inf, kappa=0.7)

    expected = [0.79159456555111924, 0.12399390015696843, 0.00055084623217674866]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-15, rtol=0)


@pytest.mark.parametrize(
    ("nu", "values", "digits"),
    [
        (math.inf, [0.891757506713, 0.357249403182, 0.022593963264], 6e-13),
        (2.5, [0.8452317665, 0.3320807181, 0.0782185286], 6e-11),
    ],
)
def test_rotations_have_the_printed_values(nu, values, digits):
    found = covariance(SPECS["so"](3), about_z(0), about_z(0.5, 1.5, math.pi), nu=nu, kappa=1.0)

    np.testing.assert_allclose(found.numpy(), values, atol=digits, rtol=0)


@pytest.mark.parametrize(
    ("kappa", "values"),
    [
        (0.5, [0.367879441171, 0.339746955161, 0.039447652044]),
        (1.0, [0.778800783071, 0.721137383345, 0.393626035501]),
        (2.0, [0.939413062813, 0.874474316839, 0.706464536462]),
    ],
)
def test_positive_definite_matrices_have_the_printed_values(kappa, values):
    """The table measures in half logarithms of eigenvalues: twice its kappa is ours."""
    halves = [(0.5, 0.5), (0.5, -0.5), (1.2, -0.3)]
    y = torch.stack([torch.diag(torch.exp(2 * tensor(*pair))) for pair in halves])

    found = covariance(SPECS["spd"](2), torch.eye(2, dtype=torch.float64), y, nu=math.inf, kappa=2 * kappa)

    np.testing.assert_allclose(found.numpy(), values, atol=6e-13, rtol=0)


# Closed forms

DISTANCES = [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0]

HALF_INTEGER: dict[float, Callable[[Tensor], Tensor]] = {
    0.5: lambda r: torch.exp(-r),
    1.5: lambda r: (1 + math.sqrt(3) * r) * torch.exp(-math.sqrt(3) * r),
    2.5: lambda r: (1 + math.sqrt(5) * r + 5 * r**2 / 3) * torch.exp(-math.sqrt(5) * r),
    3.5: lambda r: (1 + math.sqrt(7) * r + 14 * r**2 / 5 + 7 * math.sqrt(7) * r**3 / 15) * torch.exp(-math.sqrt(7) * r),
    math.inf: lambda r: torch.exp(-(r**2) / 2),
}


@pytest.mark.parametrize("kappa", [0.01, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("nu", HALF_INTEGER)
def test_on_the_line_half_integer_smoothness_has_its_closed_form(nu, kappa):
    """Rasmussen and Williams 2006, equation 4.16."""
    r = kappa * tensor(*DISTANCES)

    found = covariance({"type": "real"}, tensor(0), r, nu=nu, kappa=kappa)

    np.testing.assert_allclose(found.numpy(), HALF_INTEGER[nu](r / kappa).numpy(), atol=1e-14, rtol=0)


@pytest.mark.parametrize("nu", [0.1, 0.2, 0.8, 1.0, 3.2, 7.0, 20.0, 50.0, 200.0])
def test_on_the_line_any_smoothness_has_the_value_of_its_bessel_function(nu):
    """Rasmussen and Williams 2006, equation 4.14, by mpmath; where scipy's kve does not overflow, by it too."""
    found = covariance({"type": "real"}, tensor(0), tensor(*DISTANCES), nu=nu, kappa=1.0)

    with mpmath.workdps(30):
        z = [mpmath.sqrt(2 * mpf(nu)) * mpf(r) for r in DISTANCES]
        expected = [float(2 ** (1 - mpf(nu)) / mpmath.gamma(nu) * a**nu * mpmath.besselk(nu, a)) for a in z]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-13, rtol=0)
    arguments = np.array([float(a) for a in z if a > 0.1 * nu])
    logs = (1 - nu) * math.log(2) - scipy.special.gammaln(nu) + nu * np.log(arguments) - arguments
    by_scipy = np.exp(logs + np.log(scipy.special.kve(nu, arguments)))
    np.testing.assert_allclose(found.numpy()[-len(arguments) :], by_scipy, atol=1e-11, rtol=0)


@pytest.mark.parametrize("kappa", [0.2, 1.0, 10.0])
def test_on_the_circle_the_roughest_kernel_is_a_hyperbolic_cosine(kappa):
    """The spectrum of nu = 1/2 is 1 / (a^2 + n^2), and the sum of cos(n t) / (a^2 + n^2) is ~ cosh(a (pi - t))."""
    angles = tensor(0.01, 0.5, 2.0, math.pi)

    found = covariance(SPECS["sphere"](1), on_circle(1, 0), on_circle(1, *angles.tolist()), nu=0.5, kappa=kappa)

    a = 1 / kappa
    expected = torch.cosh(a * (math.pi - angles)) / math.cosh(a * math.pi)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-13, rtol=0)


@pytest.mark.parametrize("x", [tensor(3, 1, 1, 2), tensor(3, 1, 0.5, 1, 2, 0.2, 0.5, 0.2, 1)], ids=["2", "3"])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, math.inf])
def test_multiples_of_a_matrix_are_a_line(nu, x):
    """From X to c X it is sqrt n log c far, and on that flat line the mixture of Gaussians is the ordinary kernel."""
    r = tensor(*DISTANCES)
    size = math.isqrt(len(x))

    found = covariance(SPECS["spd"](size), x, torch.exp(r / math.sqrt(size))[:, None] * x, nu=nu, kappa=1.0)

    np.testing.assert_allclose(found.numpy(), HALF_INTEGER[nu](r).numpy(), atol=1e-13, rtol=0)


@pytest.mark.parametrize("kappa", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("nu", HALF_INTEGER)
def test_in_hyperbolic_space_of_dimension_three_kernels_are_the_flat_ones_thinned(nu, kappa):
    """The heat kernel is r / sinh r times the flat one, at every time; hence every mixture is."""
    r = kappa * tensor(*DISTANCES[:-1])
    y = torch.stack([torch.cosh(r), torch.sinh(r), 0 * r, 0 * r], -1)[r < 8]
    r = r[r < 8]

    found = covariance(SPECS["hyperbolic"](3), tensor(1, 0, 0, 0), y, nu=nu, kappa=kappa)

    expected = r / torch.sinh(r) * HALF_INTEGER[nu](r / kappa)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-13, rtol=0)
