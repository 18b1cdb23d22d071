"""Which kernel a model has: the one that was asked for, or that under which the costs are likelier."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from geodrome_core.kernels.baselines import baseline_for
from geodrome_core.kernels.factory import for_space
from geodrome_core.model import Model

from tests.core.kernels.cases import gram
from tests.core.spaces import SPACES
from tests.strategies import generator

H3 = space_from_spec({"type": "hyperbolic", "dim": 3, "radius": 3.0})
FLAT_AND_OWN = ("matern", "euclidean_matern")


def told(X, Y):
    none = H3.rows([])
    return History(X, Y, none, none, none)


def drawn(kernel, seed, count=60):
    """Costs drawn from a prior, and where."""
    g = generator(seed)
    X = H3.manifold.random(count, g)
    chosen = for_space(H3) if kernel == "matern" else baseline_for(H3, kernel)
    chosen.lengthscale = 2.0
    root = torch.linalg.cholesky(gram(chosen, X) + 1e-10 * torch.eye(count, dtype=torch.float64))
    return told(X, root @ torch.randn(count, generator=g, dtype=torch.float64))


@pytest.mark.parametrize(
    ("spec", "options", "kernels"),
    [
        (H3.spec, {}, FLAT_AND_OWN),
        ({"type": "product", "factors": {"turn": {"type": "rotation"}, "node": H3.spec}}, {}, FLAT_AND_OWN),
        (H3.spec, {"kernel": "matern"}, ("matern",)),
        (H3.spec, {"kernel": "euclidean_matern"}, ("euclidean_matern",)),
        (H3.spec, {"acquisition": "thompson"}, ("matern",)),
        (H3.spec, {"ard": True}, ("matern",)),
        *((SPACES[name], {}, ("matern",)) for name in ("sphere2", "rotation3", "spd2", "torus2")),
    ],
)
def test_there_is_a_choice_with_hyperbolic_factors_alone(spec, options, kernels):
    problem = Problem(space_from_spec(spec), **options)

    assert problem.kernels == kernels
    assert tuple(model.kernel for model in problem.models) == kernels


@pytest.mark.parametrize("kernel", FLAT_AND_OWN)
def test_costs_that_were_drawn_from_a_kernel_are_modelled_with_it(kernel):
    """Sixty costs tell in four draws of five."""
    chosen = [Model.of(Problem(H3), drawn(kernel, seed)).fitted.hyperparameters["kernel"] for seed in range(10)]

    assert chosen.count(kernel) >= 8, chosen


@pytest.mark.parametrize("seed", range(3))
def test_the_likelier_of_both_is_taken_as_it_is_when_it_is_asked_for(seed):
    history = drawn("matern", seed, count=25)

    model = Model.of(Problem(H3), history)

    alone = {kernel: Model.of(Problem(H3, kernel=kernel), history).fitted for kernel in FLAT_AND_OWN}
    best = min(alone, key=lambda kernel: alone[kernel].loss)
    assert model.fitted.loss == alone[best].loss
    assert model.fitted.hyperparameters == alone[best].hyperparameters


def test_a_fit_begins_at_what_another_kernel_found_where_that_has_as_many_lengthscales():
    """Matrices have two lengthscales with the metric of eigenvalues and eigenvectors, and one with the flat kernel."""
    matrix = {"type": "spd", "dim": 2, "eigenvalues": [0.1, 10], "metric": "eigen_product"}
    space = space_from_spec({"type": "product", "factors": {"node": H3.spec, "matrix": matrix}})
    X = space.manifold.random(20, generator(4))
    none = space.rows([])
    history = History(X, X[:, 1] ** 2 + torch.cos(X[:, -1]), none, none, none)
    for first in FLAT_AND_OWN:
        start = Model.of(Problem(space, kernel=first), history).fitted.hyperparameters

        again = {kernel: Model.of(Problem(space, kernel=kernel), history, start) for kernel in FLAT_AND_OWN}

        for kernel, model in again.items():
            alone = Model.of(Problem(space, kernel=kernel), history)
            assert model.fitted.loss <= alone.fitted.loss + 1e-6


def test_a_suggestion_says_which_kernel_it_is_from_and_is_the_same_with_that_one_alone():
    history = drawn("euclidean_matern", 2)

    (found,) = suggest(Problem(H3), history, seed=1)
    (alone,) = suggest(Problem(H3, kernel="euclidean_matern"), history, seed=1)

    assert found.hyperparameters["kernel"] == "euclidean_matern"
    assert found.point == alone.point
