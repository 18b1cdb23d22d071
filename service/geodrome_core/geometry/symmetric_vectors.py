"""Symmetric matrices as vectors of n (n + 1) / 2 numbers, whose Euclidean norm is the Frobenius norm.

Numbers off the diagonal stand once, times the root of 2. Two orders of them are in use, so that a vector says nothing
until its order is named:

=========  =======================================  ===================================
order      for 3 rows                               used by
=========  =======================================  ===================================
``mandel`` 11, 22, 33, 12, 23, 13: by diagonals     programs that learn on manifolds
``voigt``  11, 22, 33, 23, 13, 12                   mechanics; known for 2 and 3 rows
=========  =======================================  ===================================
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Order = Literal["mandel", "voigt"]

VOIGT = {2: [(0, 0), (1, 1), (0, 1)], 3: [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]}
"""By the rows of the matrices."""


def from_vector(values: Float[Tensor, " m"], order: Order, size: int) -> Float[Tensor, "n n"]:
    """The matrix of ``size`` rows."""
    out = values.new_zeros(size, size)
    for value, (i, j) in zip(values, _places(order, size), strict=True):
        out[i, j] = out[j, i] = value if i == j else value / math.sqrt(2)
    return out


def to_vector(matrix: Float[Tensor, "n n"], order: Order) -> Float[Tensor, " m"]:
    """The way back."""
    places = _places(order, len(matrix))
    return torch.stack([matrix[i, j] if i == j else math.sqrt(2) * matrix[i, j] for i, j in places])


def is_known(order: Order, size: int) -> bool:
    """Whether the order is defined for matrices of ``size`` rows."""
    return order == "mandel" or size in VOIGT


def _places(order: Order, size: int) -> list[tuple[int, int]]:
    """Where in the matrix each number stands."""
    if order == "voigt":
        return VOIGT[size]
    return [(i, i + offset) for offset in range(size) for i in range(size - offset)]
