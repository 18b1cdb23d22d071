"""The pure heart: from a problem and its history to the next points. The same arguments give the same points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core import gp
from geodrome_core.acquisition import ACQUISITIONS, Objective
from geodrome_core.geometry.space import CheckedPoint, Space
from geodrome_core.initial import space_filling
from geodrome_core.outcomes import CostScale
from geodrome_core.trust_region import maximize

RAW_SAMPLES = 128
"""Points at which an objective is looked at before the search starts from the best."""

LOCAL_SAMPLES = 32
"""Further ones near the best observation: late in a run, improvement is a small place that random points miss."""

LOCAL_RADIUS = 0.1
"""Spread of the local samples, relative to the domain's diameter."""

STARTS = 8

SAME_POINT = 1e-6
"""Geodesic distance below which two points are one."""


@dataclass(frozen=True)
class Problem:
    """What is optimized, and how.

    Attributes:
        space: The search space.
        nu: Smoothness of the Matérn kernel; ``math.inf`` for SE.
        acquisition: Name in ``ACQUISITIONS``.
        initial_size: Points of the space-filling design that comes before the model.
        around: (d,) row of a known good start, the first point of the design; None for none.
        maximize: Whether large costs are good.
    """

    space: Space
    nu: float = 2.5
    acquisition: str = "log_ei"
    initial_size: int = 5
    around: Tensor | None = None
    maximize: bool = False


@dataclass(frozen=True)
class History:
    """What is known.

    Attributes:
        X: (n, d) observed points, repeats allowed.
        Y: (n,) their costs, as they were told.
        pending: (p, d) points that are out, without a cost yet.
        failed: (f, d) points that ran and gave no cost, or that nobody wants again.
    """

    X: Tensor
    Y: Tensor
    pending: Tensor
    failed: Tensor

    @classmethod
    def empty(cls, space: Space) -> History:
        """Nothing known yet."""
        none = space.rows([])
        return cls(none, torch.empty(0, dtype=torch.float64), none, none)


@dataclass(frozen=True)
class Suggestion:
    """A point to try next, and why.

    Attributes:
        row: (d,) the point.
        point: Its canonical JSON form.
        kind: ``initial`` (design), ``model``, or ``fallback`` (no model could be used; ``note`` says why).
        acquisition: Name of the acquisition function that chose it.
        value: Of the acquisition function there.
        mean, std: The model's prediction, in the unit of the cost.
        note: What a person should know.
        hyperparameters: Of the model, in natural units.
    """

    row: Tensor
    point: Any
    kind: Literal["initial", "model", "fallback"]
    acquisition: str | None = None
    value: float | None = None
    mean: float | None = None
    std: float | None = None
    note: str | None = None
    hyperparameters: gp.Hyperparameters = field(default_factory=dict)


@dataclass(frozen=True)
class Recommendation:
    """The point of the best posterior mean, with the model's prediction in the unit of the cost."""

    point: Any
    mean: float
    std: float


def suggestion_seed(study_seed: int, number: int) -> int:
    """Seed of the suggestion that becomes trial ``number`` of a study, in [0, 2^32)."""
    return int(np.random.SeedSequence([study_seed, number]).generate_state(1)[0])


def suggest(problem: Problem, history: History, count: int = 1, seed: int = 0) -> tuple[Suggestion, ...]:
    """The next ``count`` points, pairwise distinct and distinct from the pending ones.

    Space-filling points until ``initial_size`` points are out or known, and two of them have costs; then maxima of the
    acquisition function. Each point of a batch is chosen as if those before it, and the pending and failed ones, had
    been told what the model predicts for them.

    Args:
        problem: What is optimized.
        history: What is known.
        count: How many points, at least 1.
        seed: Of every random choice.

    Raises:
        KeyError: The acquisition function is unknown.
    """
    acquisition = ACQUISITIONS[problem.acquisition]
    generator = torch.Generator().manual_seed(seed)
    without_cost = torch.cat([history.pending, history.failed])
    known = len(history.X) + len(without_cost)
    out: list[Suggestion] = []
    while len(out) < count and (known + len(out) < problem.initial_size or len(history.Y) < 2):
        taken = torch.cat([history.X, without_cost, *(item.row.unsqueeze(0) for item in out)])
        out.append(_initial(problem, taken, generator))
    if len(out) == count:
        return tuple(out)
    scale = CostScale.of(history.Y, maximize=problem.maximize)
    fit = gp.fit(problem.space, history.X, scale.forward(history.Y), nu=problem.nu)
    posterior = fit.posterior
    believed = without_cost
    while len(out) < count:
        taken = torch.cat([history.X, without_cost, *(item.row.unsqueeze(0) for item in out)])
        if posterior is None:
            out.append(_filling(problem.space, taken, generator, "fallback", fit.status.value))
            continue
        posterior = posterior.believe(believed)
        with torch.no_grad():
            best = float(posterior.mean_std(history.X)[0].min())
        objective = acquisition(posterior, best)
        found = _search(problem.space, objective, _incumbents(posterior, history.X), taken, generator)
        if found is None:
            note = "the model's best points are known already"
            out.append(_filling(problem.space, taken, generator, "fallback", note))
        else:
            out.append(_chosen(problem, found, objective=objective, posterior=posterior, scale=scale, fit=fit))
        believed = out[-1].row.unsqueeze(0)
    return tuple(out)


def recommend(problem: Problem, history: History, seed: int = 0) -> Recommendation | None:
    """The point with the best posterior mean over the whole space; None without a usable model."""
    if len(history.Y) < 2:
        return None
    scale = CostScale.of(history.Y, maximize=problem.maximize)
    fit = gp.fit(problem.space, history.X, scale.forward(history.Y), nu=problem.nu)
    posterior = fit.posterior
    if posterior is None:
        return None
    generator = torch.Generator().manual_seed(seed)
    found = _search(
        problem.space,
        lambda x: -posterior.mean_std(x)[0],
        _incumbents(posterior, history.X),
        problem.space.rows([]),
        generator,
    )
    assert found is not None, "with nothing taken, the best end of the search is free"
    mean, std = _predict(posterior, scale, found.row)
    return Recommendation(found.point, mean, std)


def _initial(problem: Problem, taken: Float[Tensor, "n d"], generator: torch.Generator) -> Suggestion:
    """The next point of the design; the first is the known good start, if there is one."""
    if problem.around is not None and len(taken) == 0:
        return Suggestion(problem.around, problem.space.point(problem.around), "initial", note="the given start")
    return _filling(problem.space, taken, generator, "initial", None)


def _filling(
    space: Space,
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    kind: Literal["initial", "fallback"],
    note: str | None,
) -> Suggestion:
    (place,) = _settled(space, space_filling(space.manifold, 1, taken=taken, generator=generator))
    return Suggestion(place.row, place.point, kind, note=note)


def _search(
    space: Space,
    objective: Objective,
    incumbents: Float[Tensor, "i d"],
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
) -> CheckedPoint | None:
    """Best maximum of the objective that is no taken point; None if all ends are taken."""
    manifold = space.manifold
    with torch.no_grad():
        near = incumbents[torch.arange(LOCAL_SAMPLES) % len(incumbents)]
        coordinates = torch.randn(LOCAL_SAMPLES, manifold.dim, generator=generator, dtype=torch.float64)
        steps = LOCAL_RADIUS * manifold.diameter / manifold.dim**0.5 * coordinates
        # Half of them at a tenth of the spread.
        steps[::2] /= 10
        local = manifold.clamp(manifold.retract(near, manifold.tangent(near, steps)))
        local = local[torch.isfinite(manifold.barrier(local))]
        candidates = torch.cat([manifold.random(RAW_SAMPLES, generator), local])
        values = objective(candidates)
        starts = candidates[values.argsort(descending=True, stable=True)[:STARTS]]
    found = maximize(objective, manifold, starts)
    ends = _settled(space, found.points)
    with torch.no_grad():
        order = objective(torch.stack([end.row for end in ends])).argsort(descending=True, stable=True)
    for index in order.tolist():
        if len(taken) == 0 or float(manifold.distance(ends[index].row, taken).min()) > SAME_POINT:
            return ends[index]
    return None


def _settled(space: Space, rows: Float[Tensor, "b d"]) -> list[CheckedPoint]:
    """The rows as they will be read back: on the manifold, in the domain, and through JSON."""
    inside = space.manifold.clamp(space.manifold.nearest(rows))
    return [space.check(space.point(row)) for row in inside]


def _incumbents(posterior: gp.Posterior, X: Float[Tensor, "n d"]) -> Float[Tensor, "i d"]:
    """The observed points of the best posterior means."""
    with torch.no_grad():
        mean, _ = posterior.mean_std(X)
    return X[mean.argsort(stable=True)[:4]]


def _chosen(
    problem: Problem,
    place: CheckedPoint,
    *,
    objective: Objective,
    posterior: gp.Posterior,
    scale: CostScale,
    fit: gp.Fit,
) -> Suggestion:
    mean, std = _predict(posterior, scale, place.row)
    with torch.no_grad():
        value = float(objective(place.row.unsqueeze(0)))
    note = None if fit.status is gp.FitStatus.CONVERGED else fit.status.value
    return Suggestion(place.row, place.point, "model", problem.acquisition, value, mean, std, note, fit.hyperparameters)


def _predict(posterior: gp.Posterior, scale: CostScale, row: Float[Tensor, " d"]) -> tuple[float, float]:
    """Mean and standard deviation in the unit of the cost."""
    with torch.no_grad():
        mean, std = posterior.mean_std(row.unsqueeze(0))
    return float(scale.backward(mean)), float(scale.backward_std(mean, std))
