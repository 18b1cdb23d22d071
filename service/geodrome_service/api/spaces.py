"""Spaces and points as clients send them, checked by the engine's own rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from geodrome import schemas
from geodrome.errors import EmptyDomain, FieldError, InvalidPoint, InvalidRequest, InvalidSpace
from geodrome_core import CheckedPoint, Fault, Form, PointError, Space, SpaceError, space_from_spec

from geodrome_service.api import faults
from geodrome_service.store.tables import Study


def space_of(spec: Mapping[str, Any], constraints: Sequence[Mapping[str, Any]]) -> Space:
    """The space that a study's spec describes, narrowed by its constraints.

    Raises:
        InvalidSpace: The spec describes none.
        InvalidRequest: A constraint cannot be read.
        EmptyDomain: There is no point in it.
    """
    return _space(json.dumps(spec), json.dumps(constraints))


def of_study(study: Study, form: schemas.FormQuery) -> Space:
    """A study's space, with points read and written in the form that was asked for.

    Raises:
        InvalidRequest: It has no such form.
    """
    space = space_of(study.space, study.constraints)
    try:
        return space.in_form(Form(**form.model_dump()))
    except SpaceError as error:
        errors = _fields(error.faults, "")
        raise InvalidRequest(_summary(errors), errors=errors) from error


def check_bounded(space: Space) -> None:
    """Makes sure that a space can be searched.

    Raises:
        InvalidSpace: A factor has no bounds.
    """
    if space.is_bounded:
        return
    rule = "a study needs a bounded domain: bounds for real and euclidean, eigenvalues for spd, radius for hyperbolic"
    errors = [
        FieldError(f"/space{pointer}", f"{pointer or 'the space'} has no bounds", None, rule)
        for pointer in space.unbounded
    ]
    raise InvalidSpace(f"{rule}; missing at {', '.join(error.pointer for error in errors)}", errors=errors)


def check_point(space: Space, point: Any, pointer: str) -> CheckedPoint:
    """A point in any accepted form; it may lie outside the domain.

    Args:
        space: The study's space.
        point: The point as it was sent.
        pointer: Where it stands in the body.

    Raises:
        InvalidPoint: It is in no accepted form, or off its manifold.
    """
    try:
        return space.check(point)
    except PointError as error:
        errors = _fields(error.faults, pointer)
        raise InvalidPoint(_summary(errors), errors=errors) from error


def check_points(space: Space, points: Sequence[Any], pointer: str) -> list[CheckedPoint]:
    """Several points, as by ``check_point``; each has its index in the pointer.

    Raises:
        InvalidPoint: Of every point that cannot be read.
    """
    checked: list[CheckedPoint] = []
    errors: list[FieldError] = []
    for index, point in enumerate(points):
        try:
            checked.append(space.check(point))
        except PointError as error:
            errors += _fields(error.faults, f"{pointer}/{index}")
    if errors:
        raise InvalidPoint(_summary(errors), errors=errors)
    return checked


def check_inside(checked: CheckedPoint, pointer: str) -> None:
    """Makes sure that a point that is to be run lies inside the domain.

    Raises:
        InvalidPoint: It lies outside; it is never replaced by another.
    """
    if checked.outside:
        errors = _fields(checked.outside, pointer)
        raise InvalidPoint(_summary(errors), errors=errors)


def shown_corrections(checked: CheckedPoint) -> list[dict[str, Any]]:
    """What was mended in a point, as it travels."""
    return [asdict(correction.under("/point")) for correction in checked.corrections]


@lru_cache(maxsize=256)
def _space(spec: str, constraints: str) -> Space:
    try:
        space = space_from_spec(json.loads(spec))
    except SpaceError as error:
        errors = _fields(error.faults, "/space")
        raise InvalidSpace(_summary(errors), errors=errors) from error
    try:
        return space.constrained(json.loads(constraints))
    except SpaceError as error:
        kind = EmptyDomain if error.empty else InvalidRequest
        errors = _fields(error.faults, "/constraints")
        raise kind(_summary(errors), errors=errors) from error


def _fields(found: Sequence[Fault], pointer: str) -> list[FieldError]:
    return [FieldError(pointer + fault.pointer, fault.detail, faults.shown(fault.got), fault.rule) for fault in found]


def _summary(errors: Sequence[FieldError]) -> str:
    return "; ".join(f"{error.pointer.removeprefix('/')}: {error.detail}" for error in errors)
