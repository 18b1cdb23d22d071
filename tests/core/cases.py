"""Histories and models that the tests of the engine's parts share."""

from __future__ import annotations

from geodrome_core import History, Space, space_from_spec
from geodrome_core.gp.fit import ModelSpec, fit
from geodrome_core.gp.posterior import Posterior
from torch import Tensor

from tests.core.spaces import SPACES
from tests.strategies import generator


def observed(name: str, count: int, seed: int = 0) -> tuple[Space, Tensor, Tensor]:
    """Random points of a space, and standardized distances from a target."""
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    chance = generator(seed)
    X = manifold.random(count, chance)
    Y = manifold.distance(X, manifold.random(1, chance)) / manifold.diameter
    return space, X, (Y - Y.mean()) / Y.std()


def fitted(name: str, count: int, seed: int = 0, nu: float | None = 2.5) -> tuple[Space, Posterior]:
    """A model of ``observed``."""
    space, X, Y = observed(name, count, seed)
    posterior = fit(ModelSpec(space, nu=nu), X, Y).posterior
    assert posterior is not None
    return space, posterior


def history(X: Tensor, Y: Tensor, **others: Tensor) -> History:
    """Observations, and nothing else but what is named."""
    none = X[:0]
    return History(X, Y, **{"pending": none, "failed": none, "abandoned": none, **others})
