"""Symmetric matrices as vectors, in the two orders that ``docs/spaces.md`` names."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

VOIGT = {2: [(0, 0), (1, 1), (0, 1)], 3: [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]}
"""Places by rows of the matrix; ``mandel`` goes diagonal by diagonal."""


def from_vector(values: NDArray[np.float64], order: Literal["mandel", "voigt"], size: int) -> NDArray[np.float64]:
    """The matrix of ``size`` rows; what is off the diagonal stands in the vector once, times the root of 2."""
    mandel = [(i, i + offset) for offset in range(size) for i in range(size - offset)]
    matrix = np.zeros((size, size))
    for value, (i, j) in zip(values, VOIGT[size] if order == "voigt" else mandel, strict=True):
        matrix[i, j] = matrix[j, i] = value if i == j else value / math.sqrt(2)
    return matrix
