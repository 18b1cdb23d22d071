"""Studies, their trials, what happened to them, and the idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the tables."""
    _make_studies()
    _make_trials()
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_serial", sa.Integer, sa.ForeignKey("studies.serial"), nullable=False),
        sa.Column("number", sa.Integer),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
    )
    op.create_index("ix_events_study_serial_id", "events", ["study_serial", "id"])
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])


def downgrade() -> None:
    """Drops the tables."""
    for table in ("idempotency_keys", "events", "trials", "studies"):
        op.drop_table(table)


def _make_studies() -> None:
    op.create_table(
        "studies",
        sa.Column("serial", sa.Integer, primary_key=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("name", sa.String(128), nullable=False, unique=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("space", sa.JSON, nullable=False),
        sa.Column("objective", sa.JSON, nullable=False),
        sa.Column("kernel", sa.JSON, nullable=False),
        sa.Column("acquisition", sa.JSON, nullable=False),
        sa.Column("initial_design", sa.JSON, nullable=False),
        sa.Column("noise", sa.String(32), nullable=False),
        sa.Column("constraints", sa.JSON, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("budget", sa.JSON, nullable=False),
        sa.Column("lease_s", sa.Double, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
    )


def _make_trials() -> None:
    op.create_table(
        "trials",
        sa.Column("study_serial", sa.Integer, sa.ForeignKey("studies.serial"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("retry_of", sa.Integer),
        sa.Column("first_attempt", sa.Integer, nullable=False),
        sa.Column("point", sa.JSON, nullable=False),
        sa.Column("suggested_point", sa.JSON, nullable=False),
        sa.Column("origin", sa.JSON, nullable=False),
        sa.Column("recipe", sa.JSON),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("worker", sa.String(128)),
        sa.Column("asked_at", sa.DateTime(timezone=True)),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True)),
        sa.Column("told_at", sa.DateTime(timezone=True)),
        sa.Column("told", sa.JSON),
        sa.Column("cost", sa.Double),
        sa.Column("std", sa.Double),
        sa.Column("values", sa.JSON),
        sa.Column("reason", sa.Text),
        sa.Column("metrics", sa.JSON, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("corrections", sa.JSON, nullable=False),
        sa.Column("flags", sa.JSON, nullable=False),
    )
    op.create_index("ix_trials_study_serial_state_number", "trials", ["study_serial", "state", "number"])
    op.create_index("ix_trials_study_serial_first_attempt", "trials", ["study_serial", "first_attempt"])
    op.create_index("ix_trials_state_lease_expires_at", "trials", ["state", "lease_expires_at"])
