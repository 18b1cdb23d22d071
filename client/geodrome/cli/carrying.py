"""Commands that carry a whole study from one service to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from geodrome.cli import tables
from geodrome.cli.options import AsJson, StudyName, Timeout, Url, connected, output

CARRYING_S = 600.0  # a study of 100,000 trials takes minutes to look through


def export(
    study: StudyName,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write, instead of the output.")] = None,
    form: Annotated[
        Literal["json", "csv"], typer.Option("--format", help="json can be imported; csv is for spreadsheets.")
    ] = "json",
    url: Url = None,
    timeout_s: Timeout = CARRYING_S,
) -> None:
    """Write a whole study: its definition, trials and events."""
    with connected(url, timeout_s) as client:
        content = client.study(study).export(form)
    if output is None:
        typer.get_binary_stream("stdout").write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise typer.BadParameter(str(error), param_hint="--output") from error


def import_study(
    file: Annotated[Path, typer.Argument(help="What `geodrome study export` wrote.")],
    *,
    name: Annotated[str | None, typer.Option(help="Another name for the study.")] = None,
    url: Url = None,
    timeout_s: Timeout = CARRYING_S,
    as_json: AsJson = False,
) -> None:
    """Read a study that was exported; it goes on with the same suggestions."""
    with connected(url, timeout_s) as client:
        try:
            record = client.import_study(file, name=name).record
        except OSError as error:
            raise typer.BadParameter(str(error), param_hint="FILE") from error
    output(record, tables.show_study, as_json=as_json)
