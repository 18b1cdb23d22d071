"""What workers do: each task is a function of a question that gives plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import torch
from geodrome_core import Field, History, Problem, Slice, predict, recommend, report, space_from_spec, suggest
from geodrome_core import views as views_of_model

from geodrome_service.compute.questions import Question, Suggestion


def suggestions(question: Question, count: int, seed: int) -> list[Suggestion]:
    """The next ``count`` points."""
    problem, history = _posed(question)
    return [
        Suggestion(
            point=found.point,
            kind=found.kind,
            acquisition=found.acquisition,
            value=_finite(found.value),
            mean=_finite(found.mean),
            std=_finite(found.std),
            note=found.note,
            hyperparameters=_sayable(found.hyperparameters),
        )
        for found in suggest(problem, history, count=count, seed=seed, start=question.start)
    ]


def recommendation(question: Question) -> dict[str, Any] | None:
    """The point with the best posterior mean."""
    problem, history = _posed(question)
    best = recommend(problem, history, start=question.start)
    if best is None or not (math.isfinite(best.mean) and math.isfinite(best.std)):
        return None
    return {"point": best.point, "mean": best.mean, "std": best.std}


def predictions(question: Question, points: list[Any]) -> list[dict[str, Any]] | None:
    """What runs at points would cost."""
    problem, history = _posed(question)
    found = predict(problem, history, problem.space.rows(points), start=question.start)
    if found is None or not all(math.isfinite(one.mean) and math.isfinite(one.std) for one in found):
        return None
    return [asdict(one) for one in found]


def model(question: Question) -> dict[str, Any] | None:
    """The model in natural units."""
    problem, history = _posed(question)
    found = report(problem, history, start=question.start)
    if found is None:
        return None
    numbers = {name: getattr(found, name) for name in ("noise_std", "prior_std", "mean")}
    calibration = {name: getattr(found.calibration, name) for name in ("within_one", "within_two", "error")}
    if not all(map(math.isfinite, [*numbers.values(), *calibration.values()])):
        return None
    return {
        "status": found.status.name.lower(),
        "note": found.status.value,
        "observations": found.observations,
        "points": found.points,
        "kernel": found.kernel,
        **_sayable({"nu": found.nu}),
        "lengthscales": [{"factor": name, **asdict(length)} for name, length in found.lengthscales.items()],
        **numbers,
        "calibration": calibration,
    }


def views(question: Question) -> dict[str, Any] | None:
    """The model along geodesics and over grids about the recommended point."""
    problem, history = _posed(question)
    found = views_of_model(problem, history, start=question.start)
    if found is None or not all(map(math.isfinite, _numbers(found.slices + found.fields))):
        return None
    # A space that is no product has no names of factors.
    return {
        "at": found.at,
        "slices": [asdict(one) | {"factor": one.factor or None} for one in found.slices],
        "fields": [asdict(one) | {"factor": one.factor or None} for one in found.fields],
    }


def _numbers(seen: Iterable[Slice | Field]) -> Iterator[float]:
    """All means and deviations."""
    for one in seen:
        for row in [*one.mean, *one.std]:
            yield from (value for value in (row if isinstance(row, list) else [row]) if value is not None)


def _posed(question: Question) -> tuple[Problem, History]:
    torch.set_num_threads(1)  # the thread that runs tasks is not the one that imported torch
    space = space_from_spec(question.space).constrained(question.constraints)
    problem = Problem(
        space,
        nu={"inf": math.inf, "learn": None}[question.nu] if isinstance(question.nu, str) else question.nu,
        kernel=question.kernel,
        acquisition=question.acquisition,
        initial_size=question.initial_size,
        around=None if question.around is None else space.check(question.around).row,
        spread=question.spread,
        maximize=question.maximize,
    )
    history = History(
        X=space.rows(question.observed),
        Y=torch.tensor(question.costs, dtype=torch.float64),
        pending=space.rows(question.pending),
        failed=space.rows(question.failed),
        abandoned=space.rows(question.abandoned),
        std=torch.tensor([math.nan if std is None else std for std in question.stds], dtype=torch.float64),
    )
    return problem, history


def _sayable(hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """The hyperparameters with an infinite smoothness as "inf", as kernels are defined: JSON has no such number."""
    return hyperparameters | {"nu": "inf"} if hyperparameters.get("nu") == math.inf else hyperparameters


def _finite(value: float | None) -> float | None:
    """The number, or None where JSON has none."""
    return value if value is not None and math.isfinite(value) else None
