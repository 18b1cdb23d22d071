"""How a server runs. The command line reads these once and passes them down; nothing else looks at the environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """How a server runs.

    Attributes:
        database: The SQLite file.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        workers: Processes that compute suggestions.
    """

    database: Path
    host: str
    port: int
    workers: int
