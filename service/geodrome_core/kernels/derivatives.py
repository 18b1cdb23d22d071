"""Values with known derivatives attached, for functions that are looked up and not computed by autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor


def with_derivatives(
    value: Tensor, first: list[tuple[Tensor, Tensor]], second: list[tuple[Tensor, Tensor, Tensor]]
) -> Tensor:
    """``value`` with known derivatives attached: a Taylor polynomial about the variables' own values.

    The polynomial equals ``value`` exactly, and autograd finds in it the first and second derivatives that are given.
    Derivatives beyond those, mixed ones that are not listed included, come out as zero.

    Args:
        value: The function's value, without a graph.
        first: Pairs (derivative, variable).
        second: Triples (second derivative, variable, variable); a mixed one is listed once.
    """
    steps = {id(variable): variable - variable.detach() for _, variable in first if variable.requires_grad}
    for derivative, variable in first:
        if variable.requires_grad:
            value = value + derivative * steps[id(variable)]
    for derivative, one, other in second:
        if one.requires_grad and other.requires_grad:
            factor = 0.5 if one is other else 1.0
            value = value + factor * derivative * steps[id(one)] * steps[id(other)]
    return value


def with_derivatives_on_demand(
    value: Tensor, first: list[tuple[Tensor, Tensor]], second: Callable[[], list[list[Tensor]]]
) -> Tensor:
    """As ``with_derivatives``, with second derivatives that are computed only if a graph of the first is wanted.

    Args:
        value: The function's value, without a graph.
        first: Pairs (derivative, variable), variables of the shape of ``value``.
        second: Gives the symmetric matrix of second derivatives, in the order of ``first``.
    """
    if not any(variable.requires_grad for _, variable in first):
        return value
    derivatives, variables = zip(*first, strict=True)
    return cast(Tensor, _OnDemand.apply(value, second, *derivatives, *variables))


class _OnDemand(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, second: Callable[[], list[list[Tensor]]], *tensors: Tensor) -> Tensor:
        ctx.second = second
        ctx.save_for_backward(*tensors)
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        count = len(ctx.saved_tensors) // 2
        derivatives, variables = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        if torch.is_grad_enabled():
            derivatives = [
                with_derivatives(derivative, list(zip(row, variables, strict=True)), [])
                for derivative, row in zip(derivatives, ctx.second(), strict=True)
            ]
        needed = ctx.needs_input_grad[-count:]
        products = [
            gradients[0] * part if is_needed else None for part, is_needed in zip(derivatives, needed, strict=True)
        ]
        return None, None, *[None] * count, *products


def carried(value: Tensor, carrier: Tensor) -> Tensor:
    """``value`` with the derivatives of ``carrier``, which is the same function computed with fewer digits."""
    return cast(Tensor, _Carried.apply(value, carrier))


class _Carried(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, carrier: Tensor) -> Tensor:
        del ctx, carrier
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        del ctx
        return None, gradients[0]
