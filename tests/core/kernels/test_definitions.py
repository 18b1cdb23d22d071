"""Three Matérn kernels of non-compact spaces: where they agree, and how they follow from each other."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from geodrome_core.kernels import for_space
from torch import Tensor

from tests.core.kernels.cases import SPACES, gram, manifold_of, random_rows

assert_close = torch.testing.assert_close

CURVED = {"H2": 1 / 4, "H3": 1.0, "H8": 49 / 4, "SPD2": 1 / 8, "SPD3": 1 / 2}
"""Where the spectrum of minus the Laplacian begins, |rho|^2."""


def covariances(name: str, x: Tensor, *, nu: float, kappa: float, definition: str) -> Tensor:
    return gram(for_space(SPACES[name], nu=nu, lengthscale=kappa, definition=definition), x)


@pytest.mark.parametrize("nu", [0.5, 2.5, math.inf])
@pytest.mark.parametrize("name", [name for name in SPACES if name not in CURVED and name != "tool"])
def test_on_compact_and_on_flat_spaces_they_are_one(name, nu):
    x = random_rows(name, 8)

    paper, spde, shifted = (
        covariances(name, x, nu=nu, kappa=0.7, definition=each) for each in ("paper", "spde", "shifted")
    )

    assert_close(spde, paper, atol=1e-12, rtol=0.0)
    assert_close(shifted, paper, atol=1e-12, rtol=0.0)


@pytest.mark.parametrize("name", CURVED)
def test_the_heat_kernel_is_one_for_all(name):
    x = random_rows(name, 8)

    paper, *others = (
        covariances(name, x, nu=math.inf, kappa=0.7, definition=each) for each in ("paper", "spde", "shifted")
    )

    assert all(torch.equal(other, paper) for other in others)


@pytest.mark.parametrize("nu", [0.5, 1.5, 3.2])
@pytest.mark.parametrize("kappa", [0.1, 1.0, 5.0])
def test_in_three_dimensions_the_paper_s_is_the_shifted_one(nu, kappa):
    x = random_rows("H3", 8)

    paper = covariances("H3", x, nu=nu, kappa=kappa, definition="paper")

    assert_close(covariances("H3", x, nu=nu, kappa=kappa, definition="shifted"), paper, atol=1e-12, rtol=0.0)


def test_for_long_lengthscales_the_three_are_different_kernels():
    x = random_rows("H2", 8)

    paper, spde, shifted = (
        covariances("H2", x, nu=1.5, kappa=3.0, definition=each) for each in ("paper", "spde", "shifted")
    )

    assert min(float((a - b).abs().max()) for a, b in ((paper, spde), (spde, shifted), (shifted, paper))) > 0.01


@pytest.mark.parametrize("nu", [0.5, 1.5, 3.2])
@pytest.mark.parametrize("name", CURVED)
def test_a_shift_of_the_spectrum_is_a_change_of_the_lengthscale(name, nu):
    """b + lambda = (b + |rho|^2) + (lambda - |rho|^2)."""
    x, kappa = random_rows(name, 8), 0.8
    shifted = math.sqrt(2 * nu / (2 * nu / kappa**2 + CURVED[name]))

    assert_close(
        covariances(name, x, nu=nu, kappa=kappa, definition="spde"),
        covariances(name, x, nu=nu, kappa=shifted, definition="shifted"),
        atol=1e-12,
        rtol=0.0,
    )


@pytest.mark.parametrize("nu", [0.5, 2.5])
@pytest.mark.parametrize("name", CURVED)
def test_short_lengthscales_do_not_feel_the_curvature(name, nu):
    kappa = 1e-3
    manifold = manifold_of(name)
    x = random_rows(name, 1)
    steps = torch.linspace(0, 3 * kappa, 6, dtype=torch.float64)[:, None]
    line = manifold.exp(
        x.expand(6, -1), steps * manifold.tangent(x, torch.eye(manifold.dim, dtype=torch.float64)[:1]).expand(6, -1)
    )

    paper, spde, shifted = (
        covariances(name, line, nu=nu, kappa=kappa, definition=each) for each in ("paper", "spde", "shifted")
    )

    assert_close(spde, paper, atol=1e-4, rtol=0.0)
    assert_close(shifted, paper, atol=1e-4, rtol=0.0)


@pytest.mark.parametrize(("definition", "shift"), [("spde", 0.25), ("shifted", 0.0)])
def test_on_the_hyperbolic_plane_the_spectrum_is_the_one_defined(definition, shift):
    """Integral of (b + shift + s^2)^(-nu - 1) P_(-1/2 + i s)(cosh r) s tanh(pi s) over s, Helgason 1984."""
    nu, kappa, r = 2.5, 2.0, [0.3, 2.5]
    x = torch.tensor([[1.0, 0, 0]] + [[math.cosh(a), math.sinh(a), 0] for a in r], dtype=torch.float64)

    found = covariances("H2", x, nu=nu, kappa=kappa, definition=definition)[0, 1:]

    rate = 2 * nu / kappa**2 + shift

    def spectral(distance: float) -> mpmath.mpf:
        def wave(s: mpmath.mpf) -> mpmath.mpf:
            value = mpmath.legenp(-0.5 + 1j * s, 0, mpmath.cosh(distance), type=3).real if distance else mpmath.mpf(1)
            return (rate + s * s) ** (-nu - 1) * value * s * mpmath.tanh(mpmath.pi * s)

        return mpmath.quad(wave, [0, 1, 2, 4, 8, 16, 32, 64])  # beyond, 1e-9 of it is left

    with mpmath.workdps(15):
        peak = spectral(0.0)
        expected = [float(spectral(a) / peak) for a in r]
    assert found.tolist() == pytest.approx(expected, abs=1e-8)
