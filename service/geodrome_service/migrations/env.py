"""How Alembic runs the migrations: within the transaction of the connection that it is given."""

from __future__ import annotations

from alembic import context

from geodrome_service.store.database import VERSION_TABLE
from geodrome_service.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite cannot alter most of a table in place
)
context.run_migrations()
