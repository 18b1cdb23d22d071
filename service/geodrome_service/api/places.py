"""Where the trials of a study are, to find the one that is at a point already."""

from __future__ import annotations

from typing import Any

import torch
from sqlalchemy.orm import Session

from geodrome_service.api import spaces
from geodrome_service.store import history
from geodrome_service.store.tables import Study

SAME = 1e-6
"""Geodesic distance below which two points are one."""


class Places:
    """The points of a study's trials, but for those of the lost ones.

    To read all of a large study takes a while. So they are read before the study is locked, and only what has changed
    since then is read after.

    Args:
        session: Where the study was read.
        study: The study.
    """

    def __init__(self, session: Session, study: Study) -> None:
        self._space = spaces.space_of(study.space, study.constraints)  # stored points are in its own form
        self._numbers = torch.empty(0, dtype=torch.int64)
        self._rows = self._space.rows([])
        self._known_event = 0
        self.update(session, study)

    def update(self, session: Session, study: Study) -> None:
        """Brings them up to the study's last event."""
        changed = history.points(session, study, since=self._known_event)
        self._known_event = study.last_event
        unchanged = ~torch.isin(self._numbers, torch.tensor(list(changed), dtype=torch.int64))
        there = {number: point for number, point in changed.items() if point is not None}
        self._numbers = torch.cat([self._numbers[unchanged], torch.tensor(list(there), dtype=torch.int64)])
        self._rows = torch.cat([self._rows[unchanged], self._space.rows(list(there.values()))])

    def find(self, point: Any) -> int | None:
        """The first trial that is at a canonical point, within ``SAME``; None if none is."""
        if not len(self._rows):
            return None
        near = self._space.manifold.distance(self._rows, self._space.rows([point])) < SAME
        return int(self._numbers[near].min()) if bool(near.any()) else None
