"""The objective of a fit: its gradient is that of its value, on every space and in every mode."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from geodrome_core.gp.evidence import Evidence
from geodrome_core.gp.observations import Observations
from geodrome_core.gp.priors import PRIORS, Gamma, LogNormal
from geodrome_core.kernels import for_space
from geodrome_core.kernels.parts import parts_of, scaling
from scipy import stats

from tests.core.cases import observed
from tests.core.spaces import SPACES


@pytest.mark.parametrize("given", [(None, 2.5), (None, None), (1e-4, 1.5), (None, math.inf)])
@pytest.mark.parametrize("name", SPACES)
def test_the_gradient_is_that_of_the_value(name, given):
    noise, nu = given
    space, X, Y = observed(name, 12)
    data = Observations.of(X[[*range(12), 3, 5, 5]], Y[[*range(12), 4, 6, 7]])
    kernel = for_space(space, nu=nu or 2.5)
    count = sum(part.lengthscale.numel() for part in parts_of(kernel))
    laws = PRIORS["default"]
    priors = [laws.lengthscale(factor, space.manifold.dim) for factor in space.factors.values()] + [laws.outputscale]
    priors += ([laws.noise] if noise is None else []) + ([laws.nu] if nu is None else [])
    evidence = Evidence(scaling(kernel, data.X), data, priors, noise, nu)
    t = np.log([0.8] * count + [1.3] + [0.05] * (noise is None) + [1.7] * (nu is None))

    value, gradient = evidence(t)

    for index, step in enumerate(1e-4 * np.eye(len(t))):
        slope = (evidence(t + step)[0] - evidence(t - step)[0]) / 2e-4
        assert gradient[index] == pytest.approx(slope, abs=2e-6)
    assert math.isfinite(value)
    np.testing.assert_allclose(evidence.logarithms(evidence.parameters(t)), t, atol=1e-14)


@pytest.mark.parametrize("law", [LogNormal(0.7, 1.3), Gamma(1.1, 0.05), Gamma(3.0, 6.0)])
def test_densities_are_those_of_gpytorch(law):
    for x in (0.01, 0.5, 3.0):
        density, slope = law.on_log(math.log(x))
        expected = law.as_gpytorch().log_prob(torch.tensor(x, dtype=torch.float64))

        assert density == pytest.approx(float(expected), abs=1e-6)
        above, below = (law.on_log(math.log(x) + step)[0] for step in (1e-6, -1e-6))
        assert slope == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("law", [LogNormal(0.7, 1.3), Gamma(1.1, 0.05), Gamma(3.0, 6.0)])
def test_half_of_a_prior_lies_below_its_median(law):
    frozen = (
        stats.lognorm(law.spread, scale=law.median)
        if isinstance(law, LogNormal)
        else stats.gamma(law.shape, scale=1 / law.rate)
    )

    assert frozen.cdf(law.median) == pytest.approx(0.5, abs=0.01)
