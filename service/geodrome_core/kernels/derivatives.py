"""Values with known derivatives attached, for functions that are looked up and not computed by autograd."""

from __future__ import annotations

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
