"""What is known, as a model: of the costs, on their own scale, and of failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.gp.fit import Fit, fit
from geodrome_core.gp.posterior import Posterior
from geodrome_core.limits import Limits
from geodrome_core.outcomes import CostScale
from geodrome_core.problem import History, Problem


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
    def of(cls, problem: Problem, history: History, start: Mapping[str, Any] | None = None) -> Model:
        """Fits a model to two observations at least; the fit begins at the hyperparameters ``start``."""
        scale = CostScale.of(history.Y, maximize=problem.maximize)
        variances = None if history.std is None else scale.forward_std(history.Y, history.std) ** 2
        fitted = fit(problem.model, history.X, scale.forward(history.Y), variances=variances, start=start)
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
