"""A point for a form: one that makes sense in the study, for a person to change."""

from __future__ import annotations

import json

import torch
from geodrome import schemas
from sqlalchemy.orm import Session

from geodrome_service.api import spaces
from geodrome_service.api.answers import AS_IT_IS
from geodrome_service.dashboard.rendering import point
from geodrome_service.store import listing, tables


def example(
    session: Session, study: tables.Study, record: schemas.Study, recommended: schemas.Recommendation | None
) -> str:
    """The recommended point, else the best trial's, else the latest one's, else any of the space, as JSON."""
    space = spaces.of_study(study, AS_IT_IS)
    if recommended is not None:
        return json.dumps(recommended.point)
    if record.best is not None:
        return json.dumps(record.best.point)
    latest = listing.page(session, study, listing.Choice(), offset=0, limit=1)
    if latest:
        return json.dumps(latest[0].point)
    row = space.manifold.random(1, torch.Generator().manual_seed(0))[0]
    shown = point(space.point(row))
    # Four digits are easier to read, where a point stays one without the others.
    return shown if not space.check(json.loads(shown)).outside else json.dumps(space.point(row))
