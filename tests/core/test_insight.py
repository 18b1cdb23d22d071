"""Predictions, leave-one-out calibration against models without the observation, and reasons."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import History, Problem, space_from_spec
from geodrome_core.gp.observations import Observations
from geodrome_core.gp.posterior import posterior as posterior_of
from geodrome_core.insight import leave_one_out, predict, report, why
from geodrome_core.kernels.parts import scaling

from tests.core.cases import fitted, history, observed
from tests.strategies import generator


def test_leaving_one_out_is_a_model_of_the_others():
    _, posterior = fitted("sphere2", 9)

    found = leave_one_out(posterior)

    for index in range(9):
        others = torch.arange(9) != index
        data = Observations.of(posterior.X[others], posterior.Y[others, 0], posterior.noise[others])
        rest = posterior_of(
            posterior.kernel,
            data,
            scaling(posterior.kernel, data.X),
            outputscale=posterior.outputscale,
            noise=1.0,
        )
        weights = rest.root.mT @ (rest.root @ (data.Y - posterior.constant))
        cross = posterior.outputscale * posterior.kernel(posterior.X[index : index + 1], data.X).to_dense().detach()
        _, std = rest.mean_std(posterior.X[index : index + 1])
        assert float(found.mean[index]) == pytest.approx(posterior.constant + float(cross @ weights), abs=1e-7)
        assert float(found.std[index] ** 2) == pytest.approx(float(std**2 + posterior.noise[index]), rel=1e-6)


def test_a_model_of_its_own_samples_is_calibrated():
    """Of functions drawn from a prior like the model's, about two thirds lie within one deviation."""
    _, posterior = fitted("rotation3", 60)
    prior = posterior.kernel(posterior.X).to_dense().detach() + 0.01 * torch.eye(60, dtype=torch.float64)
    shares = []
    for seed in range(20):
        Y = torch.linalg.cholesky(prior) @ torch.randn(60, generator=generator(seed), dtype=torch.float64)
        data = Observations.of(posterior.X, Y)
        of_scales = scaling(posterior.kernel, data.X)
        drawn = posterior_of(posterior.kernel, data, of_scales, outputscale=1.0, noise=0.01)
        shares.append(leave_one_out(drawn).within_one)

    assert sum(shares) / 20 == pytest.approx(0.68, abs=0.04)


def test_predictions_are_in_the_unit_of_the_cost():
    space, X, Y = observed("rotation3", 25)
    costs = 1000 + 50 * Y

    found = predict(Problem(space), history(X, costs, failed=X[:2]), X)

    errors = [abs(one.mean - float(cost)) for one, cost in zip(found, costs, strict=True)]
    assert max(errors) < 5
    assert all(0 < one.std < 30 for one in found)
    assert all(0 < one.feasible < 1 for one in found)


def test_a_reason_names_the_observations_that_tell_most():
    space, X, Y = observed("sphere2", 12)

    reason = why(Problem(space), history(X, Y), X[3])

    assert reason.neighbours[0].index == 3
    assert reason.neighbours[0].distance == 0
    assert reason.neighbours[0].cost == float(Y[3])
    correlations = [neighbour.correlation for neighbour in reason.neighbours]
    assert correlations == sorted(correlations, reverse=True)
    assert reason.best == pytest.approx(float(Y.min()), abs=0.1)
    assert 0 <= reason.improvement <= 1


def test_without_two_costs_nothing_is_said():
    space, X, Y = observed("sphere2", 3)

    assert predict(Problem(space), history(X[:1], Y[:1]), X) is None
    assert why(Problem(space), history(X[:1], Y[:1]), X[0]) is None


def test_in_another_unit_of_the_cost_deviations_are_in_that_unit():
    space = space_from_spec({"type": "real", "bounds": [0, 40], "unit": "N"})
    empty = space.rows([])
    X = space.rows([5.0 * index for index in range(8)])
    Y = torch.tensor([0.3, 0.2, 0.5, 0.9, 1.4, 1.2, 2.0, 2.5], dtype=torch.float64)

    in_newton, in_millinewton = (
        report(Problem(space), History(X, scale * Y + shift, empty, empty, empty))
        for scale, shift in ((1.0, 0.0), (1000.0, 7000.0))
    )

    assert in_millinewton.noise_std == pytest.approx(1000 * in_newton.noise_std, rel=1e-4)
    assert in_millinewton.prior_std == pytest.approx(1000 * in_newton.prior_std, rel=1e-4)
    assert in_millinewton.mean == pytest.approx(1000 * in_newton.mean + 7000, rel=1e-6)
    assert in_millinewton.lengthscales[""].value == pytest.approx(in_newton.lengthscales[""].value, rel=1e-4)


def test_what_is_known_of_the_noise_comes_out_of_many_repeats():
    """Two places, a hundred repeats each: the noise is what these scatter by."""
    space = space_from_spec({"type": "real", "bounds": [0, 40], "unit": "N"})
    empty = space.rows([])
    numbers = torch.Generator().manual_seed(0)
    scatter = 0.2 * torch.randn(200, generator=numbers, dtype=torch.float64)
    X = space.rows([10.0] * 100 + [30.0] * 100)
    Y = torch.cat([torch.zeros(100), torch.ones(100)]).double() + scatter

    found = report(Problem(space), History(X, Y, empty, empty, empty))

    assert found.noise_std == pytest.approx(0.2, rel=0.1)
    assert found.points == 2
