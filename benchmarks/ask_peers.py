"""How others are asked for a point: each gets the observations as numbers in [0, 1], and answers with such numbers.

Each entry of ``PEERS`` and ``OTHERS`` takes points (n, m) of the unit cube, their costs and a seed, does all that
needs no model, and returns the ask itself, whose time counts. Observations that an optimizer has seen before, it may
have learned from: it is made anew for every ask.
"""

from __future__ import annotations

import logging
import math
import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar

import torch
from geodrome_core import Space
from torch import Tensor

Ask = Callable[[], list[float]]

RESTARTS, LOOKED_AT = 10, 512
"""Of BoTorch's search, as its tutorials have them."""

INITIAL = 5
"""Points that are there before Optuna is asked: it does not begin with random points of its own."""


def chart(space: Space, X: Tensor) -> Tensor:
    """Points (n, d) as numbers (n, m) in [0, 1]: the coordinates of their logarithms at the first, scaled to a box.

    That is rotation vectors, angles, logarithms of matrices; what lies near the cut locus is torn apart, as it is by
    any other parametrization.
    """
    manifold = space.manifold
    base = X[:1].expand_as(X)
    steps = manifold.log(base, X)
    axes = manifold.basis(base)
    each = [manifold.inner(base, axes[:, index], steps) for index in range(manifold.dim)]
    u = torch.stack(each, -1)
    low, high = u.amin(0), u.amax(0)
    return (u - low) / (high - low)


def botorch(U: Tensor, Y: Tensor, seed: int, nearest: Callable[[Tensor], Tensor] | None = None) -> Ask:
    """SingleTaskGP as it comes, and log EI by optimize_acqf.

    Args:
        U: Points (n, m) of the unit cube.
        Y: Their costs.
        seed: Of all chance.
        nearest: From numbers (b, m) of the cube to those of the point that they are brought back to, whose improvement
            is what counts; None where all numbers are points.
    """
    from botorch.acquisition import LogExpectedImprovement  # noqa: PLC0415 - a peer is imported where it is used
    from botorch.fit import fit_gpytorch_mll  # noqa: PLC0415
    from botorch.models import SingleTaskGP  # noqa: PLC0415
    from botorch.optim import optimize_acqf  # noqa: PLC0415
    from gpytorch.mlls import ExactMarginalLogLikelihood  # noqa: PLC0415

    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, U.shape[1])

    class OfNearest(LogExpectedImprovement):
        def forward(self, X: Tensor) -> Tensor:
            if X.requires_grad:
                # A nearest rotation has no derivative where singular values are equal.
                X.register_hook(torch.nan_to_num)
            return super().forward(nearest(X.flatten(0, -2)).reshape(X.shape) if nearest else X)

    def ask() -> list[float]:
        torch.manual_seed(seed)
        model = SingleTaskGP(U, -Y.unsqueeze(-1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        acquisition = OfNearest(model, best_f=-Y.min())
        (found,), _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=LOOKED_AT)
        return found.tolist()

    return ask


def optuna(U: Tensor, Y: Tensor, seed: int) -> Ask:
    """GPSampler."""
    import optuna as library  # noqa: PLC0415

    return _optuna(U, Y, library.samplers.GPSampler(seed=seed, n_startup_trials=INITIAL))


def optuna_tpe(U: Tensor, Y: Tensor, seed: int) -> Ask:
    """TPESampler."""
    import optuna as library  # noqa: PLC0415

    return _optuna(U, Y, library.samplers.TPESampler(seed=seed, n_startup_trials=INITIAL))


def _optuna(U: Tensor, Y: Tensor, sampler: Any) -> Ask:
    import optuna as library  # noqa: PLC0415

    library.logging.set_verbosity(library.logging.ERROR)
    names = [f"u{index}" for index in range(U.shape[1])]
    ranges = {name: library.distributions.FloatDistribution(0, 1) for name in names}
    study = library.create_study(sampler=sampler)
    study.add_trials(
        [
            library.trial.create_trial(params=dict(zip(names, row, strict=True)), distributions=ranges, value=cost)
            for row, cost in zip(U.tolist(), Y.tolist(), strict=True)
        ]
    )

    def ask() -> list[float]:
        trial = study.ask()
        return [trial.suggest_float(name, 0, 1) for name in names]

    return ask


def ax(U: Tensor, Y: Tensor, seed: int) -> Ask:
    """The client with its usual ("fast") strategy.

    Costs go to its experiment at once: one by one the client takes longer for them than for the ask.
    """
    import pandas as pd  # noqa: PLC0415
    from ax.api.client import Client  # noqa: PLC0415
    from ax.api.configs import RangeParameterConfig  # noqa: PLC0415
    from ax.core.data import Data  # noqa: PLC0415

    names = [f"u{index}" for index in range(U.shape[1])]
    client = Client(random_seed=seed)
    client.configure_experiment(
        parameters=[RangeParameterConfig(name=name, bounds=(0.0, 1.0), parameter_type="float") for name in names]
    )
    client.configure_optimization(objective="-cost")
    client.configure_generation_strategy(initialization_budget=0, initialize_with_center=False)
    experiment = client._experiment
    trials = [
        experiment.trials[client.attach_trial(parameters=dict(zip(names, row, strict=True)))] for row in U.tolist()
    ]
    observed = pd.DataFrame(
        {
            "trial_index": [trial.index for trial in trials],
            "arm_name": [trial.arms[0].name for trial in trials],
            "metric_name": "cost",
            "metric_signature": "cost",
            "mean": Y.tolist(),
            "sem": math.nan,
        }
    )
    experiment.attach_data(Data(df=observed))
    for trial in trials:
        trial.mark_completed()

    def ask() -> list[float]:
        found = client.get_next_trials(max_trials=1)
        ((index, parameters),) = found.items()
        (run,) = experiment.trials[index].generator_runs
        assert run._generator_key != "Sobol", "Ax did not use its model"
        return [float(parameters[name]) for name in names]

    return ask


def vizier(U: Tensor, Y: Tensor, seed: int) -> Ask:
    """``Vizier`` as it is made for one ask."""
    designer = Vizier(U.shape[1], seed)
    designer.tell(U, Y)
    return designer.ask


class Vizier:
    """The designer of its GP bandit algorithm, UCB-PE; an ask takes it two seconds and more on one thread.

    Args:
        dim: Of the unit cube.
        seed: Of all chance.
    """

    _searches: ClassVar[dict[int, Any]] = {}
    """That of a cube of each dimension, for all designers: it knows of no observations."""

    def __init__(self, dim: int, seed: int) -> None:
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
        from jax.random import PRNGKey  # noqa: PLC0415
        from vizier import pyvizier  # noqa: PLC0415
        from vizier._src.algorithms.designers.gp_ucb_pe import (  # noqa: PLC0415 - not public elsewhere
            VizierGPUCBPEBandit,
        )
        from vizier.pyvizier.converters.padding import PaddingSchedule, PaddingType  # noqa: PLC0415

        problem = pyvizier.ProblemStatement()
        self._names = [f"u{index}" for index in range(dim)]
        for name in self._names:
            problem.search_space.root.add_float_param(name, 0.0, 1.0)
        goal = pyvizier.ObjectiveMetricGoal.MINIMIZE
        problem.metric_information.append(pyvizier.MetricInformation("cost", goal=goal))
        # Without padding, each number of trials is compiled anew, and a run of a hundred ends without memory maps.
        padding = PaddingSchedule(num_trials=PaddingType.MULTIPLES_OF_10)
        self._designer = VizierGPUCBPEBandit(problem, rng=PRNGKey(seed), padding_schedule=padding)
        # Made anew for every ask, as it is by default, its search is compiled at every ask, for most of its time.
        search = self._searches.setdefault(
            dim, self._designer._acquisition_optimizer_factory(self._designer._converter)
        )
        self._designer._acquisition_optimizer_factory = lambda _: search
        self._told = 0

    def tell(self, U: Tensor, Y: Tensor) -> None:
        """Takes in the costs of all points so far, of which only those that are new to it count."""
        from vizier import algorithms, pyvizier  # noqa: PLC0415

        new = list(enumerate(zip(U.tolist(), Y.tolist(), strict=True), start=1))[self._told :]
        self._told = len(U)
        trials = [
            pyvizier.Trial(
                id=number,
                parameters=dict(zip(self._names, row, strict=True)),
                final_measurement=pyvizier.Measurement(metrics={"cost": cost}),
            )
            for number, (row, cost) in new
        ]
        self._designer.update(algorithms.CompletedTrials(trials), algorithms.ActiveTrials())

    def ask(self) -> list[float]:
        """A point of the cube."""
        (found,) = self._designer.suggest(1)
        return [float(found.parameters.get_value(name)) for name in self._names]


PEERS: dict[str, Callable[[Tensor, Tensor, int], Ask]] = {"botorch": botorch, "optuna": optuna, "ax": ax}
"""With a Gaussian process and expected improvement, as we have."""

OTHERS: dict[str, Callable[[Tensor, Tensor, int], Ask]] = {"optuna_tpe": optuna_tpe, "vizier": vizier}
"""With something else."""


def installed() -> list[str]:
    """Names of the peers with expected improvement that can be imported."""
    return [name for name in PEERS if find_spec(name)]


def make_quiet() -> None:
    """Peers warn and log a lot, of what does not matter to their times."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
