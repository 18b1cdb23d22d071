"""What transactions do that is worth counting, told once it is committed: what was rolled back never happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum

from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

NOTES = "geodrome_notes"


class Happening(StrEnum):
    """What is counted."""

    HANDED_OUT = "a trial was handed out; the detail is where its point came from"
    SUGGESTED = "a suggestion was queued; the detail is where it came from"
    LEASE_EXPIRED = "a trial's lease ended"


Report = Callable[[Mapping[tuple[Happening, str], int]], None]
"""Takes what one transaction did, and how often."""


def note(session: Session, happening: Happening, detail: str = "") -> None:
    """Notes that the session's transaction does something."""
    session.info.setdefault(NOTES, Counter())[happening, detail] += 1


def watch(sessions: sessionmaker[Session], report: Report) -> None:
    """Reports what each transaction of these sessions did, once it is committed."""

    def committed(session: Session) -> None:
        if session.in_nested_transaction():
            return  # a savepoint: the transaction around it may still be rolled back
        if notes := session.info.pop(NOTES, None):
            report(notes)

    def rolled_back(session: Session) -> None:
        # After a savepoint, too, whose notes cannot be told from the others: better one too few than one too many.
        session.info.pop(NOTES, None)

    event.listen(sessions, "after_commit", committed)
    event.listen(sessions, "after_rollback", rolled_back)
