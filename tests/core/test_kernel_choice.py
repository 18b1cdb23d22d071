"""Which kernel a model has: the one that was asked for, or that under which the costs are likelier."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from geodrome_core.kernels.baselines import baseline_for
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.parts import parts_of
from geodrome_core.model import FLAT_ODDS, Model

from tests.core.cases import drawn
from tests.core.spaces import SPACES

H3 = space_from_spec({"type": "hyperbolic", "dim": 3, "radius": 3.0})
SPD3 = space_from_spec({"type": "spd", "dim": 3, "eigenvalues": [0.001, 5.0]})
FLAT_AND_OWN = ("matern", "flat_matern")
EIGEN_PRODUCT = {"type": "spd", "dim": 2, "eigenvalues": [0.1, 10], "metric": "eigen_product"}


@pytest.mark.parametrize(
    ("spec", "options", "kernels"),
    [
        (H3.spec, {}, FLAT_AND_OWN),
        ({"type": "product", "factors": {"turn": {"type": "rotation"}, "node": H3.spec}}, {}, FLAT_AND_OWN),
        (H3.spec, {"kernel": "matern"}, ("matern",)),
        (H3.spec, {"kernel": "flat_matern"}, ("flat_matern",)),
        (SPD3.spec, {}, FLAT_AND_OWN),
        (SPACES["spd2"], {}, FLAT_AND_OWN),
        (SPD3.spec, {"acquisition": "thompson"}, ("matern",)),
        ({**SPD3.spec, "metric": "log_euclidean"}, {}, ("matern",)),
        ({**SPD3.spec, "metric": "eigen_product"}, {}, ("matern",)),
        (H3.spec, {"acquisition": "thompson"}, ("matern",)),
        (H3.spec, {"ard": True}, ("matern",)),
        ({"type": "product", "factors": {"node": H3.spec, "matrix": EIGEN_PRODUCT}}, {}, FLAT_AND_OWN),
        *((SPACES[name], {}, ("matern",)) for name in ("sphere2", "rotation3", "torus2")),
    ],
)
def test_there_is_a_choice_where_no_kernel_of_the_space_reaches_far(spec, options, kernels):
    problem = Problem(space_from_spec(spec), **options)

    assert problem.kernels == kernels
    assert tuple(model.kernel for model in problem.models) == kernels


@pytest.mark.parametrize("kernel", FLAT_AND_OWN)
def test_costs_that_were_drawn_from_a_kernel_are_modelled_with_it(kernel):
    """With 150 of them, the evidence is ten times what the odds are."""
    histories = [drawn(H3, kernel, seed, count=150) for seed in range(4)]
    chosen = [Model.of(Problem(H3), history).fitted.hyperparameters["kernel"] for history in histories]

    assert chosen == [kernel] * 4


@pytest.mark.parametrize("seed", range(3))
def test_the_likelier_of_both_by_the_odds_is_taken_as_it_is_when_it_is_asked_for(seed):
    history = drawn(H3, "matern", seed, count=25)

    model = Model.of(Problem(H3), history)

    alone = {kernel: Model.of(Problem(H3, kernel=kernel), history).fitted for kernel in FLAT_AND_OWN}
    alone_at_odds = {
        "matern": alone["matern"].loss,
        "flat_matern": alone["flat_matern"].loss - math.log(FLAT_ODDS) / len(history.Y),
    }
    best = min(FLAT_AND_OWN, key=lambda kernel: alone_at_odds[kernel])
    assert model.fitted.loss == alone[best].loss
    assert model.fitted.hyperparameters == alone[best].hyperparameters


@pytest.mark.parametrize("name", [*SPACES])
def test_both_kernels_have_as_many_lengthscales(name):
    """What one has found is then where a fit of the other may begin, and their densities can be compared."""
    space = space_from_spec({"type": "product", "factors": {"node": H3.spec, "other": SPACES[name]}})

    own, flat = parts_of(for_space(space)), parts_of(baseline_for(space, "flat_matern"))

    assert [part.lengthscale.numel() for part in own] == [part.lengthscale.numel() for part in flat]


def test_a_fit_may_begin_at_what_the_other_kernel_found():
    history = drawn(H3, "matern", 1, count=25)
    for first in FLAT_AND_OWN:
        start = Model.of(Problem(H3, kernel=first), history).fitted.hyperparameters
        for kernel in FLAT_AND_OWN:
            alone = Model.of(Problem(H3, kernel=kernel), history).fitted

            assert Model.of(Problem(H3, kernel=kernel), history, start).fitted.loss <= alone.loss + 1e-6


def test_a_suggestion_says_which_kernel_it_is_from_and_is_the_same_with_that_one_alone():
    history = drawn(H3, "flat_matern", 2)

    (found,) = suggest(Problem(H3), history, seed=1)
    (alone,) = suggest(Problem(H3, kernel="flat_matern"), history, seed=1)

    assert found.hyperparameters["kernel"] == "flat_matern"
    assert found.point == alone.point


def test_a_few_costs_that_tell_nothing_leave_the_flat_kernel():
    """Five costs of a ripple: by the evidence alone they are a little likelier with the kernel of the space."""
    X = SPD3.manifold.random(5, torch.Generator().manual_seed(0))
    none = SPD3.rows([])
    history = History(X, torch.tensor([17.3, 14.6, 16.6, 14.7, 14.2], dtype=torch.float64), none, none, none)

    losses = {kernel: Model.of(Problem(SPD3, kernel=kernel), history).fitted.loss for kernel in FLAT_AND_OWN}

    assert 0 < losses["flat_matern"] - losses["matern"] < math.log(FLAT_ODDS) / 5
    assert Model.of(Problem(SPD3), history).fitted.hyperparameters["kernel"] == "flat_matern"
