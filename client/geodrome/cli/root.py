"""The whole command line, put together: which commands there are, and what happens when one cannot do its work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import typer

from geodrome import GeodromeError, __version__
from geodrome.cli import carrying, looking, own, service, studies, trials, watching
from geodrome.mounts import MOUNTS, announce, hint, mount

STUDY_COMMANDS: dict[str, Callable[..., Any]] = {
    "create": studies.create,
    "list": studies.list_studies,
    "show": studies.show,
    "update": studies.update,
    "pause": studies.pause,
    "resume": studies.resume,
    "close": studies.close,
    "delete": studies.delete,
    "best": looking.best,
    "model": looking.model,
    "predict": looking.predict,
    "views": looking.views,
    "events": looking.events,
    "export": carrying.export,
    "import": carrying.import_study,
}
"""Those behind ``geodrome study``."""

COMMANDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Trials": {
        "ask": trials.ask,
        "tell": trials.tell,
        "fail": trials.fail,
        "lose": trials.lose,
        "abandon": trials.abandon,
        "heartbeat": trials.heartbeat,
        "add": own.add,
        "enqueue": own.enqueue,
        "trials": looking.trials,
        "trial": looking.trial,
    },
    "Studies": {"watch": watching.watch},
    "The service": {"spaces": service.spaces, "problems": service.problems, "health": service.health},
}
"""The others, by subject."""

NUMBERS = frozenset({"tell", "add", "enqueue", "predict"})
"""Commands whose arguments may be negative numbers: they are not to be taken for options."""

COMPLETING = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Variables in which a shell passes the line that is to be completed."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits the process.

    Args:
        arguments: What stands after ``geodrome``; None takes it from the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    words = {*given, *(word for name in COMPLETING for word in os.environ.get(name, "").split())}
    try:
        command_line(words)(args=given, prog_name="geodrome")
    except GeodromeError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if not given or given[0] not in MOUNTS:
            raise
        _fail(hint(given[0], error))


def command_line(words: Collection[str]) -> typer.Typer:
    """All commands.

    Args:
        words: Those of the line. A part of the distribution that none of them names is not imported: its command is
            there only to be listed.
    """
    app = typer.Typer(
        name="geodrome",
        help="Geometry-aware Bayesian optimization for robots: ask for a point, run it, tell its cost.",
        no_args_is_help=True,
        invoke_without_command=True,  # for --version
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    study_app = typer.Typer(help="Make, change, list and look at studies.", no_args_is_help=True)
    for name, command in STUDY_COMMANDS.items():
        study_app.command(name, context_settings=_settings(name))(command)
    app.add_typer(study_app, name="study", rich_help_panel="Studies")
    for subject, commands in COMMANDS.items():
        for name, command in commands.items():
            app.command(name, context_settings=_settings(name), rich_help_panel=subject)(command)
    for name, extension in MOUNTS.items():
        (mount if name in words else announce)(app, name, extension)
    return app


def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def _settings(name: str) -> dict[str, Any]:
    return {"ignore_unknown_options": name in NUMBERS}


def _fail(message: str) -> None:
    typer.secho(f"geodrome: {message}", err=True, fg=typer.colors.RED)
    raise SystemExit(1)
