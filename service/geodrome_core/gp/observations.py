"""What was observed, with replicates pooled: repeats of one point are one row, and no likelihood changes by it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Observations:
    """Points, each of them once, and what is known of their costs.

    The noise variance of row i is ``known[i] + share[i] * v`` with the inferred noise variance v of one observation.

    Attributes:
        X: Points.
        Y: Standardized costs, means of replicates.
        known: Noise variances that are known; 0 where noise is inferred.
        share: One over the number of replicates; 0 where noise is known.
        spare: Replicates beyond the first of each point, where noise is inferred.
        scatter: Sum of their squared deviations from their means.
        constant: What the pooled rows' log likelihood lacks besides: terms without hyperparameters.
    """

    X: Float[Tensor, "n d"]
    Y: Float[Tensor, " n"]
    known: Float[Tensor, " n"]
    share: Float[Tensor, " n"]
    spare: int
    scatter: float
    constant: float

    @classmethod
    def of(
        cls, X: Float[Tensor, "n d"], Y: Float[Tensor, " n"], variances: Float[Tensor, " n"] | None = None
    ) -> Observations:
        """Pools the rows of equal points; those of known and of inferred noise separately.

        Args:
            X: Points, repeats allowed.
            Y: Standardized costs.
            variances: Noise variances on that scale, NaN where they are inferred; None for all inferred.

        Source:
            Binois, Gramacy, Ludkovski 2018, "Practical heteroscedastic Gaussian process modeling" (Woodbury identity).
        """
        if variances is None:
            variances = torch.full_like(Y, math.nan)
        groups: dict[tuple[bytes, bool], list[int]] = {}
        # + 0.0 makes zeros of both signs one.
        for index, (row, variance) in enumerate(zip((X + 0.0).numpy(), variances.tolist(), strict=True)):
            groups.setdefault((row.tobytes(), math.isnan(variance)), []).append(index)
        if len(groups) == len(Y):
            unknown = torch.isnan(variances)
            return cls(X, Y, torch.where(unknown, 0.0, variances), unknown.to(Y.dtype), 0, 0.0, 0.0)
        costs, known, share = [], [], []
        spare, scatter, constant = 0, 0.0, 0.0
        for (_, is_inferred), members in groups.items():
            y, v, count = Y[members], variances[members], len(members)
            precision = torch.ones_like(y) if is_inferred else 1 / v
            mean = float((precision * y).sum() / precision.sum())
            deviation = float((precision * (y - mean) ** 2).sum())
            costs.append(mean)
            known.append(0.0 if is_inferred else 1 / float(precision.sum()))
            share.append(1.0 / count if is_inferred else 0.0)
            constant -= 0.5 * (count - 1) * math.log(2 * math.pi)
            if is_inferred:
                spare += count - 1
                scatter += deviation
                constant -= 0.5 * math.log(count)
            else:
                constant -= 0.5 * (float(torch.log(v).sum()) + math.log(float(precision.sum())) + deviation)
        first = [members[0] for members in groups.values()]
        pooled = torch.tensor([costs, known, share], dtype=Y.dtype)
        return cls(X[first], pooled[0], pooled[1], pooled[2], spare, scatter, constant)

    def noise(self, inferred: float) -> Float[Tensor, " n"]:
        """Noise variances of the rows, given the inferred one of a single observation."""
        return self.known + inferred * self.share

    def only(self, rows: Tensor) -> Observations:
        """Some of the rows; the scatter of replicates is kept, since it is known."""
        return Observations(
            self.X[rows], self.Y[rows], self.known[rows], self.share[rows], self.spare, self.scatter, self.constant
        )
