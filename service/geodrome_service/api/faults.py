"""Broken rules, from wherever they are found, as the problem that names them field by field."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geodrome import schemas
from geodrome.errors import FieldError, InvalidCost, InvalidPoint, InvalidRequest, InvalidSpace
from geodrome_core.geometry.spec import CHOICE_IS_RESERVED

LONGEST_GOT = 500  # characters of a value that a problem shows

HINT = 'for a run that has no cost, tell {"outcome": "failed", "reason": "…"}'

KINDS: dict[str, type[InvalidRequest]] = {
    "cost": InvalidCost,
    "costs": InvalidCost,
    "std": InvalidCost,
    "point": InvalidPoint,
    "space": InvalidSpace,
}
"""The problem that a fault in a field of a body is; an InvalidRequest in all others."""


def refusal(errors: Sequence[FieldError]) -> InvalidRequest:
    """The problem for these broken rules: a special one if they all lie in one of the special fields."""
    kinds = {KINDS.get(_field(error.pointer), InvalidRequest) for error in errors}
    kind = kinds.pop() if len(kinds) == 1 else InvalidRequest
    detail = errors[0].detail if len(errors) == 1 else f"{errors[0].detail} (and {len(errors) - 1} more)"
    return kind(f"{detail}; {HINT}" if kind is InvalidCost else detail, errors=errors)


def _field(pointer: str) -> str:
    """The field of a body that a pointer leads into; in a batch of trials, of one of them."""
    parts = pointer.split("/")[1:]
    if parts[:1] == ["trials"]:
        parts = parts[2:]
    return parts[0] if parts else ""


def from_pydantic(errors: Iterable[Mapping[str, Any]], body: Any) -> list[FieldError]:
    """Pydantic's errors, one for each field; where a field might be of several kinds, its rules are joined by "or".

    Args:
        errors: As ``ValidationError.errors()`` gives them; the first part of ``loc`` says where the input stood.
        body: The body that was validated, to tell its fields from the names that pydantic puts between them.
    """
    found: dict[str, FieldError] = {}
    for error in errors:
        if error["type"] == "default_factory_not_called":
            continue  # what it would have looked at is wrong, and is told
        fault = _from_pydantic(error, body)
        if (earlier := found.get(fault.pointer)) is not None and earlier.rule != fault.rule:
            rule = f"{earlier.rule} or {fault.rule.removeprefix('should ')}"
            fault = FieldError(fault.pointer, f"{_name(fault.pointer)} {rule}, {_got(fault.got)}", fault.got, rule)
        found[fault.pointer] = fault
    return list(found.values())


def _from_pydantic(error: Mapping[str, Any], body: Any) -> FieldError:
    where, *parts = error["loc"]
    got = shown(error["input"])
    pointer = _pointer(parts, body, error["type"]) if where == "body" else f"/{'/'.join(map(str, parts))}"
    name = _name(pointer)
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            detail, got, rule = f"{name} is missing", None, "required"
        case "extra_forbidden":
            detail, rule = f"{name} is unknown here", "unknown fields are refused"
        case "union_tag_invalid":
            pointer, got = f"{pointer}/type", context["tag"]
            detail = CHOICE_IS_RESERVED if got == "choice" else f"the type of {name} is {got!r}"
            rule = f"one of {context['expected_tags']}"
        case "union_tag_not_found":
            pointer, got = f"{pointer}/type", None
            detail, rule = f"{name} has no type", "an object with a type"
        case schemas.COST_OF_OUTCOME:
            pointer, got = f"{pointer}/cost", shown(error["input"].get("cost"))
            detail, rule = error["msg"], "a completed trial has a cost or costs, another has none"
        case _:
            _, should, rule = error["msg"].partition(" should ")
            rule = f"should {rule}" if should else error["msg"]
            detail = f"{name} {rule}, {_got(got)}" if should else f"{name}: {rule}"
    return FieldError(pointer, detail, got, rule)


def _pointer(parts: Sequence[int | str], body: Any, kind: str) -> str:
    """The JSON pointer to an error in the body.

    Pydantic's location also holds names that are no fields, such as the tag of a union's member: whatever cannot be
    found in the body on the way down is one of those, unless it is the very thing that is missing.
    """
    pointer, here = "", body
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        is_item = isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here)
        if (isinstance(here, dict) and part in here) or is_item:
            here = here[part]
        elif not (is_last and kind == "missing"):
            continue
        pointer += f"/{escaped(part)}"
    return pointer


def escaped(part: int | str) -> str:
    """A part of a JSON pointer (RFC 6901)."""
    return str(part).replace("~", "~0").replace("/", "~1")


def shown(value: Any) -> Any:
    """A value that was found, as JSON of a length that a person reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float | None):
        return value
    text = value if isinstance(value, str) else repr(value)
    if len(text) > LONGEST_GOT:
        return f"{text[:LONGEST_GOT]}…"
    return value if isinstance(value, str | list | dict) else text


def _got(value: Any) -> str:
    return f"got {json.dumps(value, ensure_ascii=False)}"


def _name(pointer: str) -> str:
    return pointer.removeprefix("/").replace("/", ".") or "the body"
