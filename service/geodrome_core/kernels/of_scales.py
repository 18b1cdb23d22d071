"""Covariances of fixed pairs of points as functions of nu and the lengthscale: what a fit evaluates again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Scaled:
    """Covariances of pairs for one nu and lengthscale, and what they change by.

    Attributes:
        value: The covariances.
        by_kappa: Derivatives in each lengthscale.
        by_nu: Derivatives in nu.
    """

    value: Float[Tensor, " p"]
    by_kappa: Float[Tensor, "k p"]
    by_nu: Float[Tensor, " p"]


OfScales = Callable[[float, Tensor], Scaled]
"""From nu and lengthscales (k,) to the covariances of all pairs i < j, row by row."""


def by_autograd(
    covariance: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor], x: Float[Tensor, "n d"], *, is_ard: bool
) -> OfScales:
    """Of any kernel, everything computed anew each time.

    Args:
        covariance: From matching points, nu and one lengthscale, or with ``is_ard`` a vector of them.
        x: The points.
        is_ard: Whether there are several lengthscales.
    """
    i, j = torch.triu_indices(len(x), len(x), offset=1)
    left, right = x[i], x[j]

    def at(nu: float, kappa: Tensor) -> Scaled:
        with torch.enable_grad():
            smoothness = torch.tensor(nu, dtype=torch.float64, requires_grad=True)
            scales = kappa.detach().clone().requires_grad_()
            value = covariance(left, right, smoothness, scales if is_ard else scales[0])
            # The gradient of <probe, value> is linear in the probe: its derivative is that of each value.
            probe = torch.ones_like(value, requires_grad=True)
            slopes = torch.autograd.grad(
                value, [scales, smoothness], probe, create_graph=True, materialize_grads=True, retain_graph=True
            )
            columns = [
                torch.autograd.grad(slope, probe, retain_graph=True, materialize_grads=True)[0]
                if slope.requires_grad
                else torch.zeros_like(value)
                for slope in [*slopes[0].unbind(), slopes[1]]
            ]
        return Scaled(value.detach(), torch.stack(columns[:-1]), columns[-1])

    return at


def product(parts: Sequence[OfScales], counts: Sequence[int]) -> OfScales:
    """The product of kernels of different factors, whose ``counts`` of lengthscales stand one behind the other."""
    if len(parts) == 1:
        return parts[0]

    def at(nu: float, kappa: Tensor) -> Scaled:
        found = [part(nu, scales) for part, scales in zip(parts, kappa.split(list(counts)), strict=True)]
        others = [prod((f.value for f in found if f is not one), start=torch.ones_like(one.value)) for one in found]
        by_kappa = torch.cat([one.by_kappa * other for one, other in zip(found, others, strict=True)])
        by_nu = torch.stack([one.by_nu * other for one, other in zip(found, others, strict=True)]).sum(0)
        return Scaled(found[0].value * others[0], by_kappa, by_nu)

    return at


def matrix(upper: Float[Tensor, " p"], size: int, *, diagonal: float) -> Float[Tensor, "n n"]:
    """The symmetric matrix of pairs i < j, row by row."""
    out = upper.new_zeros(size, size)
    i, j = torch.triu_indices(size, size, offset=1)
    out[i, j] = upper
    out = out + out.mT
    out.diagonal().fill_(diagonal)
    return out
