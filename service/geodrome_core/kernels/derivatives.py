"""Values with known derivatives attached, for functions that are looked up and not computed by autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
