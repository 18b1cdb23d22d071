"""Studies that people write as text, YAML or JSON, instead of sending them as JSON: refused for the same reasons."""

from __future__ import annotations

from typing import Any

from geodrome import schemas
from geodrome.documents import Unreadable, parsed
from geodrome.errors import InvalidRequest
from pydantic import ValidationError

from geodrome_service.api import bodies, faults


def value_of(text: str) -> Any:
    """What the text stands for.

    Raises:
        InvalidRequest: It is neither YAML nor JSON, or holds what cannot be kept.
    """
    try:
        value = parsed(text)
    except Unreadable as error:
        raise InvalidRequest(f"the text is neither YAML nor JSON: {error}") from error
    bodies.check_kept(value)
    return value


def study_of(value: Any) -> schemas.StudyCreate:
    """The body of ``POST /v1/studies`` that a value is.

    Raises:
        InvalidRequest: It breaks a rule; an ``InvalidSpace`` if all is about the space.
    """
    try:
        return schemas.StudyCreate.model_validate(value)
    except ValidationError as error:
        located = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise faults.refusal(faults.from_pydantic(located, value)) from error
