"""Sample paths: their law is the posterior's, their derivatives are autograd's."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.search.objective import ByAutograd
from geodrome_core.thompson import SamplePath

from tests.core.cases import fitted
from tests.core.spaces import SPACES
from tests.strategies import generator


@pytest.mark.parametrize("name", ["sphere2", "euclidean2", "spd2"])
def test_many_paths_have_mean_and_covariance_of_the_posterior(name):
    space, posterior = fitted(name, 10)
    x = space.manifold.random(4, generator(1))
    chance = generator(2)

    paths = torch.stack([-SamplePath.draw(space, posterior, chance)(x) for _ in range(144)]).detach()

    mean, covariance = posterior.joint(x)
    spread = covariance.diagonal().sqrt() + 0.01
    assert ((paths.mean(0) - mean).abs() < 4 * spread / 12).all()
    correlation = (paths.mT.cov() - covariance) / (spread * spread.unsqueeze(-1))
    assert correlation.abs().max() < 0.5


def test_a_path_meets_exact_observations():
    space, posterior = fitted("sphere2", 10)

    path = SamplePath.draw(space, posterior, generator(0))

    torch.testing.assert_close(
        -path(posterior.X), posterior.Y[:, 0], rtol=0, atol=5 * float(posterior.noise.max()) ** 0.5
    )


@pytest.mark.parametrize("name", SPACES)
def test_derivatives_are_those_of_autograd(name):
    space, posterior = fitted(name, 6)
    path = SamplePath.draw(space, posterior, generator(3))
    x = space.manifold.random(2, generator(4))

    found, expected = path.expand(x), ByAutograd(path, space.manifold).expand(x)

    torch.testing.assert_close(found.value, expected.value, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found.gradient, expected.gradient, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(found.hessian, expected.hessian, rtol=1e-6, atol=1e-6)
