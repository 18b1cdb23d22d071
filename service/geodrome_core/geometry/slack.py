"""What is left to the borders of a domain: matrices that are positive definite inside, to second order in coordinates.

A bound on a number has the slack x - low, a 1 x 1 matrix; a bound on all eigenvalues of X has the slack X - low I.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True)
class Slack:
    """Slacks at some points, in the coordinates of the manifold's basis there.

    Attributes:
        value: ``q`` symmetric matrices of ``k`` rows.
        slope: Their derivatives.
        bend: From coefficients (b, q, k, k), the Hessians (b, m, m) of the sum of the inner products with the slacks.
    """

    value: Float[Tensor, "b q k k"]
    slope: Float[Tensor, "b m q k k"]
    bend: Callable[[Tensor], Tensor]


def of_number(value: Float[Tensor, " b"], gradient: Float[Tensor, "b m"], hessian: Float[Tensor, "b m m"]) -> Slack:
    """What is left of a number, as a matrix of one row."""
    return Slack(value[:, None, None, None], gradient[..., None, None, None], lambda c: c.squeeze(-1) * hessian)


def barrier(slacks: Sequence[Tensor], shape: Sequence[int]) -> Tensor:
    """Sum (*b) of the log determinants of slacks (*b q k k), of which there may be none, at points of a batch shape."""
    return sum((log_determinant(slack) for slack in slacks), start=torch.zeros(tuple(shape), dtype=torch.float64))


def log_determinant(slack: Float[Tensor, "*b q k k"]) -> Float[Tensor, "*b"]:
    """Sum of the log determinants; minus infinity, and no gradient, where a matrix is not positive definite."""
    fails = are_indefinite(slack)
    # A failed factor has infinite derivatives, which times zero would be NaN: it must never be made.
    safe = torch.where(fails[..., None, None, None], torch.eye(slack.shape[-1], dtype=slack.dtype), slack)
    if slack.shape[-1] == 1:
        logs = torch.log(safe).sum((-1, -2, -3))
    else:
        logs = 2 * torch.diagonal(torch.linalg.cholesky(safe), dim1=-2, dim2=-1).log().sum((-1, -2))
    return torch.where(fails, -torch.inf, logs)


def are_indefinite(slack: Float[Tensor, "*b q k k"]) -> Bool[Tensor, "*b"]:
    """Whether one of the matrices is not positive definite: the point is not strictly inside."""
    if slack.shape[-1] == 1:
        return (~(slack.detach() > 0)).any(-1).squeeze(-1).any(-1)
    return (torch.linalg.cholesky_ex(slack.detach()).info != 0).any(-1)
