"""Commands of whoever runs trials: ask for a point, say what became of it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from geodrome import schemas
from geodrome.cli import reading, tables
from geodrome.cli.options import (
    PATIENCE_S,
    AsJson,
    Form,
    LeaseS,
    Metadata,
    Metric,
    Std,
    StudyName,
    Timeout,
    TrialNumber,
    Url,
    connected,
    costs_of,
    echo,
    metadata_of,
    metrics_of,
    opened,
)

Reason = Annotated[str, typer.Option(help="Why, in words.")]


def ask(
    study: StudyName,
    *,
    count: Annotated[int, typer.Option(help="How many points, to be run side by side.")] = 1,
    worker: Annotated[str | None, typer.Option(help="Who asks; gets back a trial that it left running.")] = None,
    lease_s: LeaseS = None,
    resume: Annotated[
        bool, typer.Option(" /--new", help="A new point, even if the worker left a trial running.", show_default=False)
    ] = True,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Ask for the next point."""
    with connected(url, timeout_s) as client:
        handles = opened(client, study, form).ask_batch(count, worker=worker, lease_s=lease_s, resume=resume)
    records = [trial.record for trial in handles]
    if as_json:
        echo(schemas.Trials(trials=records))
    else:
        tables.show_asked(records)


def tell(
    study: StudyName,
    number: TrialNumber,
    cost: Annotated[
        list[str] | None,
        typer.Argument(help="Its cost, several if it was measured so often; only a completed trial has one."),
    ] = None,
    *,
    outcome: Annotated[schemas.Outcome, typer.Option(help="What became of it.")] = schemas.Outcome.COMPLETED,
    reason: Annotated[str | None, typer.Option(help="Why it failed, was lost or is abandoned.")] = None,
    std: Std = None,
    point: Annotated[
        str | None, typer.Option(help="What was really executed, if it differs: as YAML, JSON or @FILE.")
    ] = None,
    metric: Metric = None,
    metadata: Metadata = None,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Tell what became of a trial. Telling the same again is harmless."""
    told: dict[str, Any] = {
        **costs_of([_cost(text) for text in cost or ()]),
        "std": std,
        "point": None if point is None else reading.value(point, "--point"),
        "reason": reason,
        "metrics": metrics_of(metric),
        "metadata": metadata_of(metadata),
    }
    with connected(url, timeout_s) as client:
        record = opened(client, study, form).tell(number, outcome=outcome, **told)
    _show(record, as_json=as_json)


def fail(
    study: StudyName,
    number: TrialNumber,
    *,
    reason: Reason,
    metric: Metric = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Tell that a trial ran and went wrong (e-stop, joint limit): the search keeps away from such points."""
    _end(study, number, schemas.Outcome.FAILED, reason, metric, url=url, timeout_s=timeout_s, as_json=as_json)


def lose(
    study: StudyName,
    number: TrialNumber,
    *,
    reason: Reason,
    metric: Metric = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Tell that the lab broke (network, simulator), or release a trial: its point is offered again."""
    _end(study, number, schemas.Outcome.LOST, reason, metric, url=url, timeout_s=timeout_s, as_json=as_json)


def abandon(
    study: StudyName,
    number: TrialNumber,
    *,
    reason: Reason,
    metric: Metric = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Never try this again; also takes back a completed trial, when a bad sensor is found later."""
    _end(study, number, schemas.Outcome.ABANDONED, reason, metric, url=url, timeout_s=timeout_s, as_json=as_json)


def heartbeat(
    study: StudyName,
    number: TrialNumber,
    *,
    lease_s: LeaseS = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Keep a running trial: its lease ends so much later."""
    with connected(url, timeout_s) as client:
        record = client.study(study).heartbeat(number, lease_s=lease_s)
    if as_json:
        echo(record)
    else:
        tables.show_asked([record])


def _end(
    study: str,
    number: int,
    outcome: schemas.Outcome,
    reason: str,
    metric: list[str] | None,
    *,
    url: str | None,
    timeout_s: float,
    as_json: bool,
) -> None:
    metrics = metrics_of(metric)
    with connected(url, timeout_s) as client:
        record = client.study(study).tell(number, outcome=outcome, reason=reason, metrics=metrics)
    _show(record, as_json=as_json)


def _cost(text: str) -> float:
    # Not typer's own conversion: unknown options arrive here too, and its error does not name what it got.
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"a cost is a number, got {text!r}", param_hint="'cost'") from error


def _show(record: schemas.Trial, *, as_json: bool) -> None:
    if as_json:
        echo(record)
    else:
        tables.show_told(record)
