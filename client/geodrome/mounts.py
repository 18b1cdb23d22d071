"""Commands that other parts of the distribution bring along; they run only where their extra is installed."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass

import typer


@dataclass(frozen=True)
class Mount:
    """A command by name only: the client imports neither the service nor the robots.

    Attributes:
        target: ``module:attribute`` of a function, or of a ``typer.Typer`` with commands of its own.
        needs: What is missing where the command does not run, in words.
        extra: What ``pip install 'geodrome[…]'`` brings it.
    """

    target: str
    needs: str
    extra: str


MOUNTS = {
    "serve": Mount("geodrome_service.cli:serve", "the service", "service"),
    "worker": Mount("geodrome_service.worker_command:worker", "the service", "service"),
    "keys": Mount("geodrome_service.key_commands:app", "the service", "service"),
    "db": Mount("geodrome_service.database_cli:app", "the service", "service"),
    "replay": Mount("geodrome_service.database_cli:replay", "the service", "service"),
    "demo": Mount("geodrome_robots.cli:demo", "the service and the robots", "service,robots"),
    "robot": Mount("geodrome_robots.cli:app", "the robots", "robots"),
}


def mount(app: typer.Typer, name: str, extension: Mount) -> None:
    """Adds the command ``name`` to ``app``; where its package is absent, one that raises ModuleNotFoundError."""
    try:
        target = pkgutil.resolve_name(extension.target)
    except ModuleNotFoundError as error:
        _mount_absent(app, name, extension, error)
        return
    if isinstance(target, typer.Typer):
        app.add_typer(target, name=name)
    else:
        app.command(name)(target)


def hint(name: str, error: ModuleNotFoundError) -> str:
    """What to do about a module that the command ``name`` misses."""
    extension = MOUNTS[name]
    return f"geodrome {name} needs {extension.needs}: pip install 'geodrome[{extension.extra}]' ({error})"


def _mount_absent(app: typer.Typer, name: str, extension: Mount, error: ModuleNotFoundError) -> None:
    # Whatever the arguments, the answer is the same.
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, context_settings=settings, help=f"Needs {extension.needs}: install the extra {extension.extra}.")
    def absent() -> None:
        raise error
