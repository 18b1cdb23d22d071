"""Histories and models that the tests of the engine's parts share."""

from __future__ import annotations

from typing import Literal

import torch
from geodrome_core import History, Space, space_from_spec
from geodrome_core.gp.fit import ModelSpec, fit
from geodrome_core.gp.posterior import Posterior
from geodrome_core.kernels.baselines import baseline_for
from geodrome_core.kernels.factory import for_space
from torch import Tensor

from tests.core.kernels.cases import gram
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


def drawn(space: Space, kernel: Literal["matern", "flat_matern"], seed: int, count: int = 60) -> History:
    """Random points, and costs that are drawn from a kernel of lengthscale 2."""
    chance = generator(seed)
    X, none = space.manifold.random(count, chance), space.rows([])
    chosen = for_space(space) if kernel == "matern" else baseline_for(space, kernel)
    chosen.lengthscale = 2.0
    root = torch.linalg.cholesky(gram(chosen, X) + 1e-10 * torch.eye(count, dtype=torch.float64))
    return History(X, root @ torch.randn(count, generator=chance, dtype=torch.float64), none, none, none)
