"""How many trials of a study are in each state; an index for its best; who waits for suggestions and who computes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATES = ("queued", "running", "completed", "failed", "lost", "abandoned")

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
    op.drop_index(BEST, "trials")
    with op.batch_alter_table("studies") as studies:
        for state in STATES:
            studies.drop_column(state)


def _holder() -> list[sa.Column[str]]:
    return [sa.Column("holder", sa.String(64), nullable=False)]


def _asker() -> list[sa.Column[str] | sa.Column[int]]:
    return [sa.Column("asker", sa.String(64), primary_key=True), sa.Column("count", sa.Integer, nullable=False)]
