"""From constraints, such as ``{"type": "linear", "coefficients": {"a": 1, "b": 1}, "upper": 1}``, to inequalities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.codec import CLAMP_TOLERANCE, BoxCodec, Codec
from geodrome_core.geometry.faults import Fault, SpaceError, pointer_to, shown
from geodrome_core.geometry.polytope import NoRoomError, Polytope, Reals
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.reading import is_number

MEMBERS = ("type", "coefficients", "lower", "upper")


@dataclass(frozen=True)
class Linear:
    """The linear constraints of a space.

    Attributes:
        polytope: What they leave of the box.
        texts: Each inequality, as a person writes it.
    """

    polytope: Polytope
    texts: tuple[str, ...]

    def broken(self, row: Float[Tensor, " d"]) -> tuple[Fault, ...]:
        """The inequalities that a point breaks by more than rounding."""
        reals, weights = self.polytope.reals, self.polytope.weights
        v = reals.values(row[reals.columns])
        missing = -self.polytope.slack(v)
        size = v.abs() @ weights.abs().mT
        return tuple(
            Fault("", f"{text} does not hold, by {missing[index]:.6g}", v.tolist(), text)
            for index, text in enumerate(self.texts)
            if bool(missing[index] > CLAMP_TOLERANCE * size[index])
        )


def linear(constraints: Sequence[Any], codecs: Mapping[str, Codec], manifold: Product) -> Linear:
    """The linear constraints of a space.

    Reals are named as in points, ``gain`` or ``arm.gain``; numbers of a vector by their index, ``offset[0]``.

    Args:
        constraints: As they are sent.
        codecs: Of the space's factors, by flattened name.
        manifold: The product of the factors.

    Raises:
        SpaceError: A constraint cannot be read, or no point satisfies all of them; pointers begin with its index.
    """
    places = _places(codecs, manifold)
    faults: list[Fault] = []
    rows: list[tuple[dict[str, float], float]] = []
    for index, constraint in enumerate(constraints):
        found = _faults(constraint, places, codecs)
        faults += [fault.under(f"/{index}") for fault in found]
        if not found:
            rows += _inequalities(constraint)
    if faults:
        raise SpaceError(*faults)
    names = list(dict.fromkeys(name for weights, _ in rows for name in weights))
    chosen = [places[name] for name in names]
    reals = Reals(
        torch.tensor([place.column for place in chosen]),
        torch.tensor([place.coordinate for place in chosen]),
        torch.tensor([place.bounds for place in chosen], dtype=torch.float64),
        torch.tensor([place.is_log for place in chosen]),
    )
    weights = torch.tensor([[own.get(name, 0.0) for name in names] for own, _ in rows], dtype=torch.float64)
    limits = torch.tensor([limit for _, limit in rows], dtype=torch.float64)
    try:
        polytope = Polytope(reals, weights, limits)
    except NoRoomError as error:
        fault = Fault("", str(error), list(constraints), "a point that satisfies all of them, and the bounds")
        raise SpaceError(fault, empty=True) from error
    return Linear(polytope, tuple(_text(own, limit) for own, limit in rows))


@dataclass(frozen=True)
class _Place:
    """A real that constraints may name: where it stands, and its box."""

    column: int
    coordinate: int
    bounds: tuple[float, float]
    is_log: bool


def _places(codecs: Mapping[str, Codec], manifold: Product) -> dict[str, _Place]:
    """All bounded reals by name."""
    out: dict[str, _Place] = {}
    coordinate = 0
    for name, codec in codecs.items():
        if isinstance(codec, BoxCodec) and codec.bounds is not None:
            for index, bounds in enumerate(codec.bounds):
                full = name if codec.scalar else f"{name}[{index}]"
                column = manifold.columns[name].start + index
                out[full] = _Place(column, coordinate + index, bounds, codec.scale == "log")
        coordinate += codec.manifold.dim
    return out


def _faults(constraint: Any, places: Mapping[str, _Place], codecs: Mapping[str, Codec]) -> list[Fault]:
    """What is wrong with one constraint."""
    if not isinstance(constraint, Mapping) or constraint.get("type") != "linear":
        rule = 'an object with the type "linear"'
        return [Fault("", f"expected a constraint, got {shown(constraint)}", constraint, rule)]
    faults = [
        Fault(pointer_to(str(key)), "unknown", constraint[key], f"one of {', '.join(MEMBERS)}")
        for key in constraint
        if key not in MEMBERS
    ]
    coefficients = constraint.get("coefficients")
    if not isinstance(coefficients, Mapping) or not coefficients:
        faults.append(Fault("/coefficients", f"got {shown(coefficients)}", coefficients, "name: number, one at least"))
    else:
        for name, value in coefficients.items():
            pointer = "/coefficients" + pointer_to(str(name))
            if name not in places:
                faults.append(Fault(pointer, _why_not(str(name), codecs), name, f"one of {', '.join(places)}"))
            elif not is_number(value) or value == 0:
                faults.append(Fault(pointer, f"the coefficient is {shown(value)}", value, "a finite number, not 0"))
    ends = {key: constraint[key] for key in ("lower", "upper") if constraint.get(key) is not None}
    if not ends:
        faults.append(Fault("/upper", "a constraint needs an upper or a lower bound", None, "a finite number"))
    for key, value in ends.items():
        if not is_number(value):
            faults.append(Fault(f"/{key}", f"{key} is {shown(value)}", value, "a finite number"))
    return faults


def _why_not(name: str, codecs: Mapping[str, Codec]) -> str:
    """Why a constraint cannot be about something of this name."""
    factor = re.sub(r"\[\d+\]$", "", name)
    codec = codecs.get(factor)
    if codec is None:
        return f"nothing is named {shown(name)}"
    if not isinstance(codec, BoxCodec):
        return f"{factor} is no real: constraints hold between reals"
    if codec.bounds is None:
        return f"{factor} has no bounds"
    if codec.scalar:
        return f"{factor} is one number, which has no index"
    return (
        f"{factor} is a vector of {codec.dim} numbers: name one of them, from {factor}[0] to {factor}[{codec.dim - 1}]"
    )


def _inequalities(constraint: Mapping[str, Any]) -> list[tuple[dict[str, float], float]]:
    """Weights and limits of what must not be exceeded."""
    weights = {str(name): float(value) for name, value in constraint["coefficients"].items()}
    out = []
    if constraint.get("upper") is not None:
        out.append((weights, float(constraint["upper"])))
    if constraint.get("lower") is not None:
        out.append(({name: -value for name, value in weights.items()}, -float(constraint["lower"])))
    return out


def _text(weights: Mapping[str, float], limit: float) -> str:
    terms = [
        f"{'-' if value < 0 else '+'} {'' if abs(value) == 1 else f'{abs(value):g} '}{name}"
        for name, value in weights.items()
    ]
    return f"{' '.join(terms).removeprefix('+ ')} <= {limit:g}"
