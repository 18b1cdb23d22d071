"""A model of the costs: on which scale it sees them."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec, suggest
from geodrome_core.gp import fit
from geodrome_core.model import Model

SPACE = space_from_spec({"type": "sphere", "dim": 3})
MANIFOLD = SPACE.manifold
POLE = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64)


def history_of(X, Y, std=None):
    none = SPACE.rows([])
    return History(X, Y, none, none, none, std=std)


def uniform(count, seed=0):
    return MANIFOLD.random(count, torch.Generator().manual_seed(seed))


def with_crowd(count=60, far=25):
    """Uniform points, and a crowd at a pole where costs are low but not the lowest that there may be."""
    X = uniform(far)
    steps = torch.randn(count, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    base = POLE.expand(count, -1)
    crowd = MANIFOLD.retract(base, MANIFOLD.tangent(base, 1e-3 * steps))
    X = torch.cat([X, crowd])
    return X, 4 - torch.cos(6 * MANIFOLD.distance(X, POLE.expand_as(X))) + 3 * torch.sin(2 * X[:, 1]) ** 2


@pytest.mark.parametrize(
    ("costs", "is_logarithmic"),
    [(lambda X: torch.exp(4 * X[:, 0]), True), (lambda X: X[:, 0] ** 2 + 3 * X[:, 1] ** 2, False)],
    ids=["factors", "differences"],
)
def test_the_likelier_scale_is_taken(costs, is_logarithmic):
    """Costs that are smooth on one scale, and not on the other."""
    X = uniform(60)

    model = Model.of(Problem(SPACE), history_of(X, costs(X)))

    assert (model.scale.reach < math.inf) == is_logarithmic


def test_known_noise_is_as_large_on_either_scale():
    """Predictions of costs that are known to within 10 % are about as good as that."""
    X = uniform(60)
    true = torch.exp(4 * X[:, 0])
    Y = true * (1 + 0.1 * torch.randn(60, generator=torch.Generator().manual_seed(2), dtype=torch.float64))

    model = Model.of(Problem(SPACE), history_of(X, Y, std=0.1 * true))
    mean, std = model.predict(X)

    assert float(((mean - true) / true).abs().median()) < 0.1
    assert 0.02 < float((std / true).median()) < 0.15


def test_a_crowd_sets_the_scale_of_close_models_only():
    X, Y = with_crowd()
    problem = Problem(SPACE)

    wide, close = (Model.of(problem, history_of(X, Y), closely=closely) for closely in (False, True))

    assert 0.2 < wide.scale.unit < 5
    assert close.scale.unit < 1e-3
    far, away = uniform(40, 7), X[-1].expand(40, -1)
    of_far = far[MANIFOLD.distance(far, away) > 0.5]
    mean, _ = wide.predict(of_far)
    true = 4 - torch.cos(6 * MANIFOLD.distance(of_far, POLE.expand_as(of_far))) + 3 * torch.sin(2 * of_far[:, 1]) ** 2
    assert torch.corrcoef(torch.stack([mean, true]))[0, 1] > 0.3


def test_where_there_is_no_crowd_a_close_model_is_the_same():
    X = uniform(30)
    history = history_of(X, X[:, 0])

    wide, close = (Model.of(Problem(SPACE), history, closely=closely) for closely in (False, True))

    assert wide.scale == close.scale
    assert wide.fitted.hyperparameters == close.fitted.hyperparameters


def test_of_many_observations_some_decide(monkeypatch):
    X = uniform(120)
    Y = torch.exp(4 * X[:, 0])
    sizes = []
    whole = fit.fit
    monkeypatch.setattr("geodrome_core.model.FEW", 50)
    monkeypatch.setattr(
        "geodrome_core.model.fit", lambda spec, X, Y, **more: sizes.append(len(X)) or whole(spec, X, Y, **more)
    )

    model = Model.of(Problem(SPACE), history_of(X, Y))

    assert sizes == [40, 40, 120]
    assert model.scale.reach < math.inf
    assert len(model.posterior.Y) == 120


def test_a_run_that_found_a_local_optimum_goes_on_looking_elsewhere():
    X, Y = with_crowd()
    history = history_of(X[1:], Y[1:])
    assert len(history.Y) % 2 == 0

    (found,) = suggest(Problem(SPACE), history, 1, seed=3)

    assert float(MANIFOLD.distance(found.row, X[Y.argmin()])) > 0.3
