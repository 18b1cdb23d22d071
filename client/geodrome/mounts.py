"""Commands that other parts of the distribution bring along; they run only where their extra is installed."""

from __future__ import annotations

import importlib.util
import pkgutil
from dataclasses import dataclass

import typer


@dataclass(frozen=True)
class Mount:
    """A command by name only: the client imports neither the service nor the robots.

    Attributes:
        target: ``module:attribute`` of a function, or of a ``typer.Typer`` with commands of its own.
        help: Its first line, for a list of commands that imports none of them.
        needs: What is missing where the command does not run, in words.
        extra: What ``pip install 'geodrome[…]'`` brings it.
    """

    target: str
    help: str
    needs: str
    extra: str


SERVICE = ("the service", "service")
ROBOTS = ("the robots", "robots")
BOTH = ("the service and the robots", "service,robots")

MOUNTS = {
    "serve": Mount(
        "geodrome_service.cli:serve",
        "Run the service until it is interrupted. What is not given comes from GEODROME_* variables or .env.",
        *SERVICE,
    ),
    "worker": Mount(
        "geodrome_service.worker_command:worker",
        "Compute suggestions for the servers of a Dask scheduler, until interrupted; waits while the scheduler is "
        "away.",
        *SERVICE,
    ),
    "keys": Mount(
        "geodrome_service.key_commands:app",
        "Make, list and revoke the keys that give access to a service.",
        *SERVICE,
    ),
    "db": Mount("geodrome_service.database_cli:app", "Look after a database: upgrade, check, backup, copy.", *SERVICE),
    "replay": Mount(
        "geodrome_service.database_cli:replay",
        "Compute every suggestion of a study again, from its events; exit code 1 at the first that differs.",
        *SERVICE,
    ),
    "demo": Mount(
        "geodrome_robots.cli:demo",
        "Tune a simulated Panda against a server of its own, and compare with random search.",
        *BOTH,
    ),
    "robot": Mount("geodrome_robots.cli:app", "Let a robot take part in a study.", *ROBOTS),
}


def announce(app: typer.Typer, name: str, extension: Mount) -> None:
    """Adds the command ``name`` to ``app`` to be listed, without what it does: nothing is imported."""
    there = importlib.util.find_spec(extension.target.partition(".")[0]) is not None
    app.command(name, help=extension.help if there else _needs(extension))(_nothing)


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

    @app.command(name, context_settings=settings, help=_needs(extension))
    def absent() -> None:
        raise error


def _needs(extension: Mount) -> str:
    return f"Needs {extension.needs}: install the extra {extension.extra}."


def _nothing() -> None:
    """Is listed, and never run."""
