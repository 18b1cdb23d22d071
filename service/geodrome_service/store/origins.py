"""Where the points of a study's trials came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Study, Trial


def latest(session: Session, study: Study, count: int) -> Sequence[tuple[int, dict[str, Any]]]:
    """Number and origin of the latest trials, the newest first."""
    rows = select(Trial.number, Trial.origin).where(Trial.study_serial == study.serial)
    return [(number, origin) for number, origin in session.execute(rows.order_by(Trial.number.desc()).limit(count))]
