"""JSON forms of the points of hyperbolic space."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from geodrome_core.geometry.codec import CLAMP_TOLERANCE, Codec, Reading
from geodrome_core.geometry.euclidean import FLOAT32_ROUNDING
from geodrome_core.geometry.faults import Correction, Fault, point_fault, shown
from geodrome_core.geometry.hyperbolic import Hyperbolic, from_poincare, to_poincare
from geodrome_core.geometry.reading import REPORTED, vector

LORENTZ_TOLERANCE = 0.01  # of x_0^2, as for norms
FARTHEST = 12.0  # from the origin; farther out less than five digits of distances are left


@dataclass(frozen=True)
class HyperbolicCodec(Codec):
    """Points of H^m on the hyperboloid (time coordinate first) or in Poincaré's ball."""

    manifold: Hyperbolic
    model: Literal["lorentz", "poincare"]

    def read(self, value: Any) -> Reading:
        """Numbers in the spec's model, or ``{lorentz: […]}`` or ``{poincare: […]}`` by name."""
        model, values, pointer = self._named(value)
        corrections: tuple[Correction, ...] = ()
        if model == "lorentz":
            row, corrections = self._lorentz(vector(values, self.manifold.width, pointer), pointer)
        else:
            numbers = vector(values, self.manifold.dim, pointer)
            norm = math.hypot(*numbers)
            if norm >= 1:
                raise point_fault(f"the point has norm {norm:.6g}, not inside the ball", numbers, "norm < 1", pointer)
            row = from_poincare(torch.tensor(numbers, dtype=torch.float64))
        distance = math.asinh(math.hypot(*row[1:].tolist()))
        if not distance <= FARTHEST:
            detail = f"the point is {distance:.6g} from the origin, too far to compute with"
            raise point_fault(detail, values, f"a distance of at most {FARTHEST:g}", pointer)
        outside: tuple[Fault, ...] = ()
        radius = self.manifold.radius
        if radius is not None and not bool(self.manifold.contains(row)):
            if distance > radius * (1 + CLAMP_TOLERANCE):
                detail = f"the point is {distance:.6g} from the origin, outside the radius {radius:g}"
                outside = (Fault("", detail, distance, "within the radius"),)
            else:
                return Reading(self.write(self.manifold.clamp(row)), corrections)
        # Not through the other model: a canonical point comes back to the last digit.
        same = model == self.model == "poincare"
        return Reading(numbers if same else self._written(row), corrections, outside)

    def row(self, point: Any) -> Tensor:
        """The Lorentz row."""
        values = torch.tensor(point, dtype=torch.float64)
        return values if self.model == "lorentz" else from_poincare(values)

    def write(self, row: Tensor) -> Any:
        """Numbers in the spec's model; in the ball, pulled to where a float32 is still within the radius."""
        if self.model == "poincare" and self.manifold.radius is not None:
            p = to_poincare(row)
            limit = math.tanh(self.manifold.radius / 2) * (1 - FLOAT32_ROUNDING)
            return (p * (limit / torch.linalg.vector_norm(p).clamp_min(limit))).tolist()
        return self._written(row)

    def _written(self, row: Tensor) -> Any:
        return (row if self.model == "lorentz" else to_poincare(row)).tolist()

    def _named(self, value: Any) -> tuple[str, Any, str]:
        """The model, the numbers in it, and where they stand."""
        if not isinstance(value, dict):
            return self.model, value, ""
        for model in ("lorentz", "poincare"):
            if set(value) == {model}:
                return model, value[model], f"/{model}"
        rule = f"numbers in the {self.model} model, {{lorentz: […]}} or {{poincare: […]}}"
        raise point_fault(f"unknown form {shown(sorted(value, key=str))}", value, rule)

    def _lorentz(self, values: list[float], pointer: str) -> tuple[Tensor, tuple[Correction, ...]]:
        """The row with the time coordinate that follows from the others."""
        rule = "<x, x> = -x_0^2 + x_1^2 + … = -1 within 1 % of x_0^2, x_0 > 0"
        time, spatial = values[0], math.hypot(1.0, *values[1:])
        if time <= 0:
            raise point_fault(f"the time coordinate, the first, is {time:g}", values, rule, pointer)
        ratio = spatial / time
        deviation = abs(ratio * ratio - 1)
        if not deviation <= LORENTZ_TOLERANCE:
            found = spatial * spatial - time * time - 1
            detail = f"<x, x> is {found:.6g} and not -1; the time coordinate would be {spatial:.6g}"
            raise point_fault(detail, values, rule, pointer)
        row = self.manifold.nearest(torch.tensor(values, dtype=torch.float64))
        if deviation <= REPORTED:
            return row, ()
        return row, (Correction(pointer, "the time coordinate was recomputed", deviation, values),)
