"""What is known, as a model: of the costs, on their own scale, and of failures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.crowding import declustered
from geodrome_core.gp.fit import FEW, Fit, ModelSpec, fit
from geodrome_core.gp.posterior import Posterior
from geodrome_core.limits import Limits
from geodrome_core.outcomes import CostScale, candidates
from geodrome_core.problem import History, Problem

CLOSE = 10.0
"""How much finer the scale of all costs must be than that of the domain, to be one of its own."""

FLAT_ODDS = math.exp(3.0)
"""How much likelier than the space's own kernel the flat one is, before any costs: a few cannot tell, and with a model
that sees no further than its neighbours the search would stay about the best of the first points."""


@dataclass(frozen=True)
class Model:
    """A fitted model of one history.

    Attributes:
        scale: Between costs as they were told and the standardized ones.
        fitted: The Gaussian process of the costs.
        limits: What failed and abandoned points take away.
    """

    scale: CostScale
    fitted: Fit
    limits: Limits

    @classmethod
    def of(
        cls, problem: Problem, history: History, start: Mapping[str, Any] | None = None, *, closely: bool = False
    ) -> Model:
        """Fits a model to two observations at least.

        The scale of the costs is that of the whole domain: crowds count as one. Where costs have a long tail of bad
        ones, it may be logarithmic; the evidence decides.

        Args:
            problem: What is optimized.
            history: What is known.
            start: Hyperparameters at which the fit begins.
            closely: Whether the costs of the crowd near the best point may set the scale, if they differ much less
                than others. Such a model sees the least differences there, and little else.
        """
        scales = candidates(history.Y, declustered(problem.space.manifold, history.X), maximize=problem.maximize)
        if closely:
            close = CostScale.of(history.Y, maximize=problem.maximize)
            scales = [close] if CLOSE * close.unit < scales[0].unit else scales
        scale, fitted = _likeliest(scales, problem, history, start)
        return cls(scale, fitted, Limits.of(problem.space, history))

    @classmethod
    def usable(cls, problem: Problem, history: History, start: Mapping[str, Any] | None = None) -> Model | None:
        """As ``of``; None before there are two observations, and where no model fits them."""
        if len(history.Y) < 2:
            return None
        model = cls.of(problem, history, start)
        return None if model.fitted.posterior is None else model

    @property
    def posterior(self) -> Posterior:
        """What the Gaussian process says.

        Raises:
            ValueError: There is no usable model.
        """
        if self.fitted.posterior is None:
            raise ValueError(self.fitted.status.value)
        return self.fitted.posterior

    def predict(self, rows: Float[Tensor, "n d"]) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
        """Means and standard deviations of the noise-free cost, in its unit.

        Raises:
            ValueError: There is no usable model.
        """
        with torch.no_grad():
            mean, std = self.posterior.mean_std(rows)
        return self.scale.backward(mean), self.scale.backward_std(mean, std)


def _likeliest(
    scales: list[CostScale], problem: Problem, history: History, start: Mapping[str, Any] | None
) -> tuple[CostScale, Fit]:
    """The scale on which costs, as they were told, are the likeliest, with the likeliest kernel, and that fit.

    How likely a kernel is before there are costs counts, too: ``FLAT_ODDS``. Of more than ``FEW`` observations, some
    decide.
    """

    def fitted(scale: CostScale, spec: ModelSpec, rows: slice) -> Fit:
        Y, std = history.Y[rows], history.std
        variances = None if std is None else scale.forward_std(Y, std[rows]) ** 2
        # It may be of the other kernel: lengthscales of both are measured alike.
        return fit(spec, history.X[rows], scale.forward(Y), variances=variances, start=start)

    pairs = list(itertools.product(scales, problem.models))
    if len(pairs) == 1:
        return pairs[0][0], fitted(*pairs[0], slice(None))
    count = len(history.Y)
    some = slice(None, None, -(-count // FEW))
    told = history.Y[some]
    fits = [fitted(scale, spec, some) for scale, spec in pairs]
    gains = [
        float(scale.log_slope(told).mean()) + _log_odds(spec) / len(told) - one.loss
        for (scale, spec), one in zip(pairs, fits, strict=True)
    ]
    best = max(range(len(pairs)), key=gains.__getitem__)
    return pairs[best][0], fits[best] if count <= FEW else fitted(*pairs[best], slice(None))


def _log_odds(spec: ModelSpec) -> float:
    """Of a kernel beside the space's own, before any costs."""
    return math.log(FLAT_ODDS) if spec.kernel == "flat_matern" else 0.0
