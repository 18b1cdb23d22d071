"""What a user hands over, as JSON: arrays become lists, and a number that JSON cannot say is refused here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from geodrome.errors import FieldError, InvalidCost, InvalidPoint, InvalidRequest

COST_FIELDS = frozenset({"cost", "costs", "std"})


def jsonable(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with NumPy and torch values as numbers and lists, pydantic models as objects; None is left out.

    Raises:
        InvalidCost: A cost is not finite; a run without a cost has the outcome ``failed``.
        InvalidPoint: A coordinate of the point is not finite.
        InvalidRequest: Another number is not finite, or a value has no JSON form.
    """
    given = {name: value for name, value in body.items() if value is not None}
    try:
        plain: dict[str, Any] = to_jsonable_python(given, fallback=_listed)
    except ValueError as error:
        raise InvalidRequest(str(error)) from error
    if faults := list(_non_finite(plain, "")):
        raise _refusal(faults)
    return plain


def _listed(value: Any) -> Any:
    # NumPy and torch need not be installed to be understood: their arrays and scalars all have tolist().
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ValueError(f"a value of type {type(value).__name__} has no JSON form")


def _non_finite(value: Any, pointer: str) -> Iterator[FieldError]:
    match value:
        case float() if not math.isfinite(value):
            yield FieldError(pointer, f"{value} is not a finite number", got=str(value), rule="numbers are finite")
        case dict():
            for name, item in value.items():
                yield from _non_finite(item, f"{pointer}/{name}")
        case list():
            for index, item in enumerate(value):
                yield from _non_finite(item, f"{pointer}/{index}")


def _refusal(faults: list[FieldError]) -> InvalidRequest:
    field = faults[0].pointer.split("/")[1]
    if field in COST_FIELDS:
        return InvalidCost("for a run without a cost, say that it failed (outcome: failed)", errors=faults)
    if field == "point":
        return InvalidPoint("its coordinates are finite numbers", errors=faults)
    return InvalidRequest("JSON has only finite numbers", errors=faults)
