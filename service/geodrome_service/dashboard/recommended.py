"""The model's recommendation as pages show it: the last one that was computed, for no page waits for a model."""

from __future__ import annotations

from fastapi import Request
from geodrome import schemas

from geodrome_service.api.recommendations import Recommendations
from geodrome_service.store.tables import Study


def recommended_point(request: Request, study: Study) -> schemas.Recommendation | None:
    """The recommendation that is at hand; the page itself asks for a new one and comes again."""
    held: Recommendations = request.app.state.recommendations
    found = held.at_hand(study.id) if study.completed else None
    return None if found is None else schemas.Recommendation(**found, form=None)
