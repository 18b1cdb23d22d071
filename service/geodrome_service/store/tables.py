"""The tables: studies, their trials, every change of state in order; who waits and who computes; two kinds of keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Json = Any
"""A value that JSON can say."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, aware and in UTC on both sides, on databases that keep no time zone too."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 (SQLAlchemy's signature)
        """The moment in UTC; a naive one is refused, for nobody knows where its clock hangs."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} names no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 (SQLAlchemy's signature)
        """The stored moment, marked as the UTC that it is."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Names every constraint, so that migrations can speak of it on each database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        datetime: UtcDateTime(),
        float: Double(),
        # JSON null and SQL NULL mean the same here: nothing is known.
        Json: JSON(none_as_null=True),
    }


def table_of(kind: type[Base]) -> Table:
    """The table behind a class, for statements that make no objects: they cost a fraction."""
    table = kind.__table__
    assert isinstance(table, Table)
    return table


class Study(Base):
    """One row for each study: its definition, field by field as it travels, and its state.

    Attributes:
        serial: Counts studies in the order of their creation; stays inside the database.
        id: The public name that never changes, a UUID.
        queued, running, completed, failed, lost, abandoned: How many of its trials are in that state, see ``counting``.
        last_event: Position of its latest event.
    """

    __tablename__ = "studies"

    serial: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(String(36), unique=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    space: Mapped[Json]
    objective: Mapped[Json]
    kernel: Mapped[Json]
    acquisition: Mapped[Json]
    initial_design: Mapped[Json]
    noise: Mapped[str] = mapped_column(String(32))
    constraints: Mapped[Json]
    seed: Mapped[int] = mapped_column(BigInteger)  # up to 2^32
    max_attempts: Mapped[int]
    budget: Mapped[Json]
    lease_s: Mapped[float]
    # "metadata" is taken by SQLAlchemy.
    user_metadata: Mapped[Json] = mapped_column("metadata")
    queued: Mapped[int] = mapped_column(default=0)
    running: Mapped[int] = mapped_column(default=0)
    completed: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    lost: Mapped[int] = mapped_column(default=0)
    abandoned: Mapped[int] = mapped_column(default=0)
    last_event: Mapped[int] = mapped_column(default=0)


class Trial(Base):
    """One row for each point of a study and what became of it.

    Attributes:
        first_attempt: Number of the trial whose point this one repeats, its own number when it is the first.
        point: The point as it stands: what was executed once that was told, else what was suggested.
        suggested_point: The point as it was suggested; what a repeat offers again.
        recipe: What computes the suggestion again from the study's events: the call's seed, count, the place in its
            batch, the model's hyperparameters. None for a repeat, whose first attempt has it.
        lease_s: How long the worker's lease is, from the ask or from its latest heartbeat on.
        told: The body of the outcome that stands, to tell "the same again" from "otherwise".
    """

    __tablename__ = "trials"
    __table_args__ = (
        Index(None, "study_serial", "state", "number"),
        Index(None, "study_serial", "state", "cost", "number"),
        Index(None, "study_serial", "worker", "number"),
        Index(None, "study_serial", "first_attempt"),
        Index(None, "state", "lease_expires_at"),
    )

    study_serial: Mapped[int] = mapped_column(ForeignKey("studies.serial"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    state: Mapped[str] = mapped_column(String(16))
    attempt: Mapped[int]
    retry_of: Mapped[int | None]
    first_attempt: Mapped[int]
    point: Mapped[Json]
    suggested_point: Mapped[Json]
    origin: Mapped[Json]
    recipe: Mapped[Json | None]
    created_at: Mapped[datetime]
    worker: Mapped[str | None] = mapped_column(String(128))
    asked_at: Mapped[datetime | None]
    lease_s: Mapped[float | None]
    lease_expires_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]
    told: Mapped[Json | None]
    cost: Mapped[float | None]
    std: Mapped[float | None]
    values: Mapped[Json | None]
    reason: Mapped[str | None] = mapped_column(Text)
    metrics: Mapped[Json]
    user_metadata: Mapped[Json] = mapped_column("metadata")
    corrections: Mapped[Json]
    flags: Mapped[Json]


class Event(Base):
    """One row for each change of state, in the order in which they happened.

    Attributes:
        position: Counts the study's events from 1, without gaps.
        number: Of the trial that changed; None when it was the study.
    """

    __tablename__ = "events"
    __table_args__ = (Index(None, "study_serial", "number", "position"),)

    study_serial: Mapped[int] = mapped_column(ForeignKey("studies.serial"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int | None]
    at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(16))
    details: Mapped[Json]


class SuggestLease(Base):
    """One row for each study for which a process computes suggestions: no other does meanwhile.

    Attributes:
        holder: The process.
        expires_at: When others need wait no longer: the holder is dead, for else it would have extended the lease.
    """

    __tablename__ = "suggest_leases"

    study_serial: Mapped[int] = mapped_column(ForeignKey("studies.serial", ondelete="CASCADE"), primary_key=True)
    holder: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[datetime]


class WaitingAsk(Base):
    """One row for each ask that waits for suggestions: whoever computes does it for all of them.

    Attributes:
        asker: The same for repeats of one ask.
        count: Trials that it waits for.
        expires_at: When it waits no longer.
    """

    __tablename__ = "waiting_asks"

    study_serial: Mapped[int] = mapped_column(ForeignKey("studies.serial", ondelete="CASCADE"), primary_key=True)
    asker: Mapped[str] = mapped_column(String(64), primary_key=True)
    count: Mapped[int]
    expires_at: Mapped[datetime]


class IdempotencyKey(Base):
    """One row for each request that had its effect under a key, with the answer that it was given."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]
    answer: Mapped[Json]
    created_at: Mapped[datetime] = mapped_column(index=True)


class AccessKey(Base):
    """One row for each key that was ever made; see ``keys``.

    Attributes:
        id: Counts the keys; what people, the log and ``geodrome keys revoke`` call it.
        name: Whose it is, in words; may be empty.
        hash: SHA-256 of the key's text, which is kept nowhere.
    """

    __tablename__ = "access_keys"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
