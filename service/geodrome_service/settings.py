"""How a service runs: from ``GEODROME_*`` variables, a ``.env`` file, or the command line, which goes first.

Nothing else looks at the environment.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """How a service runs."""

    model_config = SettingsConfigDict(env_prefix="GEODROME_", env_file=".env", extra="ignore", frozen=True)

    database_url: Annotated[str, Field(description="SQLite file, which is made, or `postgresql://user@host/name`.")] = (
        "geodrome.db"
    )
    database_connections: Annotated[int, Field(ge=2, description="Connections to the database, at most.")] = 8
    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8100
    workers: Annotated[int, Field(ge=1, description="Processes that compute suggestions.")] = 1
