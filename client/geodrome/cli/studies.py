"""Commands that make, change and list studies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from geodrome import schemas
from geodrome.cli import places, reading, tables
from geodrome.cli.options import (
    PATIENCE_S,
    AsJson,
    LeaseS,
    Metadata,
    StudyName,
    Timeout,
    Url,
    connected,
    metadata_of,
    output,
)

FIELDS = schemas.StudyCreate.model_fields.keys()


def create(
    name: Annotated[str | None, typer.Argument(help="Unique name of the study; that of the file if not given.")] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="The whole study as YAML or JSON; - is the input.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Sets a field: space.k.eigenvalues=[10,3000]; may be repeated."
        ),
    ] = None,
    space: Annotated[
        str | None, typer.Option(help='What is searched, as JSON, YAML or @FILE: \'{"type": "rotation"}\'.')
    ] = None,
    nu: Annotated[
        str | None, typer.Option(help="Smoothness of the Matérn kernel: 0.5, 1.5, 2.5 …, inf or learn.")
    ] = None,
    goal: Annotated[Literal["minimize", "maximize"] | None, typer.Option(help="What the cost is for.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the suggestions.")] = None,
    budget: Annotated[int | None, typer.Option(help="How many trials may be spent.")] = None,
    lease_s: LeaseS = None,
    initial_size: Annotated[int | None, typer.Option("--initial-size", help="Points before the model begins.")] = None,
    if_exists: Annotated[Literal["error", "load"] | None, typer.Option(help="If the name is taken.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Make a study: from options, or from a file, in which options replace fields, and --set those of both."""
    given = {
        "name": name,
        "space": None if space is None else reading.mapping(space, "--space"),
        "kernel.nu": None if nu is None else _nu(nu),
        "objective.goal": goal,
        "seed": seed,
        "budget.trials": budget,
        "lease_s": lease_s,
        "initial_design.size": initial_size,
        "if_exists": if_exists,
    }
    body = _definition(file, given, setting or ())
    with connected(url, timeout_s) as client:
        record = client.create_study(**body).record
    output(record, tables.show_study, as_json=as_json)


def list_studies(
    *,
    prefix: Annotated[str | None, typer.Option(help="Only names that begin so.")] = None,
    state: Annotated[schemas.StudyState | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """List the studies, newest first."""
    with connected(url, timeout_s) as client:
        records = [study.record for study in islice(client.studies(state=state, name_prefix=prefix), limit)]
    page = schemas.StudyPage(studies=records, next_cursor=None)
    output(page, lambda answer: tables.show_studies(answer.studies), as_json=as_json)


def show(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Show a study's definition and how far it is."""
    with connected(url, timeout_s) as client:
        record = client.study(study).record
    output(record, tables.show_study, as_json=as_json)


def update(
    study: StudyName,
    *,
    budget: Annotated[
        str | None, typer.Option(metavar="N|none", help="How many trials may be spent; none for no limit.")
    ] = None,
    lease_s: LeaseS = None,
    metadata: Metadata = None,
    state: Annotated[schemas.StudyState | None, typer.Option(help="As pause, resume and close do.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Change a study's budget, lease, metadata or state."""
    changes = {
        "budget": None if budget is None else {"trials": _limit(budget)},
        "lease_s": lease_s,
        "metadata": metadata_of(metadata),
        "state": state,
    }
    if all(value is None for value in changes.values()):
        raise typer.BadParameter("nothing is to change", param_hint="--budget, --lease-s, --metadata or --state")
    _change(study, changes, url, timeout_s, as_json=as_json)


def pause(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Hand out no points until resume; what is told is still stored."""
    _change(study, {"state": schemas.StudyState.PAUSED}, url, timeout_s, as_json=as_json)


def resume(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Hand out points again."""
    _change(study, {"state": schemas.StudyState.ACTIVE}, url, timeout_s, as_json=as_json)


def close(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Hand out no points any more, for good; what is told is still stored."""
    _change(study, {"state": schemas.StudyState.CLOSED}, url, timeout_s, as_json=as_json)


def delete(
    study: StudyName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
) -> None:
    """Delete a study with all its trials, for good; asks before."""
    with connected(url, timeout_s) as client:
        found = client.study(study)
        trials = sum(dict(found.record.counts).values())
        if not yes:
            _confirm(f"Delete study {found.name} with its {trials} trials, for good? [y/N] ")
        found.delete()
    typer.echo(f"study {found.name} is deleted")


def _definition(file: Path | None, given: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The body of a request that makes the study.

    Raises:
        typer.BadParameter: It has no name or space, or a field that no study has.
    """
    body = {} if file is None else reading.document(file, "--file")
    if not isinstance(body, dict):
        raise typer.BadParameter(f"{file} holds no study, but {body!r}", param_hint="--file")
    for path, value in given.items():
        if value is not None:
            _put(body, path, value, "--file")
    for text in settings:
        path, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"path=value, got {text!r}", param_hint="--set")
        _put(body, path, reading.value(value, f"--set {path}"), "--set")
    if unknown := body.keys() - FIELDS:
        raise typer.BadParameter(f"no field of a study: {', '.join(sorted(unknown))}; there are {', '.join(FIELDS)}")
    for field, hint in {"name": "NAME", "space": "--space or --file"}.items():
        if body.get(field) is None:
            raise typer.BadParameter(f"a study needs a {field}", param_hint=hint)
    return body


def _put(body: dict[str, Any], path: str, value: Any, hint: str) -> None:
    try:
        places.put(body, path, value)
    except places.NoSuchPlace as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


def _change(study: str, changes: dict[str, Any], url: str | None, timeout_s: float, *, as_json: bool) -> None:
    with connected(url, timeout_s) as client:
        record = client.study(study).update(**changes).record
    output(record, tables.show_study, as_json=as_json)


def _confirm(question: str) -> None:
    # typer.confirm writes a blank to the output, where nothing but data belongs.
    typer.echo(question, err=True, nl=False)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise typer.Abort


def _nu(text: str) -> float | str:
    try:
        return text if text in {"inf", "learn"} else float(text)
    except ValueError as error:
        raise typer.BadParameter(f"a number or inf or learn, got {text!r}", param_hint="--nu") from error


def _limit(text: str) -> int | None:
    try:
        return None if text == "none" else int(text)
    except ValueError as error:
        raise typer.BadParameter(f"a whole number or none, got {text!r}", param_hint="--budget") from error
