"""What failed and abandoned points take from the promise of others."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.feasibility import feasibility, log_feasible, margin
from geodrome_core.geometry.space import Space
from geodrome_core.gp.posterior import Posterior
from geodrome_core.problem import History
from geodrome_core.promise import Promise
from geodrome_core.repulsion import Repulsion
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Objective, Sum


@dataclass(frozen=True)
class Limits:
    """The models of failures and of points that nobody wants.

    Attributes:
        space: The search space.
        feasible: Posterior of the model of failures; None while nothing has failed.
        repulsion: From abandoned points; None without any.
    """

    space: Space
    feasible: Posterior | None
    repulsion: Repulsion | None

    @classmethod
    def of(cls, space: Space, history: History) -> Limits:
        """From what is known."""
        feasible = repulsion = None
        if len(history.failed):
            feasible = feasibility(space, history.X, history.failed)
        if len(history.abandoned):
            repulsion = Repulsion.of(space, history.abandoned)
        return cls(space, feasible, repulsion)

    def added_to(self, objective: Objective) -> Objective:
        """Logarithms of chances and of promises add up.

        To promises that are no logarithms, a bound or a sample path, the chance adds a penalty in deviations of the
        costs: of less than a quarter where points fail no more often than one in five.
        """
        terms = [objective]
        if self.feasible is not None:
            terms.append(Promise(self.feasible, log_feasible, self.space.manifold))
        if self.repulsion is not None:
            terms.append(self.repulsion)
        return Sum(terms) if len(terms) > 1 else objective

    def narrowed(self, domain: Domain, least: float) -> Domain:
        """The part where points fail with no more than so much of a chance."""
        if self.feasible is None or least == 0:
            return domain
        return domain.narrowed(Promise(self.feasible, margin(least), self.space.manifold))

    def chances(self, rows: Float[Tensor, "n d"]) -> Float[Tensor, " n"] | None:
        """Probabilities that points do not fail; None while nothing has failed."""
        if self.feasible is None:
            return None
        with torch.no_grad():
            means, std = self.feasible.means_std(rows)
            return torch.exp(log_feasible(means, std, self.feasible.best).value)
