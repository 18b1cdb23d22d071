"""The pure heart: from a problem and its history to the next points. The same arguments give the same points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from geodrome_core.geometry.space import CheckedPoint, Space
from geodrome_core.gp.fit import Fit, FitStatus
from geodrome_core.gp.posterior import Posterior
from geodrome_core.initial import Neighbourhood, space_filling
from geodrome_core.limits import Limits
from geodrome_core.model import Model
from geodrome_core.problem import History, Problem, Recommendation, Suggestion
from geodrome_core.promise import LowMean
from geodrome_core.promises import PROMISES, SEARCHED_AS
from geodrome_core.search import integers, pymanopt_solver
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Objective
from geodrome_core.search.starts import candidates, starts
from geodrome_core.search.trust_region import Search

SAME_POINT = 1e-6
"""Geodesic distance below which two points are one; in domains smaller than 1, relative to their diameter."""

NOTHING_NEW = "every point is known already; of all, this one promises most"

NOT_SEARCHED = "the search lost its digits; this is the most promising of the points that were looked at"

RETREATS = (1e-6, 1e-4, 1e-2, 1.0)
"""Parts of the way back to its start that an end goes which rounding has put beyond an inequality."""

FANTASIES = 16
"""Ways in which pending points may turn out, that improvement is averaged over."""

INCUMBENTS = 3
"""Observed points of least mean, about which a search looks more closely."""

Solver = Callable[..., Search]

SOLVERS: dict[str, Solver] = {"trust_region": integers.maximize, "pymanopt": pymanopt_solver.maximize}
"""Ours, and pymanopt's trust regions to verify it: one start after another, and no optima on borders."""


def suggestion_seed(study_seed: int, number: int) -> int:
    """Seed of the suggestion that becomes trial ``number`` of a study, in [0, 2^32)."""
    return int(np.random.SeedSequence([study_seed, number]).generate_state(1)[0])


def suggest(
    problem: Problem,
    history: History,
    count: int = 1,
    seed: int = 0,
    *,
    start: Mapping[str, Any] | None = None,
    solver: Literal["trust_region", "pymanopt"] = "trust_region",
) -> tuple[Suggestion, ...]:
    """The next ``count`` points, pairwise distinct and distinct from all known ones as long as there are others.

    Space-filling points until ``initial_size`` points are out or known, and two of them have costs; then maxima of the
    acquisition function. Each point of a batch is chosen with those before it, and the pending ones, still out: their
    costs may turn out in several ways, which the model draws jointly.

    Args:
        problem: What is optimized.
        history: What is known.
        count: How many points, at least 1.
        seed: Of every random choice.
        start: Hyperparameters of an earlier suggestion, from which the fit begins.
        solver: Of the search for maxima.

    Raises:
        KeyError: The acquisition function is unknown.
    """
    promised = PROMISES[problem.acquisition]
    generator = torch.Generator().manual_seed(seed)
    out: list[Suggestion] = []
    # A point that was measured twice is one point of the design.
    known = len(_taken(history, out).unique(dim=0))
    while len(out) < count and (known + len(out) < problem.initial_size or len(history.Y) < 2):
        out.append(_initial(problem, _taken(history, out), generator))
    if len(out) == count:
        return tuple(out)
    # Every other model looks closely: the best point is refined, and others are looked for all the while.
    model = Model.of(problem, history, start, closely=len(history.Y) % 2 == 1)
    fitted = model.fitted
    search = _Searcher(problem, generator, SOLVERS[solver], model.limits)
    while len(out) < count:
        taken = _taken(history, out)
        pending = torch.cat([history.pending, *_rows(out)])
        posterior = _with_pending(_with_failed(fitted, history.failed), pending, generator)
        if posterior is None:
            # Also where the fit went well: no other points could be added to its matrix.
            out.append(_filling(problem, taken, generator, "fallback", FitStatus.NOT_POSITIVE_DEFINITE.value))
            continue
        promise = promised(problem.space, posterior, generator)
        other = SEARCHED_AS.get(problem.acquisition)
        sought = PROMISES[other](problem.space, posterior, generator) if other else promise
        place = search(sought, posterior, taken)
        row = place.row.unsqueeze(0)
        mean, std = model.predict(row)
        chances = model.limits.chances(row)
        with torch.no_grad():
            value = float(promise(row))
        out.append(
            Suggestion(
                place.row,
                place.point,
                "model",
                acquisition=problem.acquisition,
                value=value,
                mean=float(mean),
                std=float(std),
                feasible=None if chances is None else float(chances),
                note=_note(fitted, search, is_known=not len(_new(problem.domain, row, taken))),
                hyperparameters=fitted.hyperparameters,
            )
        )
    return tuple(out)


def recommend(
    problem: Problem, history: History, seed: int = 0, *, start: Mapping[str, Any] | None = None
) -> Recommendation | None:
    """The point with the best posterior mean over the whole domain; None without a usable model."""
    model = Model.usable(problem, history, start)
    if model is None:
        return None
    found = recommended(problem, model, seed)
    mean, std = model.predict(found.row.unsqueeze(0))
    return Recommendation(found.point, float(mean), float(std))


def recommended(problem: Problem, model: Model, seed: int = 0) -> CheckedPoint:
    """The point of the best mean of a usable model, over the whole domain."""
    posterior = model.posterior
    search = _Searcher(problem, torch.Generator().manual_seed(seed), integers.maximize, model.limits)
    return search(LowMean(posterior, problem.space.manifold), posterior, problem.space.rows([]))


@dataclass
class _Searcher:
    """Finds maxima for one call; the ends of each search are starts of the next."""

    problem: Problem
    generator: torch.Generator
    solver: Solver
    limits: Limits
    ends: Tensor | None = None
    has_failed: bool = False

    def __call__(self, objective: Objective, posterior: Posterior, taken: Float[Tensor, "n d"]) -> CheckedPoint:
        """Best maximum of the objective that is no taken point, or else the best such point of those looked at.

        Where every point is taken, of a few whole numbers, the best one once more.
        """
        space, domain = self.problem.space, self.problem.domain
        narrowed = self.limits.narrowed(domain, self.problem.caution)
        objective = self.limits.added_to(objective)
        best = posterior.at_observed.mean(-1).argsort(stable=True)[:INCUMBENTS]
        incumbents = posterior.X[best] if self.ends is None else torch.cat([posterior.X[best], self.ends])
        chosen, searched = starts(objective, domain, incumbents, self.generator, narrowed=narrowed)
        try:
            self.ends, self.has_failed = self.solver(objective, searched, chosen).points, False
        except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # documented, not listed
            # Points that are promising stay so, whatever becomes of the linear algebra on the way up from them.
            self.ends, self.has_failed = chosen, True
        ends = _settled_inside(space, domain, self.ends, chosen)
        best_end = _best_new(ends, objective, domain, taken)
        if best_end is not None:
            return best_end
        others = candidates(domain, incumbents, self.generator)
        others = others[~searched.is_outside(others)]
        next_best = _best_new(_settled(space, others), objective, domain, taken) if len(others) else None
        return next_best or _best_new(ends, objective, domain, space.rows([])) or ends[0]


def _best_new(
    places: list[CheckedPoint], objective: Objective, domain: Domain, taken: Float[Tensor, "n d"]
) -> CheckedPoint | None:
    """The place of largest value, within all inequalities, that is no taken point."""
    rows = torch.stack([place.row for place in places])
    new = _new(domain, rows, taken)
    with torch.no_grad():
        new = new[domain.contains(rows[new])]
    if len(new) == 0:
        return None
    with torch.no_grad():
        values = objective(rows[new]).nan_to_num(nan=-torch.inf)
    return places[int(new[values.argmax()])]


def _new(domain: Domain, rows: Float[Tensor, "n d"], taken: Float[Tensor, "t d"]) -> Int[Tensor, " k"]:
    """Which of the points are no taken ones."""
    if len(taken) == 0:
        return torch.arange(len(rows))
    gaps = domain.manifold.distance(rows.unsqueeze(1), taken).amin(-1)
    return torch.nonzero(gaps > SAME_POINT * min(1.0, domain.manifold.diameter)).flatten()


def _note(fitted: Fit, search: _Searcher, *, is_known: bool) -> str | None:
    """What a person should know of a suggestion."""
    notes = [] if fitted.status is FitStatus.CONVERGED else [fitted.status.value]
    return "; ".join(notes + [NOT_SEARCHED] * search.has_failed + [NOTHING_NEW] * is_known) or None


def _rows(out: list[Suggestion]) -> list[Tensor]:
    return [item.row.unsqueeze(0) for item in out]


def _taken(history: History, out: list[Suggestion]) -> Float[Tensor, "n d"]:
    """Points that need not be asked for again."""
    return torch.cat([history.X, history.pending, history.failed, history.abandoned, *_rows(out)])


def _with_failed(fitted: Fit, failed: Float[Tensor, "f d"]) -> Posterior | None:
    """The posterior in which failed points have costs no better than the best: there is nothing to gain near them.

    A place that looks good to the model of the costs, and fails, would look good for ever: it is never told a cost.
    """
    posterior = fitted.posterior
    if posterior is None or len(failed) == 0:
        return posterior
    mean, _ = posterior.joint(failed)
    return posterior.given(failed, torch.maximum(mean, posterior.best).unsqueeze(-1), fitted.hyperparameters["noise"])


def _with_pending(
    posterior: Posterior | None, pending: Float[Tensor, "p d"], generator: torch.Generator
) -> Posterior | None:
    """The posterior in which pending points have costs, drawn jointly, in several ways."""
    if posterior is None or len(pending) == 0:
        return posterior
    mean, covariance = posterior.joint(pending)
    values, vectors = torch.linalg.eigh(covariance)
    draws = torch.randn(len(pending), FANTASIES, generator=generator, dtype=torch.float64)
    costs = mean.unsqueeze(-1) + vectors @ (values.clamp_min(0).sqrt().unsqueeze(-1) * draws)
    return posterior.given(pending, costs, float(posterior.noise.min()))


def _initial(problem: Problem, taken: Float[Tensor, "n d"], generator: torch.Generator) -> Suggestion:
    """The next point of the design; the first is the known good start, if there is one."""
    if problem.around is not None and len(taken) == 0:
        return Suggestion(problem.around, problem.space.point(problem.around), "initial", note="the given start")
    return _filling(problem, taken, generator, "initial", None)


def _filling(
    problem: Problem,
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    kind: Literal["initial", "fallback"],
    note: str | None,
) -> Suggestion:
    near = None
    if kind == "initial" and problem.around is not None and problem.spread is not None:
        near = Neighbourhood(problem.around, problem.spread)
    (place,) = _settled(problem.space, space_filling(problem.domain, 1, taken=taken, generator=generator, near=near))
    return Suggestion(place.row, place.point, kind, note=note)


def _settled(space: Space, rows: Float[Tensor, "b d"]) -> list[CheckedPoint]:
    """The rows as they will be read back: on the manifold, in the domain, and through JSON."""
    clamped = space.manifold.clamp(space.manifold.nearest(rows))
    return [space.check(space.point(row)) for row in clamped]


def _settled_inside(
    space: Space, domain: Domain, ends: Float[Tensor, "b d"], starts: Float[Tensor, "b d"]
) -> list[CheckedPoint]:
    """The ends, settled; those that settling puts beyond an inequality go back towards their starts."""
    manifold = domain.manifold
    places = _settled(space, ends)
    with torch.no_grad():
        for share in RETREATS:
            beyond = torch.nonzero(~domain.contains(torch.stack([place.row for place in places]))).flatten()
            if len(beyond) == 0:
                break
            back = manifold.exp(ends[beyond], share * manifold.log(ends[beyond], starts[beyond]))
            for index, place in zip(beyond.tolist(), _settled(space, back), strict=True):
                places[index] = place
    return places
