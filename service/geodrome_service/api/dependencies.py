"""What routes are given: the database, the transaction, the moment. This is the only place that commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from geodrome_service.roles import Role
from geodrome_service.store import leases, studies
from geodrome_service.store.database import Database

Result = TypeVar("Result")


# These wait for nothing. FastAPI would run plain functions in a thread each.


async def role(request: Request) -> Role:
    """Of the request's key; where there are no keys, everybody may do everything."""
    found: Role = request.scope["state"].get("role", Role.ADMIN)
    return found


async def database(request: Request) -> Database:
    """The application's database."""
    store: Database = request.app.state.database
    return store


async def moment() -> datetime:
    """The time at which the request is dealt with."""
    return datetime.now(UTC)


def transaction(store: Store) -> Iterator[Session]:
    """One transaction for the request, committed before the answer leaves, rolled back when the request is refused.

    Its first statement must come from the route itself: only then are all of a transaction's statements run in one
    thread, and no request holds the writer while it waits for a thread that others hold while they wait for the writer.
    """
    with store.write.begin() as session:
        yield session


@contextmanager
def looking(store: Database, now: datetime) -> Iterator[Session]:
    """One state of the database, in which every lease that has ended shows."""
    with store.read.begin() as session:
        serials = leases.with_ended_leases(session, now=now)
    for serial in serials:
        in_transaction(store, partial(_expire, serial=serial, now=now))
    with store.read.begin() as session:
        yield session


def reading(store: Store, now: Now) -> Iterator[Session]:
    """The same, for a whole request."""
    with looking(store, now) as session:
        yield session


def in_transaction(store: Database, work: Callable[[Session], Result]) -> Result:
    """What ``work`` returns, once its transaction is committed, all in one thread.

    For what robots call all the time: between its statements a ``Tx`` waits for the event loop, and others for it.
    """
    with store.write.begin() as session:
        return work(session)


def _expire(session: Session, *, serial: int, now: datetime) -> None:
    leases.expire(session, studies.locked(session, serial), now=now)


Store = Annotated[Database, Depends(database)]
CallerRole = Annotated[Role, Depends(role)]
Now = Annotated[datetime, Depends(moment)]
# The default scope would commit after the answer has left: a robot would believe in an outcome that was never stored.
Tx = Annotated[Session, Depends(transaction, scope="function")]
Reading = Annotated[Session, Depends(reading, scope="function")]
