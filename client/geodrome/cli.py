"""The command line: ``geodrome …``.

Exit code 0: done. 1: the service refused or cannot be reached; the error stream says why. 2: wrong usage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel

from geodrome import Client, GeodromeError, __version__, schemas, tables
from geodrome.mounts import MOUNTS, hint, mount

PATIENCE_S = 30.0  # enough to outlast a restart of the service, short enough to wait for at a terminal
CARRYING_S = 600.0  # a study of 100,000 trials takes minutes to look through

app = typer.Typer(
    name="geodrome",
    help="Geometry-aware Bayesian optimization for robots: ask for a point, run it, tell its cost.",
    no_args_is_help=True,
    invoke_without_command=True,  # for --version
    add_completion=False,
    pretty_exceptions_enable=False,
)
study_app = typer.Typer(help="Make, list and look at studies.", no_args_is_help=True)
app.add_typer(study_app, name="study")

Url = Annotated[
    str | None,
    typer.Option(
        "--url", envvar="GEODROME_URL", help="Where the service listens.", show_default="http://127.0.0.1:8100"
    ),
]
Timeout = Annotated[float, typer.Option("--timeout-s", min=1, help="Seconds to try before giving up.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, as the service sends it.")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name or id of the study.")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits the process.

    Args:
        arguments: What stands after ``geodrome``; None takes it from the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _mounted()(args=given, prog_name="geodrome")
    except GeodromeError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if not given or given[0] not in MOUNTS:
            raise
        _fail(hint(given[0], error))


@app.callback()
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@study_app.command("create")
def create_study(
    name: Annotated[str, typer.Argument(help="Unique name of the study.")],
    *,
    space: Annotated[str, typer.Option(help='What is searched, as JSON, or @file.json: \'{"type": "rotation"}\'.')],
    nu: Annotated[str | None, typer.Option(help="Smoothness of the Matérn kernel: 0.5, 1.5, 2.5 … or inf.")] = None,
    goal: Annotated[Literal["minimize", "maximize"] | None, typer.Option(help="What the cost is for.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the suggestions.")] = None,
    budget: Annotated[int | None, typer.Option(help="How many trials may be spent.")] = None,
    lease_s: Annotated[
        float | None, typer.Option("--lease-s", help="How long a trial is reserved, in seconds.")
    ] = None,
    initial_size: Annotated[int | None, typer.Option("--initial-size", help="Points before the model begins.")] = None,
    if_exists: Annotated[Literal["error", "load"], typer.Option("--if-exists", help="If the name is taken.")] = "error",
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Make a study."""
    definition: dict[str, Any] = {
        "kernel": None if nu is None else {"nu": _nu(nu)},
        "objective": None if goal is None else {"goal": goal},
        "seed": seed,
        "budget": None if budget is None else {"trials": budget},
        "lease_s": lease_s,
        "initial_design": None if initial_size is None else {"size": initial_size},
    }
    searched = _space(space)
    with _client(url, timeout_s) as client:
        record = client.create_study(name, space=searched, if_exists=if_exists, **definition).record
    if as_json:
        _echo(record)
    else:
        tables.show_study(record)


@study_app.command("list")
def list_studies(
    *,
    prefix: Annotated[str | None, typer.Option(help="Only names that begin so.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """List the studies, newest first."""
    with _client(url, timeout_s) as client:
        records = [study.record for study in client.studies(name_prefix=prefix)]
    if as_json:
        _echo(schemas.StudyPage(studies=records, next_cursor=None))
    else:
        tables.show_studies(records)


@study_app.command("show")
def show_study(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Show a study's definition and how far it is."""
    with _client(url, timeout_s) as client:
        record = client.study(study).record
    if as_json:
        _echo(record)
    else:
        tables.show_study(record)


@study_app.command("best")
def show_best(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Show the best trial observed and the point that the model recommends."""
    with _client(url, timeout_s) as client:
        best = client.study(study).best()
    if as_json:
        _echo(best)
    else:
        tables.show_best(best)


@study_app.command("model")
def show_model(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Show the model of the costs: lengthscales, noise, and how far it can be trusted."""
    with _client(url, timeout_s) as client:
        found = client.study(study)
        model = found.model()
    if as_json:
        _echo(schemas.StudyModel(model=model))
    else:
        tables.show_model(model, found.record.objective.unit)


@study_app.command("export")
def export_study(
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
    with _client(url, timeout_s) as client:
        content = client.study(study).export(form)
    if output is None:
        typer.get_binary_stream("stdout").write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise typer.BadParameter(str(error), param_hint="--output") from error


@study_app.command("import")
def import_study(
    file: Annotated[Path, typer.Argument(help="What `geodrome study export` wrote.")],
    *,
    name: Annotated[str | None, typer.Option(help="Another name for the study.")] = None,
    url: Url = None,
    timeout_s: Timeout = CARRYING_S,
    as_json: AsJson = False,
) -> None:
    """Read a study that was exported; it goes on with the same suggestions."""
    with _client(url, timeout_s) as client:
        try:
            record = client.import_study(file, name=name).record
        except OSError as error:
            raise typer.BadParameter(str(error), param_hint="FILE") from error
    if as_json:
        _echo(record)
    else:
        tables.show_study(record)


@app.command()
def ask(
    study: StudyName,
    *,
    count: Annotated[int, typer.Option(help="How many points, to be run side by side.")] = 1,
    worker: Annotated[str | None, typer.Option(help="Who asks; gets back a trial that it left running.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Ask for the next point."""
    with _client(url, timeout_s) as client:
        records = [trial.record for trial in client.study(study).ask_batch(count, worker=worker)]
    if as_json:
        _echo(schemas.Trials(trials=records))
    else:
        tables.show_asked(records)


# A cost may be negative: without this, "-0.5" is taken for an option.
@app.command(context_settings={"ignore_unknown_options": True})
def tell(
    study: StudyName,
    number: Annotated[int, typer.Argument(help="Number of the trial.")],
    cost: Annotated[float | None, typer.Argument(help="Its cost; only a completed trial has one.")] = None,
    *,
    outcome: Annotated[schemas.Outcome, typer.Option(help="What became of it.")] = schemas.Outcome.COMPLETED,
    reason: Annotated[str | None, typer.Option(help="Why it failed, was lost or is abandoned.")] = None,
    std: Annotated[float | None, typer.Option(help="Standard deviation of the cost; 0 if it is exact.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A further number, name=value; may be repeated.")] = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Tell what became of a trial."""
    metrics = dict(_metric(text) for text in metric or ())
    with _client(url, timeout_s) as client:
        record = client.study(study).tell(
            number, outcome=outcome, cost=cost, reason=reason, std=std, metrics=metrics or None
        )
    if as_json:
        _echo(record)
    else:
        tables.show_told(record)


@cache
def _mounted() -> typer.Typer:
    # Here and not at import, so that importing this module imports no other part.
    for name, extension in MOUNTS.items():
        mount(app, name, extension)
    return app


def _client(url: str | None, timeout_s: float) -> Client:
    try:
        return Client(url, timeout_s=timeout_s)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--url or GEODROME_KEY") from error


def _space(text: str) -> Any:
    try:
        return json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"neither JSON nor @file.json: {error}", param_hint="--space") from error


def _nu(text: str) -> float | str:
    try:
        return text if text == "inf" else float(text)
    except ValueError as error:
        raise typer.BadParameter(f"a number or inf, got {text!r}", param_hint="--nu") from error


def _metric(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError as error:
        raise typer.BadParameter(f"name=value with a number, got {text!r}", param_hint="--metric") from error


def _echo(record: BaseModel) -> None:
    typer.echo(record.model_dump_json())


def _fail(message: str) -> None:
    typer.secho(f"geodrome: {message}", err=True, fg=typer.colors.RED)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
