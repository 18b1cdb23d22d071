"""Other forms than a spec's in which points are read and written, on request."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch

from geodrome_core.geometry import symmetric_vectors
from geodrome_core.geometry.angle_codecs import HALF_TURN, JointsCodec, TorusCodec
from geodrome_core.geometry.codec import Codec, RotationCodec
from geodrome_core.geometry.faults import Fault
from geodrome_core.geometry.hyperbolic_codec import HyperbolicCodec
from geodrome_core.geometry.reading import is_number
from geodrome_core.geometry.rotation import matrix_to_quaternion
from geodrome_core.geometry.spd_codec import SPDCodec


@dataclass(frozen=True)
class Form:
    """How points are to be written, where it is not as the spec says; each for the factors that it can be said of.

    Attributes:
        representation: Of rotations of 3 axes.
        order: Of quaternions, also of those that are read.
        unit: Of angles, also of those that are read.
        encoding: Of symmetric matrices, under its name.
        model: Of hyperbolic space, under its name.
    """

    representation: Literal["matrix", "quaternion"] | None = None
    order: Literal["wxyz", "xyzw"] | None = None
    unit: Literal["rad", "deg"] | None = None
    encoding: Literal["mandel", "voigt", "cholesky_lower"] | None = None
    model: Literal["lorentz", "poincare"] | None = None

    def faults(self, codecs: Iterable[Codec]) -> tuple[Fault, ...]:
        """What is said of nothing in a space."""
        codecs = list(codecs)
        return tuple(
            Fault(f"/{name}", f"nothing in the space has the {name} {value}", value, "a factor that can be written so")
            for name, value in asdict(self).items()
            if value is not None and not any(_can_be_said(codec, name, value) for codec in codecs)
        )

    def read(self, codec: Codec, value: Any) -> Any:
        """A factor's point as the codec reads it."""
        match codec:
            case RotationCodec() if self.order and isinstance(value, list | tuple) and len(value) == 4:
                return [value[self.order.index(letter)] for letter in codec.order]
            case TorusCodec() | JointsCodec() if self.unit and self.unit != codec.unit:
                return _scaled(value, HALF_TURN[codec.unit] / HALF_TURN[self.unit])
            case _:
                return value

    def write(self, codec: Codec, point: Any) -> Any:
        """A factor's canonical point in this form."""
        match codec:
            case RotationCodec():
                return self._rotation(codec, point)
            case TorusCodec() | JointsCodec() if self.unit and self.unit != codec.unit:
                return _scaled(point, HALF_TURN[self.unit] / HALF_TURN[codec.unit])
            case SPDCodec() if self.encoding and _can_be_said(codec, "encoding", self.encoding):
                return {self.encoding: _encoded(point, self.encoding)}
            case HyperbolicCodec() if self.model and self.model != codec.model:
                return {self.model: HyperbolicCodec(codec.manifold, self.model).write(codec.row(point))}
            case _:
                return point

    def _rotation(self, codec: RotationCodec, point: Any) -> Any:
        order = self.order or codec.order
        if (self.representation or codec.representation) == "matrix":
            return point if codec.representation == "matrix" else codec.row(point).unflatten(0, (3, 3)).tolist()
        if codec.representation == "quaternion":
            return [point[codec.order.index(letter)] for letter in order]
        wxyz = matrix_to_quaternion(torch.tensor(point, dtype=torch.float64)).tolist()
        return [wxyz["wxyz".index(letter)] for letter in order]


def _can_be_said(codec: Codec, name: str, value: str) -> bool:
    match codec:
        case RotationCodec():
            return name in ("representation", "order")
        case TorusCodec() | JointsCodec():
            return name == "unit"
        case SPDCodec():
            size = codec.manifold.size
            return name == "encoding" and (value != "voigt" or symmetric_vectors.is_known("voigt", size))
        case HyperbolicCodec():
            return name == "model"
        case _:
            return False


def _encoded(point: Any, encoding: Literal["mandel", "voigt", "cholesky_lower"]) -> Any:
    matrix = torch.tensor(point, dtype=torch.float64)
    if encoding == "cholesky_lower":
        return torch.linalg.cholesky(matrix).tolist()
    return symmetric_vectors.to_vector(matrix, encoding).tolist()


def _scaled(value: Any, factor: float) -> Any:
    """All numbers of a value times a factor; what is no number is left to whoever reads it."""
    if isinstance(value, list | tuple):
        return [_scaled(item, factor) for item in value]
    scaled = value * factor if is_number(value) else value
    return value if isinstance(scaled, float) and not math.isfinite(scaled) else scaled
