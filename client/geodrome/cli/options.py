"""Options and arguments that several commands have, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from geodrome import Client, Study, schemas
from geodrome.cli import reading

Record = TypeVar("Record", bound=BaseModel)

PATIENCE_S = 30.0  # enough to outlast a restart of the service, short enough to wait for at a terminal

Url = Annotated[
    str | None,
    typer.Option(
        "--url", envvar="GEODROME_URL", help="Where the service listens.", show_default="http://127.0.0.1:8100"
    ),
]
Timeout = Annotated[float, typer.Option("--timeout-s", min=1, help="Seconds to try before giving up.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, as the service sends it.")]
AsJsonLines = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, one object a line.")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name or id of the study.")]
TrialNumber = Annotated[int, typer.Argument(help="Number of the trial.")]
Form = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Points in another form: order=xyzw, unit=deg …; may be repeated."),
]
Metric = Annotated[
    list[str] | None, typer.Option(metavar="NAME=NUMBER", help="A further number to keep; may be repeated.")
]
Metadata = Annotated[str | None, typer.Option(help="Anything else to keep: a mapping as YAML, JSON or @FILE.")]
Std = Annotated[float | None, typer.Option(help="Standard deviation of the cost; 0 if it is exact.")]
LeaseS = Annotated[float | None, typer.Option("--lease-s", help="How long a trial is reserved, in seconds.")]
PointsFile = Annotated[
    Path | None, typer.Option("--file", "-f", help="A list of points as YAML or JSON; - is the input.")
]


def connected(url: str | None, timeout_s: float) -> Client:
    """A client of the service.

    Raises:
        typer.BadParameter: The address or the key cannot be used.
    """
    try:
        return Client(url, timeout_s=timeout_s)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--url or GEODROME_KEY") from error


def opened(client: Client, name: str, form: Sequence[str] | None) -> Study:
    """The study, with points in the form that ``--form`` says.

    Raises:
        typer.BadParameter: There is no such form.
    """
    wanted = dict(_pair(text, "--form") for text in form or ())
    try:
        schemas.FormQuery.model_validate(wanted)
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False)
        raise typer.BadParameter(f"{first['loc'][0]}: {first['msg']}", param_hint="--form") from error
    study = client.study(name)
    return study.in_form(**wanted) if wanted else study  # type: ignore[arg-type] # they are checked


def metrics_of(texts: Iterable[str] | None) -> dict[str, float] | None:
    """The numbers of ``--metric``.

    Raises:
        typer.BadParameter: One is no number.
    """
    return {name: _number(text, value) for text in texts or () for name, value in [_pair(text, "--metric")]} or None


def metadata_of(text: str | None) -> dict[str, Any] | None:
    """The mapping of ``--metadata``."""
    return None if text is None else reading.mapping(text, "--metadata")


def point_of(text: str) -> schemas.Point:
    """The point that an argument says.

    Raises:
        typer.BadParameter: It cannot be read, or is an option that there is not.
    """
    # Where negative numbers may stand, unknown options arrive as arguments.
    if text.startswith("--"):
        raise typer.BadParameter(f"no such option: {text}")
    return reading.value(text, "POINT")


def points_of(texts: Sequence[str] | None, file: Path | None) -> list[schemas.Point]:
    """The points that are given as arguments, or those in a file.

    Raises:
        typer.BadParameter: There are none, both, or the file has no list.
    """
    if bool(texts) == (file is not None):
        raise typer.BadParameter("give either points or a file of them", param_hint="POINT or --file")
    if file is None:
        return [point_of(text) for text in texts or ()]
    found = reading.document(file, "--file")
    if not isinstance(found, list) or not found:
        raise typer.BadParameter(f"{file} holds no list of points", param_hint="--file")
    return found


def costs_of(costs: Sequence[float] | None) -> dict[str, Any]:
    """The fields of a tell: one cost, or several measurements of the same point."""
    match list(costs or ()):
        case []:
            return {}
        case [cost]:
            return {"cost": cost}
        case several:
            return {"costs": several}


def echo(record: BaseModel) -> None:
    """Prints a record as JSON, on one line."""
    typer.echo(record.model_dump_json())


def output(record: Record, show: Callable[[Record], None], *, as_json: bool) -> None:
    """Prints a record: as JSON, or as ``show`` does for people."""
    (echo if as_json else show)(record)


def _pair(text: str, hint: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"name=value, got {text!r}", param_hint=hint)
    return name, value


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise typer.BadParameter(f"name=value with a number, got {text!r}", param_hint="--metric") from error
