"""Who waits for suggestions of a study, and which process computes them: one at a time, for all who wait.

A process that computes holds the study's suggest lease and extends it meanwhile. One that dies stops extending; after
``LEASE`` another takes over. Callers that write hold the study's lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Session

from geodrome_service.store.tables import Study, SuggestLease, WaitingAsk, table_of

LEASE = timedelta(seconds=15)

SOMEBODY = "somebody"
"""Stands for all asks that have gone and cannot be told from others."""

LARGEST_BATCH = 32
"""Suggestions computed at once for those who wait; more are left to the next batch."""

WAIT = timedelta(seconds=90)  # longer than an ask may wait, so that its repeat finds it counted

_ASKS = table_of(WaitingAsk)
_FORGET = delete(_ASKS).where(
    _ASKS.c.study_serial == bindparam("serial"), _ASKS.c.asker.in_(bindparam("askers", expanding=True))
)


def wait(session: Session, study: Study, asker: str, count: int, *, now: datetime) -> None:
    """Notes that an ask waits for so many trials; repeats of it count once."""
    session.execute(delete(WaitingAsk).where(WaitingAsk.study_serial == study.serial, WaitingAsk.expires_at <= now))
    session.merge(WaitingAsk(study_serial=study.serial, asker=asker, count=count, expires_at=now + WAIT))


def waiting(session: Session, study: Study, *, now: datetime) -> dict[str, int]:
    """The asks that wait, and for how many trials each."""
    asks = select(WaitingAsk.asker, WaitingAsk.count.label("count_")).where(
        WaitingAsk.study_serial == study.serial, WaitingAsk.expires_at > now
    )
    return {row.asker: row.count_ for row in session.execute(asks)}


def number_waiting(session: Session, *, now: datetime) -> int:
    """How many asks wait, of all studies."""
    return session.scalar(select(func.count()).select_from(WaitingAsk).where(WaitingAsk.expires_at > now)) or 0


def wait_no_more(session: Session, study: Study, askers: Iterable[str]) -> None:
    """Forgets asks: they have their trials, or these are in the queue."""
    session.execute(_FORGET, {"serial": study.serial, "askers": list(askers)})


def give_up(session: Session, study: Study, asker: str, count: int, *, now: datetime) -> None:
    """An ask without a key waits no longer: of all that gave up, the largest counts, for whoever asks next.

    Somebody who asks again and again would else be counted each time.
    """
    wait_no_more(session, study, [asker])
    wait(session, study, SOMEBODY, max(count, waiting(session, study, now=now).get(SOMEBODY, 0)), now=now)


def take(session: Session, study: Study, holder: str, *, now: datetime) -> bool:
    """Takes the study's suggest lease, or extends it; whether ``holder`` has it now."""
    lease = session.get(SuggestLease, study.serial)
    if lease is None:
        session.add(SuggestLease(study_serial=study.serial, holder=holder, expires_at=now + LEASE))
        return True
    if lease.holder != holder and lease.expires_at > now:
        return False
    lease.holder, lease.expires_at = holder, now + LEASE
    return True


def release(session: Session, study: Study, holder: str) -> bool:
    """Gives the lease back; whether ``holder`` still had it."""
    lease = session.get(SuggestLease, study.serial)
    if lease is None or lease.holder != holder:
        return False
    session.delete(lease)
    return True


def is_held(session: Session, study_serial: int, *, now: datetime) -> bool:
    """Whether some process computes for the study."""
    held = select(func.count()).where(SuggestLease.study_serial == study_serial, SuggestLease.expires_at > now)
    return bool(session.scalar(held))
