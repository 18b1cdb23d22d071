"""Suggestions of models with kernels to compare with."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from geodrome_core.gp.fit import FitStatus
from geodrome_core.kernels.baselines import baseline_for

from tests.core.spaces import SPACES


def told(space, count):
    """A history of a smooth cost."""
    X = space.manifold.random(count, torch.Generator().manual_seed(2))
    none = space.rows([])
    return History(X, (X - X[0]).square().sum(-1), none, none, none)


@pytest.mark.parametrize("name", ["sphere2", "rotation3", "spd2", "ball2", "torus2", "product"])
@pytest.mark.parametrize("kernel", ["euclidean_matern", "geodesic_se"])
def test_a_baseline_suggests_points_of_the_domain_or_says_why_it_has_no_model(name, kernel):
    space = space_from_spec(SPACES[name])
    problem = Problem(space, nu=math.inf if kernel == "geodesic_se" else 2.5, kernel=kernel)

    (found,) = suggest(problem, told(space, 7), seed=1)

    assert space.check(found.point).outside == ()
    assert found.kind == "model" or (found.kind, found.note) == ("fallback", FitStatus.NOT_POSITIVE_DEFINITE.value)


@pytest.mark.parametrize("name", ["spd2", "inertia3", "product"])
def test_cholesky_factors_make_a_model_of_matrices_of_any_metric(name):
    space = space_from_spec(SPACES[name])

    (found,) = suggest(Problem(space, kernel="cholesky_matern"), told(space, 7), seed=1)

    assert found.kind == "model"
    assert space.check(found.point).outside == ()


def test_cholesky_factors_need_matrices():
    with pytest.raises(ValueError, match="cholesky_matern is for spaces with positive definite matrices"):
        baseline_for(space_from_spec({"type": "sphere", "dim": 2}), "cholesky_matern")


def test_a_lengthscale_is_fitted_below_the_bound_of_the_geodesic_kernel():
    space = space_from_spec({"type": "sphere", "dim": 2})

    (found,) = suggest(Problem(space, nu=math.inf, kernel="geodesic_se"), told(space, 12), seed=1)

    assert found.hyperparameters["lengthscales"][""] <= 1 / math.sqrt(2 * 6.5)


def test_the_smoothness_of_a_baseline_can_be_learned():
    space = space_from_spec(SPACES["sphere2"])

    (found,) = suggest(Problem(space, nu=None, kernel="euclidean_matern"), told(space, 12), seed=1)

    assert found.hyperparameters["nu"] > 0


def test_the_metric_of_eigenvalues_and_eigenvectors_has_a_model_of_two_lengthscales():
    space = space_from_spec({"type": "spd", "dim": 2, "eigenvalues": [0.1, 10], "metric": "eigen_product"})
    history = told(space, 8)

    (first,) = suggest(Problem(space), history, seed=1)
    (again,) = suggest(Problem(space), history, seed=1, start=first.hyperparameters)

    assert len(first.hyperparameters["lengthscales"][""]) == 2
    assert (first.kind, again.kind) == ("model", "model")
    assert space.check(first.point).outside == ()
