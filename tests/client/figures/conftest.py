"""Studies and trials as figures get them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from geodrome import schemas


@pytest.fixture
def record(study_body) -> Callable[..., schemas.Study]:
    """A study of a space; keyword arguments replace fields."""

    def make(space: dict[str, Any], **fields: Any) -> schemas.Study:
        objective = {"name": "error", "unit": "mm"}
        return schemas.Study.model_validate(study_body(space=space, **{"objective": objective, **fields}))

    return make


@pytest.fixture
def trial(trial_body) -> Callable[..., schemas.Trial]:
    """A trial: completed if it has a cost."""

    def make(number: int, cost: float | None = None, **fields: Any) -> schemas.Trial:
        state = "failed" if cost is None else "completed"
        return schemas.Trial.model_validate(trial_body(**{"number": number, "cost": cost, "state": state, **fields}))

    return make


@pytest.fixture
def form() -> Callable[..., schemas.Form]:
    """A form of points that says only what is given."""

    def make(**said: str) -> schemas.Form:
        return schemas.Form.model_validate(dict.fromkeys(schemas.Form.model_fields) | said)

    return make
