"""``python -m geodrome_service`` runs the service."""

from __future__ import annotations

import typer

from geodrome_service.cli import serve

if __name__ == "__main__":  # a worker process imports this module too
    typer.run(serve)
