"""Numbers, vectors and matrices out of JSON that nobody has checked."""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

import torch
from torch import Tensor

from geodrome_core.geometry.faults import Correction, point_fault, shown

NORM_TOLERANCE = 0.01  # three decimals are 8e-4 off; 1 % is a wrong number, not a rounded one
UNSET_NORM = 1e-6  # an all-zero message was never filled in
REPORTED = 1e-6  # smaller deviations are float32 and go unmentioned
LAYOUTS = ("row_major", "column_major")
ROUNDING = 4e-15  # what is closer is left alone, so that canonical points come back to the last digit


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a JSON value is a number that a double can hold; NaN, infinities and integers of 400 digits are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(abs(value) <= sys.float_info.max)


def number(value: Any, pointer: str = "") -> float:
    """A finite number, or a PointError with a hint."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise point_fault(f"expected a number, got {shown(value)}", value, "a finite JSON number", pointer)
    if not is_number(value):
        raise point_fault(f"expected a finite number, got {shown(value)}", str(value), "a finite JSON number", pointer)
    return float(value)


def vector(value: Any, length: int, pointer: str = "") -> list[float]:
    """A list of ``length`` finite numbers; a column ``[[a], [b]]`` counts, and a bare number when length is 1."""
    if length == 1 and isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple):
        message = f"expected a list of {length} numbers, got {shown(value)}"
        raise point_fault(message, value, f"{length} numbers", pointer)
    if len(value) != length:
        raise point_fault(f"expected {length} numbers, got {len(value)}", value, f"{length} numbers", pointer)
    flat = [item[0] if isinstance(item, list | tuple) and len(item) == 1 else item for item in value]
    return [number(item, f"{pointer}/{index}") for index, item in enumerate(flat)]


def matrix(value: Any, size: int, pointer: str = "") -> Tensor:
    """A square matrix given as ``size`` rows, as a float64 tensor."""
    shape = f"{size} rows of {size} numbers"
    if not isinstance(value, list | tuple) or len(value) != size:
        raise point_fault(f"expected {shape}, got {shown(value)}", value, shape, pointer)
    for index, line in enumerate(value):
        if not isinstance(line, list | tuple) or len(line) != size:
            message = f"expected a row of {size} numbers, got {shown(line)}"
            raise point_fault(message, line, shape, f"{pointer}/{index}")
    rows = [[number(item, f"{pointer}/{i}/{j}") for j, item in enumerate(line)] for i, line in enumerate(value)]
    return torch.tensor(rows, dtype=torch.float64)


def is_laid_out(value: Any) -> bool:
    """Whether a JSON value is an object of a matrix as one list, and of the layout of that list."""
    return isinstance(value, dict) and set(value) == {"matrix", "layout"}


def laid_out(value: Any, size: int) -> Tensor:
    """A square matrix given as ``{matrix: [n*n numbers], layout: "row_major" | "column_major"}``."""
    numbers = vector(value["matrix"], size * size, "/matrix")
    layout = value["layout"]
    if layout not in LAYOUTS:
        raise point_fault(f"layout is {shown(layout)}", layout, f"one of {', '.join(LAYOUTS)}", "/layout")
    rows = torch.tensor(numbers, dtype=torch.float64).unflatten(0, (size, size))
    return rows if layout == "row_major" else rows.mT.contiguous()


def normalized(values: list[float], noun: str) -> tuple[Tensor, tuple[Correction, ...]]:
    """Unit vector along ``values``, and a correction when it was noticeably off."""
    rule = "norm 1 within 1 %"
    v = torch.tensor(values, dtype=torch.float64)
    norm = float(torch.linalg.vector_norm(v))
    if norm < UNSET_NORM:
        raise point_fault(f"{noun} has norm {norm:.3g}: was it never set?", values, rule)
    unit = v if abs(norm - 1) <= ROUNDING else v / norm
    if abs(norm - 1) > NORM_TOLERANCE:
        likely = [round(item, 6) for item in unit.tolist()]
        raise point_fault(f"{noun} has norm {norm:.6g}; normalized it would be {likely}", values, rule)
    if abs(norm - 1) <= REPORTED:
        return unit, ()
    return unit, (Correction("", f"{noun} was normalized", abs(norm - 1), values),)
