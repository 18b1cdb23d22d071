"""Indexes for the trials of a worker, and for what happened to a trial."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WORKERS = "ix_trials_study_serial_worker_number"
HISTORIES = "ix_events_study_serial_number_position"


def upgrade() -> None:
    """Makes them."""
    op.create_index(WORKERS, "trials", ["study_serial", "worker", "number"])
    op.create_index(HISTORIES, "events", ["study_serial", "number", "position"])


def downgrade() -> None:
    """Drops them."""
    op.drop_index(HISTORIES, "events")
    op.drop_index(WORKERS, "trials")
