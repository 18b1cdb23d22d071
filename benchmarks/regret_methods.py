"""Methods whose regret is compared: ours, our engine with other kernels, and what people would use instead.

All get the same first points. A method that knows no manifolds searches a box of numbers, see ``charts``, as those
who know it well would have it do. On a parametrization its objective brings each proposal back to the domain: it is
told the cost as that of the numbers it proposed. On the numbers that points are written with, BoTorch is told where
the proposal was brought back to, and looks for the largest improvement there.

==========================  ===========================================================================================
``geodrome``                as the service has it by default: Matérn kernel of the space, nu learned from the costs; of
                            hyperbolic points and SPD that or ``geodrome_flat``'s, as the costs decide each time
``geodrome_own``            hyperbolic points and SPD: always the kernel of the space
``geodrome_flat``           the same: always that of Poincaré's ball, and of logarithms
``geodrome_matern``         the same everywhere, with nu = 2.5
``geodrome_se``             the squared exponential (heat) kernel of the space
``geodrome_geodesic_se``    exp of squared geodesic distances, which is not positive definite on all spaces
``geodrome_euclidean``      Matérn kernel of the numbers that points are written with (hyperbolic ones in Poincaré's
                            ball); searched on the manifold
``geodrome_cholesky``       SPD: the same of Cholesky factors
``geodrome_eigen``          SPD: a product of kernels of eigenvalues and of eigenvectors
``botorch_ambient``         SingleTaskGP and log EI on the numbers that points are written with, brought back as above
``botorch``                 the same on a parametrization, as are all that follow
``optuna``                  GPSampler
``optuna_tpe``              TPESampler
``ax``                      the client with its usual strategy
``vizier``                  the designer of its GP bandit algorithm, UCB-PE
``cma_es``                  pycma from the best of the first points, a quarter of the box wide
``random``                  uniform in the domain
==========================  ===========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distributions
from typing import Any

import ask_peers
import charts
import numpy as np
import torch
from geodrome_core import History, Problem, suggest
from geodrome_core.engine import suggestion_seed
from problems import CostFunction
from torch import Tensor

INITIAL = ask_peers.INITIAL
"""Random points that each method begins with."""

CMA_WIDTH = 0.25
"""Standard deviation of the first generation of CMA-ES, of a side of the box."""

SPD = ("spd2", "spd3", "robot:manipulability", "robot:manipulability-appendix", "robot:stiffness")

HYPERBOLIC = ("hyperbolic3", "robot:path-planning", "robot:path-planning-nodes", "robot:path-planning-three")

Ask = Callable[[], Tensor]
"""Gives the (d,) row of the next point; its time counts."""

Prepare = Callable[[Tensor, Tensor], Ask]
"""From the (n, d) points and (n,) costs so far, NaN where a trial failed, to the ask for the next point."""


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        begin: Begins a run on a cost function with a seed.
        package: Whose version counts, besides ours.
        spaces: Where it can be used; empty for everywhere.
    """

    begin: Callable[[CostFunction, int], Prepare]
    package: str | None = None
    spaces: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether its package is here."""
        return self.package is None or any(distributions(name=self.package))


def first_points(function: CostFunction, seed: int) -> Tensor:
    """(INITIAL, d) random points of the domain, the same for all methods."""
    manifold = function.space.manifold
    return manifold.clamp(manifold.random(INITIAL, torch.Generator().manual_seed(seed)))


def with_worst(Y: Tensor) -> Tensor:
    """Costs, with the worst one for trials that failed: others know no failures."""
    return torch.where(Y.isnan(), Y.nan_to_num(nan=-torch.inf).max(), Y)


def engine(**options: Any) -> Callable[[CostFunction, int], Prepare]:
    """Ours, as the service runs it: each fit begins where that of the trial before ended."""

    def begin(function: CostFunction, seed: int) -> Prepare:
        space = function.space
        problem, none = Problem(space, initial_size=INITIAL, **options), space.rows([])
        start: dict[str, Any] | None = None

        def prepare(X: Tensor, Y: Tensor) -> Ask:
            failed = Y.isnan()
            history = History(X[~failed], Y[~failed], pending=none, failed=X[failed], abandoned=none)
            own_seed = suggestion_seed(seed, len(X) + 1)

            def ask() -> Tensor:
                nonlocal start
                (found,) = suggest(problem, history, 1, seed=own_seed, start=start)
                start = dict(found.hyperparameters) or start
                return space.rows([found.point])[0]

            return ask

        return prepare

    return begin


def in_box(peer: Callable[[Tensor, Tensor, int], ask_peers.Ask]) -> Callable[..., Prepare]:
    """A peer of ``ask_peers`` on a parametrization, made anew for every ask, before its time counts."""

    def begin(function: CostFunction, seed: int) -> Prepare:
        return on_chart(function, lambda U, Y: peer(U, Y, suggestion_seed(seed, len(U) + 1)))

    return begin


def vizier(function: CostFunction, seed: int) -> Prepare:
    """On a parametrization, with one designer for the whole run: what it compiles for an ask serves the next."""
    designer: ask_peers.Vizier | None = None

    def prepare(U: Tensor, Y: Tensor) -> ask_peers.Ask:
        nonlocal designer
        designer = designer or ask_peers.Vizier(U.shape[1], suggestion_seed(seed, 0))
        designer.tell(U, Y)
        return designer.ask

    return on_chart(function, prepare)


def on_chart(function: CostFunction, peer: Callable[[Tensor, Tensor], ask_peers.Ask]) -> Prepare:
    """A peer that is told the cost of a proposal as that of the numbers that it proposed."""
    chart = charts.chart(function.space, "parametrized")
    proposals: list[Tensor] = []

    def prepare(X: Tensor, Y: Tensor) -> Ask:
        first = chart.numbers(X[: len(X) - len(proposals)])
        propose = peer(torch.cat([first, *proposals]), with_worst(Y))

        def ask() -> Tensor:
            proposals.append(torch.tensor([propose()], dtype=torch.float64))
            return chart.rows(proposals[-1])[0]

        return ask

    return prepare


def botorch_ambient(function: CostFunction, seed: int) -> Prepare:
    """BoTorch on the numbers that points are written with."""
    chart = charts.chart(function.space, "ambient")

    def prepare(X: Tensor, Y: Tensor) -> Ask:
        own_seed = suggestion_seed(seed, len(X) + 1)
        U = chart.numbers(X)
        propose = ask_peers.botorch(U, with_worst(Y), own_seed, lambda U: chart.numbers(chart.rows(U)))
        return lambda: chart.rows(torch.tensor([propose()], dtype=torch.float64))[0]

    return prepare


def cma_es(function: CostFunction, seed: int) -> Prepare:
    """Generation after generation; one that has converged begins again at the best point."""
    import cma  # noqa: PLC0415 - a peer is imported where it is used

    chart = charts.chart(function.space, "parametrized")
    strategy: Any = None
    generation: list[Any] = []
    asked = 0

    def ask(X: Tensor, Y: Tensor) -> Tensor:
        nonlocal strategy, generation, asked
        if asked == len(generation):
            if generation:
                strategy.tell(generation, with_worst(Y)[-asked:].tolist())
            if strategy is None or strategy.stop():
                best = chart.numbers(X[with_worst(Y).argmin()][None])[0].tolist()
                options = {"bounds": [0, 1], "seed": suggestion_seed(seed, len(X)) % 2**31 + 1, "verbose": -9}
                strategy = cma.CMAEvolutionStrategy(best, CMA_WIDTH, options)
            generation, asked = strategy.ask(), 0
        asked += 1
        return chart.rows(torch.as_tensor(np.array(generation[asked - 1]))[None])[0]

    return lambda X, Y: lambda: ask(X, Y)


def uniform(function: CostFunction, seed: int) -> Prepare:
    """Uniform in the domain."""
    manifold = function.space.manifold
    generator = torch.Generator().manual_seed(suggestion_seed(seed, 0))
    return lambda *_: lambda: manifold.clamp(manifold.random(1, generator))[0]


METHODS: dict[str, Method] = {
    "geodrome": Method(engine()),
    "geodrome_own": Method(engine(kernel="matern"), spaces=HYPERBOLIC + SPD),
    "geodrome_flat": Method(engine(kernel="flat_matern"), spaces=HYPERBOLIC + SPD),
    "geodrome_matern": Method(engine(kernel="matern", nu=2.5)),
    "geodrome_se": Method(engine(kernel="matern", nu=math.inf)),
    "geodrome_geodesic_se": Method(engine(kernel="geodesic_se", nu=math.inf)),
    "geodrome_euclidean": Method(engine(kernel="euclidean_matern")),
    "geodrome_cholesky": Method(engine(kernel="cholesky_matern"), spaces=SPD),
    "geodrome_eigen": Method(engine(kernel="eigen_product"), spaces=SPD),
    "botorch_ambient": Method(botorch_ambient, "botorch"),
    "botorch": Method(in_box(ask_peers.botorch), "botorch"),
    "optuna": Method(in_box(ask_peers.optuna), "optuna"),
    "optuna_tpe": Method(in_box(ask_peers.optuna_tpe), "optuna"),
    "ax": Method(in_box(ask_peers.ax), "ax-platform"),
    "vizier": Method(vizier, "google-vizier"),
    "cma_es": Method(cma_es, "cma"),
    "random": Method(uniform),
}
