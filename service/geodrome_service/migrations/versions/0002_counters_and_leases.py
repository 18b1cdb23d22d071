"""How many trials of a study are in each state; an index for its best; who waits for suggestions and who computes.

Events are counted within their study, from 1: the numbers are the same wherever the study is copied to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATES = ("queued", "running", "completed", "failed", "lost", "abandoned")

EVENT = ("study_serial", "number", "at", "kind", "details")

BEST = "ix_trials_study_serial_state_cost_number"


def upgrade() -> None:
    """Adds columns, an index and two tables, and counts the trials that are there."""
    for state in STATES:
        op.add_column("studies", sa.Column(state, sa.Integer, nullable=False, server_default="0"))
    studies = sa.table("studies", sa.column("serial"), *map(sa.column, STATES))
    trials = sa.table("trials", sa.column("study_serial"), sa.column("state"))
    counts = {
        state: sa.select(sa.func.count())
        .where(trials.c.study_serial == studies.c.serial, trials.c.state == state)
        .scalar_subquery()
        for state in STATES
    }
    op.execute(sa.update(studies).values(counts))
    op.create_index(BEST, "trials", ["study_serial", "state", "cost", "number"])
    op.add_column("trials", sa.Column("lease_s", sa.Double))
    _count_events_by_study()
    for table, own in (("suggest_leases", _holder()), ("waiting_asks", _asker())):
        op.create_table(
            table,
            sa.Column(
                "study_serial", sa.Integer, sa.ForeignKey("studies.serial", ondelete="CASCADE"), primary_key=True
            ),
            *own,
            sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        )


def downgrade() -> None:
    """Takes them away."""
    for table in ("waiting_asks", "suggest_leases"):
        op.drop_table(table)
    _count_events_together()
    with op.batch_alter_table("trials") as trials:
        trials.drop_column("lease_s")
    op.drop_index(BEST, "trials")
    with op.batch_alter_table("studies") as studies:
        for column in (*STATES, "last_event"):
            studies.drop_column(column)


def _count_events_by_study() -> None:
    op.add_column("studies", sa.Column("last_event", sa.Integer, nullable=False, server_default="0"))
    old = sa.table("events", sa.column("id"), *_typed())
    position = sa.func.row_number().over(partition_by=old.c.study_serial, order_by=old.c.id)
    rows = (
        op.get_bind().execute(sa.select(old.c.id, position.label("position"), *(old.c[name] for name in EVENT))).all()
    )
    op.drop_table("events")
    op.create_table(
        "events",
        sa.Column("study_serial", sa.Integer, sa.ForeignKey("studies.serial"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        *_event(),
    )
    _insert_events("position", rows)
    _rename_events({(row.study_serial, row.id): row.position for row in rows})
    studies = sa.table("studies", sa.column("serial"), sa.column("last_event"))
    events = sa.table("events", sa.column("study_serial"), sa.column("position"))
    last = sa.select(sa.func.max(events.c.position)).where(events.c.study_serial == studies.c.serial).scalar_subquery()
    op.execute(sa.update(studies).values(last_event=sa.func.coalesce(last, 0)))


def _count_events_together() -> None:
    old = sa.table("events", sa.column("position"), *_typed())
    number = sa.func.row_number().over(order_by=(old.c.at, old.c.study_serial, old.c.position))
    rows = op.get_bind().execute(sa.select(number.label("id"), old.c.position, *(old.c[name] for name in EVENT))).all()
    op.drop_table("events")
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_serial", sa.Integer, sa.ForeignKey("studies.serial"), nullable=False),
        *_event(),
    )
    op.create_index("ix_events_study_serial_id", "events", ["study_serial", "id"])
    _insert_events("id", rows)
    _rename_events({(row.study_serial, row.position): row.id for row in rows})
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT setval('events_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM events), false)")


def _insert_events(key: str, rows: Sequence[sa.Row[Any]]) -> None:
    events = sa.table("events", sa.column(key), *_typed())
    if rows:
        op.get_bind().execute(sa.insert(events), [{key: getattr(row, key), **_values(row)} for row in rows])


def _rename_events(names: Mapping[tuple[int, int], int]) -> None:
    """Says in the trials' recipes, too, which event was the last that they know of."""
    trials = sa.table("trials", sa.column("study_serial"), sa.column("number"), sa.column("recipe", sa.JSON))
    for study, number, recipe in op.get_bind().execute(sa.select(trials).where(trials.c.recipe.is_not(None))).all():
        if (after := (recipe or {}).get("after_event")) is not None:
            changed = {**recipe, "after_event": names[study, after]}
            same = (trials.c.study_serial == study) & (trials.c.number == number)
            op.execute(sa.update(trials).where(same).values(recipe=changed))


def _typed() -> list[sa.ColumnClause[Any]]:
    types: dict[str, sa.types.TypeEngine[Any]] = {"at": sa.DateTime(timezone=True), "details": sa.JSON()}
    return [sa.column(name, types.get(name)) for name in EVENT]


def _values(row: sa.Row[Any]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in EVENT}


def _event() -> list[sa.Column[Any]]:
    return [
        sa.Column("number", sa.Integer),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
    ]


def _holder() -> list[sa.Column[str]]:
    return [sa.Column("holder", sa.String(64), nullable=False)]


def _asker() -> list[sa.Column[str] | sa.Column[int]]:
    return [sa.Column("asker", sa.String(64), primary_key=True), sa.Column("count", sa.Integer, nullable=False)]
