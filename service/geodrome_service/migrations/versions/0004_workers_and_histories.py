"""Indexes for the trials of a worker, for flagged ones, and for what happened to a trial."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FLAGGED = "ix_trials_flagged"
WORKERS = "ix_trials_study_serial_worker_number"
HISTORIES = "ix_events_study_serial_number_position"


def upgrade() -> None:
    """Makes them."""
    op.create_index(WORKERS, "trials", ["study_serial", "worker", "number"])
    flagged = sa.text("CAST(flags AS VARCHAR) <> '[]'")
    op.create_index(FLAGGED, "trials", ["study_serial", "number"], sqlite_where=flagged, postgresql_where=flagged)
    op.create_index(HISTORIES, "events", ["study_serial", "number", "position"])


def downgrade() -> None:
    """Drops them."""
    op.drop_index(HISTORIES, "events")
    op.drop_index(FLAGGED, "trials")
    op.drop_index(WORKERS, "trials")
