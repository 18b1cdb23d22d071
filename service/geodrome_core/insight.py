"""What a model says besides the next point: predictions, how far they can be trusted, and why a point was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.lengths import Length, in_natural_units
from geodrome_core.gp.fit import FitStatus
from geodrome_core.gp.posterior import Posterior
from geodrome_core.kernels.parts import cross
from geodrome_core.model import Model
from geodrome_core.problem import History, Problem

NEAREST = 5
"""Observations that a reason names."""


@dataclass(frozen=True)
class Prediction:
    """What a run at a point would cost.

    Attributes:
        mean, std: Of the noise-free cost, in its unit.
        feasible: Probability that the run does not fail; None while nothing has failed.
    """

    mean: float
    std: float
    feasible: float | None


def predict(
    problem: Problem, history: History, rows: Float[Tensor, "n d"], *, start: Mapping[str, Any] | None = None
) -> tuple[Prediction, ...] | None:
    """Predictions at points; None without a usable model.

    Args:
        problem: What is optimized.
        history: What is known.
        rows: The points.
        start: Hyperparameters at which the fit begins.
    """
    model = Model.usable(problem, history, start)
    return None if model is None else _predictions(model, rows)


@dataclass(frozen=True)
class Calibration:
    """How well each observation is predicted by all others, on the standardized scale of the costs.

    Attributes:
        observed: Standardized costs, means of replicates.
        mean, std: Predicted for the observation, its noise included, without it.
        z: Errors in units of these deviations: standard normal, if the model is right.
        within_one, within_two: Shares of |z| up to 1 and 2; 0.68 and 0.95, if the model is right.
        error: Root of the mean squared error; that of predicting the mean of the costs is about 1.
    """

    observed: Float[Tensor, " n"]
    mean: Float[Tensor, " n"]
    std: Float[Tensor, " n"]
    z: Float[Tensor, " n"]
    within_one: float
    within_two: float
    error: float


def leave_one_out(posterior: Posterior) -> Calibration:
    """Predictions of each observation from all others, with the hyperparameters of all.

    Source:
        Rasmussen and Williams 2006, "Gaussian processes for machine learning", 5.4.2.
    """
    precision = (posterior.root**2).sum(0)  # diagonal of the inverse covariance
    observed, weights = posterior.Y[:, 0], posterior.weights[:, 0]
    mean, std = observed - weights / precision, 1 / precision.sqrt()
    z = (observed - mean) / std
    within = [float((z.abs() <= bound).double().mean()) for bound in (1, 2)]
    return Calibration(observed, mean, std, z, within[0], within[1], float((observed - mean).square().mean().sqrt()))


@dataclass(frozen=True)
class Report:
    """A model in natural units.

    Attributes:
        status: How its fit ended.
        observations: Costs that it knows.
        points: Points that it is made of: repeats are one, and of very many the most informative are taken.
        kernel: Type of its kernel.
        nu: Smoothness; infinite for SE.
        lengthscales: Of each factor, as geodesic distances.
        noise_std, prior_std, mean: Standard deviations of noise and prior, and the prior mean, in the unit of the cost.
            Where bad costs are compressed, deviations are those near the median.
        calibration: By leaving each observation out.
    """

    status: FitStatus
    observations: int
    points: int
    kernel: str
    nu: float
    lengthscales: dict[str, Length]
    noise_std: float
    prior_std: float
    mean: float
    calibration: Calibration


def report(problem: Problem, history: History, *, start: Mapping[str, Any] | None = None) -> Report | None:
    """What a person wants to know of the model; None without a usable one."""
    model = Model.usable(problem, history, start)
    if model is None:
        return None
    found, posterior, scale = model.fitted.hyperparameters, model.posterior, model.scale
    has_units = found["kernel"] in {"matern", "flat_matern", "geodesic_se"}
    return Report(
        status=model.fitted.status,
        observations=len(history.Y),
        points=len(posterior.Y),
        kernel=found["kernel"],
        nu=found["nu"],
        lengthscales={
            # Some kernels measure no distances of the space: theirs have no unit.
            name: in_natural_units(problem.space, name, length) if has_units else Length(length, None)
            for name, length in found["lengthscales"].items()
        },
        noise_std=scale.unit * math.sqrt(found["noise"]),
        prior_std=scale.unit * math.sqrt(found["outputscale"]),
        mean=float(scale.backward(torch.tensor(found["mean"], dtype=torch.float64))),
        calibration=leave_one_out(posterior),
    )


@dataclass(frozen=True)
class Neighbour:
    """An observation that tells about a point.

    Attributes:
        index: Its place in the history.
        distance: Geodesic distance from the point.
        correlation: Of the costs at both, by the kernel.
        cost: As it was told.
    """

    index: int
    distance: float
    correlation: float
    cost: float


@dataclass(frozen=True)
class Reason:
    """Why a point is worth a run.

    Attributes:
        prediction: At the point.
        best: Least predicted cost at an observed point (largest, where large is good).
        improvement: Chance that the noise-free cost there is better than that.
        neighbours: The observations that tell most about it.
    """

    prediction: Prediction
    best: float
    improvement: float
    neighbours: tuple[Neighbour, ...]


def why(
    problem: Problem, history: History, row: Float[Tensor, " d"], *, start: Mapping[str, Any] | None = None
) -> Reason | None:
    """What speaks for a point; None without a usable model."""
    model = Model.usable(problem, history, start)
    if model is None:
        return None
    posterior, manifold = model.posterior, problem.space.manifold
    x = row.unsqueeze(0)
    with torch.no_grad():
        mean, std = posterior.mean_std(x)
        correlation = cross(posterior.kernel, x, history.X).squeeze(0)
    nearest = correlation.argsort(descending=True, stable=True)[:NEAREST]
    distances = manifold.distance(row, history.X[nearest])
    neighbours = [
        Neighbour(int(index), float(distance), float(correlation[index]), float(history.Y[index]))
        for index, distance in zip(nearest, distances, strict=True)
    ]
    improvement = float(torch.special.ndtr((posterior.best - mean) / std))
    return Reason(
        _predictions(model, x)[0], float(model.scale.backward(posterior.best)), improvement, tuple(neighbours)
    )


def _predictions(model: Model, rows: Float[Tensor, "n d"]) -> tuple[Prediction, ...]:
    mean, std = model.predict(rows)
    chances = model.limits.chances(rows)
    feasible = [None] * len(rows) if chances is None else chances.tolist()
    return tuple(Prediction(m, s, f) for m, s, f in zip(mean.tolist(), std.tolist(), feasible, strict=True))
