"""Values with known derivatives attached, for functions that are looked up and not computed by autograd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor


def with_derivatives(
    value: Tensor, first: list[tuple[Tensor, Tensor]], second: list[tuple[Tensor, Tensor, Tensor]]
) -> Tensor:
    """``value`` with known derivatives attached: a Taylor polynomial about the variables' own values.

    Autograd finds the first and second derivatives that are given. Derivatives beyond those, mixed ones that are not
    listed included, come out as zero. Nothing is kept but what is given.

    Args:
        value: The function's value, without a graph.
        first: Pairs (derivative, variable).
        second: Triples (second derivative, variable, variable); a mixed one is listed once.
    """
    variables = list({id(variable): variable for _, variable in first if variable.requires_grad}.values())
    if not variables:
        return value
    places = {id(variable): place for place, variable in enumerate(variables)}
    slopes = [(places[id(v)], derivative) for derivative, v in first if id(v) in places]
    bends = [(places[id(v)], places[id(w)], d) for d, v, w in second if id(v) in places and id(w) in places]
    order = _Order(len(variables), [place for place, _ in slopes], [(i, j) for i, j, _ in bends])
    tensors = [*variables, *(slope for _, slope in slopes), *(bend for *_, bend in bends)]
    return _Taylor.apply(value, order, *tensors)


@dataclass(frozen=True)
class _Order:
    """Which tensors are which: so many variables, then first derivatives in these, then second ones in those."""

    variables: int
    first: list[int]
    second: list[tuple[int, int]]


class _Taylor(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, order: _Order, *tensors: Tensor) -> Tensor:
        ctx.order = order
        ctx.save_for_backward(*tensors)
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        order: _Order = ctx.order
        tensors = ctx.saved_tensors
        variables, derivatives = tensors[: order.variables], tensors[order.variables :]
        slopes: list[Tensor | float] = [0.0] * order.variables
        for place, derivative in zip(order.first, derivatives, strict=False):
            slopes[place] = slopes[place] + derivative
        if torch.is_grad_enabled():  # second derivatives are asked for: these zeros have them
            steps = [variable - variable.detach() for variable in variables]
            for (i, j), derivative in zip(order.second, derivatives[len(order.first) :], strict=True):
                slopes[i] = slopes[i] + derivative * steps[j]
                if i != j:
                    slopes[j] = slopes[j] + derivative * steps[i]
        (gradient,) = gradients
        found = [(gradient * slope).sum_to_size(v.shape) for slope, v in zip(slopes, variables, strict=True)]
        return (None, None, *found, *(None for _ in derivatives))


def with_derivatives_on_demand(
    value: Tensor, first: list[tuple[Tensor, Tensor]], second: Callable[[], list[list[Tensor]]]
) -> Tensor:
    """As ``with_derivatives``, with second derivatives that are computed only if a graph of the first is wanted.

    Args:
        value: The function's value, without a graph.
        first: Pairs (derivative, variable).
        second: Gives the symmetric matrix of second derivatives in some of the variables, the first ones.
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
        slopes, variables = list(ctx.saved_tensors[:count]), ctx.saved_tensors[count:]
        if torch.is_grad_enabled():
            for place, row in enumerate(ctx.second()):
                slopes[place] = with_derivatives(slopes[place], list(zip(row, variables, strict=False)), [])
        needed = ctx.needs_input_grad[-count:]
        found = [
            (gradients[0] * slope).sum_to_size(variable.shape) if is_needed else None
            for slope, variable, is_needed in zip(slopes, variables, needed, strict=True)
        ]
        return None, None, *[None] * count, *found


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
