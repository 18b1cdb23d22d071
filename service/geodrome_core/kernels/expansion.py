"""Kernels to second order in tangent coordinates: k(R_x(xi), y_j) for points x and fixed points y_j.

A search needs the gradient of every covariance, but Hessians only of sums  sum_j c_j k(., y_j):  of n Hessians that are
added up at once, and never kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

Bend = Callable[[Tensor], Tensor]
"""From coefficients c (b, n) to the Hessians (b, m, m) of sum_j c_j f_j at each point."""


@dataclass(frozen=True)
class Expansion:
    """Functions f_j of a point, to second order in the coordinates of the manifold's basis there.

    Attributes:
        value: The f_j at each point.
        slope: Their gradients.
        bend: Gives the Hessians of sums of them.
    """

    value: Float[Tensor, "b n"]
    slope: Float[Tensor, "b m n"]
    bend: Bend


def composed(
    value: Float[Tensor, "b n"],
    first: Sequence[Float[Tensor, "b n"]],
    second: Sequence[Sequence[Float[Tensor, "b n"]]],
    variables: Sequence[Expansion],
) -> Expansion:
    """The expansion of g(v_1, v_2, …), by the chain rule.

    Args:
        value: g.
        first: Its derivatives in the variables.
        second: The symmetric matrix of second ones.
        variables: Expansions of the v_i.
    """
    slope = sum_of(by.unsqueeze(-2) * v.slope for by, v in zip(first, variables, strict=True))

    def bend(c: Tensor) -> Tensor:
        terms = [v.bend(c * by) for by, v in zip(first, variables, strict=True)]
        # The second derivatives times one of the slopes, summed; the other slope follows as a product of matrices.
        for v, row in zip(variables, second, strict=True):
            right = sum_of((c * by).unsqueeze(-2) * w.slope for by, w in zip(row, variables, strict=True))
            terms.append(v.slope @ right.mT)
        return sum_of(terms)

    return Expansion(value, slope, bend)


def product(parts: Sequence[Expansion]) -> Expansion:
    """The product of functions of different factors of a product manifold, in the order of their coordinates."""
    if len(parts) == 1:
        return parts[0]
    ones = torch.ones_like(parts[0].value)
    others = [prod((p.value for p in parts if p is not part), start=ones) for part in parts]
    slope = torch.cat([p.slope * other.unsqueeze(-2) for p, other in zip(parts, others, strict=True)], -2)

    def bend(c: Tensor) -> Tensor:
        blocks = [[p.bend(c * other)] for p, other in zip(parts, others, strict=True)]
        for i, one in enumerate(parts):
            for j, two in enumerate(parts[:i]):
                rest = prod((p.value for p in parts if p is not one and p is not two), start=c)
                blocks[i].insert(j, one.slope @ (two.slope * rest.unsqueeze(-2)).mT)
        return torch.cat(
            [
                torch.cat([blocks[i][j] if j <= i else blocks[j][i].mT for j in range(len(parts))], -1)
                for i in range(len(parts))
            ],
            -2,
        )

    return Expansion(torch.stack([p.value for p in parts]).prod(0), slope, bend)


def sum_of(terms: Iterable[Tensor]) -> Tensor:
    """The sum of one tensor at least."""
    return reduce(torch.add, terms)
