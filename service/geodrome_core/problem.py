"""What the engine is asked and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from geodrome_core.geometry.space import Space
from geodrome_core.gp.fit import Hyperparameters, ModelSpec
from geodrome_core.gp.priors import PRIORS
from geodrome_core.kernels.baselines import Baseline, has_flat_chart
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import ByAutograd


@dataclass(frozen=True)
class Problem:
    """What is optimized, and how.

    Attributes:
        space: The search space.
        nu: Smoothness of the Matérn kernel; ``math.inf`` for SE; None where it is learned from the costs.
        acquisition: Name in ``PROMISES``.
        initial_size: Points of the space-filling design that comes before the model.
        around: (d,) row of a known good start, the first point of the design; None for none.
        spread: How far from ``around`` the rest of the design may lie, relative to each factor's diameter; None for
            anywhere.
        maximize: Whether large costs are good.
        noise: Whether the noise of costs is inferred, or zero but for what observations say.
        ard: Whether vectors of reals and angles have a lengthscale for each coordinate.
        priors: Name in ``PRIORS``.
        inequalities: Functions of rows (*b, d), differentiable twice, that must not be negative: (*b).
        kernel: ``matern``, the space's own kernel, or one to compare with, see ``baseline_for``; with ``auto``, the
            default, the evidence decides between the kernels of ``kernels``.
        caution: Least probability that a suggested point does not fail, as long as there are such points; 0 for none.
    """

    space: Space
    nu: float | None = None
    acquisition: str = "log_ei"
    initial_size: int = 5
    around: Tensor | None = None
    spread: float | None = None
    maximize: bool = False
    noise: Literal["inferred", "zero"] = "inferred"
    ard: bool = False
    priors: str = "default"
    inequalities: Sequence[Callable[[Tensor], Tensor]] = ()
    caution: float = 0.8
    kernel: Literal["auto", "matern"] | Baseline = "auto"

    @property
    def domain(self) -> Domain:
        """Where points may lie."""
        manifold = self.space.manifold
        return Domain(manifold, tuple(ByAutograd(g, manifold) for g in self.inequalities))

    @property
    def kernels(self) -> tuple[Literal["matern"] | Baseline, ...]:
        """The kernels that a model of the costs may have.

        With ``auto`` it is the space's own. Of hyperbolic points and affine-invariant matrices no such kernel makes far
        points alike, so there a flat one may be right, too: where Thompson's draws are not wanted, which are not known
        of it, and where both have as many lengthscales, without which densities of hyperparameters cannot be compared.
        """
        if self.kernel != "auto":
            return (self.kernel,)
        has_chart = any(map(has_flat_chart, self.space.factors.values()))
        has_flat = has_chart and not self.ard and self.acquisition != "thompson"
        return ("matern", "flat_matern") if has_flat else ("matern",)

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """What is fixed about the models of the costs, one for each of the kernels."""
        common = ModelSpec(self.space, self.nu, ard=self.ard, noise=self.noise, priors=PRIORS[self.priors])
        return tuple(replace(common, kernel=kernel) for kernel in self.kernels)


@dataclass(frozen=True)
class History:
    """What is known.

    Attributes:
        X: (n, d) observed points, repeats allowed.
        Y: (n,) their costs, as they were told.
        pending: (p, d) points that are out, without a cost yet.
        failed: (f, d) points that ran and went wrong.
        abandoned: (a, d) points that nobody wants again.
        std: (n,) standard deviations of the costs' noise, NaN where they are not known; None if none is.
    """

    X: Tensor
    Y: Tensor
    pending: Tensor
    failed: Tensor
    abandoned: Tensor
    std: Tensor | None = None

    @classmethod
    def empty(cls, space: Space) -> History:
        """Nothing known yet."""
        none = space.rows([])
        return cls(none, torch.empty(0, dtype=torch.float64), none, none, none)


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
        feasible: Probability that the point does not fail; None while nothing has failed.
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
    feasible: float | None = None
    note: str | None = None
    hyperparameters: Hyperparameters = field(default_factory=dict)


@dataclass(frozen=True)
class Recommendation:
    """The point of the best posterior mean, with the model's prediction in the unit of the cost."""

    point: Any
    mean: float
    std: float


INFERRED = math.nan
"""Of a cost whose noise nobody knows."""
