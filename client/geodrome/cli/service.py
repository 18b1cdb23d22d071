"""Commands about the service itself: spaces that it searches, problems that it answers with, its health."""

from __future__ import annotations

import inspect
import json
from typing import Annotated

import typer

from geodrome import __version__
from geodrome.cli import lists
from geodrome.cli.options import PATIENCE_S, AsJson, Timeout, Url, connected
from geodrome.errors import PROBLEMS, Problem

HEALTH_S = 5.0  # who asks wants to know now


def spaces(
    name: Annotated[str | None, typer.Argument(metavar="[TYPE]", help="Only this type, field by field.")] = None,
    *,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """List the types of spaces, or the fields of one; as JSON, their JSON schemas."""
    with connected(url, timeout_s) as client:
        types = client.space_types()
    if name is not None and name not in types:
        raise typer.BadParameter(f"no type {name!r}; there are {', '.join(types)}", param_hint="TYPE")
    if as_json:
        typer.echo(json.dumps({"types": types} if name is None else types[name]))
    elif name is None:
        lists.show_spaces(types)
    else:
        lists.show_space(types[name])


def problems(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="Only this one, explained.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the problems that the service may answer with, or explain one; no service is needed."""
    if code is not None and code not in PROBLEMS:
        raise typer.BadParameter(f"no problem {code!r}; there are {', '.join(PROBLEMS)}", param_hint="CODE")
    pages = [_page(kind) for kind in PROBLEMS.values() if code in {None, kind.code}]
    if as_json:
        typer.echo(json.dumps({"problems": pages} if code is None else pages[0]))
    elif code is None:
        lists.show_problems(pages)
    else:
        lists.show_problem(pages[0])


def health(*, url: Url = None, timeout_s: Timeout = HEALTH_S, as_json: AsJson = False) -> None:
    """Say whether the service lives and is ready: 1 is the exit code where it is not."""
    with connected(url, timeout_s) as client:
        lives, found = client.health(), client.readiness()
        shown = {"url": client.url, "version": lives.version, "client": __version__, **found.model_dump()}
    if as_json:
        typer.echo(json.dumps(shown))
    else:
        lists.show_health(shown)
    if not (found.database and found.compute):
        raise typer.Exit(1)


def _page(kind: type[Problem]) -> dict[str, str | int | bool]:
    # As the service explains it at /problems/{code}.
    return {
        "code": kind.code,
        "status": kind.status,
        "title": kind.title,
        "explanation": inspect.getdoc(kind) or kind.title,
        "retryable": kind.retryable,
    }
