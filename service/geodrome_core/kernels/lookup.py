"""How tables on panels are looked up: panel by panel, and half of a symmetric matrix."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

SMALLEST_MATRIX, BLOCK = 128, 64
"""Symmetric matrices of fewer rows are looked up in full; of others, strips of so many rows from the diagonal on."""


def runs(panel: Int[Tensor, " p"], count: int) -> tuple[Int[Tensor, " p"], list[tuple[int, int, int]]]:
    """An order in which equal panels are neighbours, and (panel, start, stop) of those that occur."""
    order = torch.argsort(panel.to(torch.int16))  # short integers are sorted in linear time
    sizes = torch.bincount(panel, minlength=count)
    stops = sizes.cumsum(0).tolist()
    return order, [(index, stops[index] - size, stops[index]) for index, size in enumerate(sizes.tolist()) if size]


def look_up_all(look_up: Callable[..., Float[Tensor, "c p"]], *arguments: Float[Tensor, "*b"]) -> Float[Tensor, "c *b"]:
    """Values at arguments of any shape; of symmetric matrices, little more than half is looked up."""
    shape = arguments[0].shape
    is_symmetric = len(shape) == 2 and len(arguments[0]) >= SMALLEST_MATRIX
    if not is_symmetric or not all(torch.equal(argument, argument.mT) for argument in arguments):
        values = look_up(*(argument.flatten() for argument in arguments))
        return values.reshape(len(values), *shape)
    out: Tensor | None = None
    for start in range(0, shape[0], BLOCK):
        rows, rest = slice(start, start + BLOCK), slice(start, None)
        strips = [argument[rows, rest] for argument in arguments]
        values = look_up(*(strip.flatten() for strip in strips))
        values = values.reshape(len(values), *strips[0].shape)
        if out is None:
            out = values.new_empty(len(values), *shape)
        out[:, rows, rest] = values
        out[:, rest, rows] = values.mT
    assert out is not None
    return out
