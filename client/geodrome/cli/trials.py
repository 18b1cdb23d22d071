"""Commands of whoever runs trials: ask for a point, say what became of it."""

from __future__ import annotations

from collections.abc import Callable
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
    metadata_of,
    metrics_of,
    opened,
    output,
)


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
    asked = schemas.Trials(trials=[trial.record for trial in handles])
    output(asked, lambda answer: tables.show_asked(answer.trials), as_json=as_json)


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
    output(record, tables.show_told, as_json=as_json)


def _ending(outcome: schemas.Outcome, explanation: str) -> Callable[..., None]:
    """A command that tells an outcome without a cost."""

    def end(
        study: StudyName,
        number: TrialNumber,
        *,
        reason: Annotated[str, typer.Option(help="Why, in words.")],
        metric: Metric = None,
        url: Url = None,
        timeout_s: Timeout = PATIENCE_S,
        as_json: AsJson = False,
    ) -> None:
        metrics = metrics_of(metric)
        with connected(url, timeout_s) as client:
            record = client.study(study).tell(number, outcome=outcome, reason=reason, metrics=metrics)
        output(record, tables.show_told, as_json=as_json)

    end.__doc__ = explanation
    return end


fail = _ending(
    schemas.Outcome.FAILED,
    "Tell that a trial ran and went wrong (e-stop, joint limit): the search keeps away from such points.",
)
lose = _ending(
    schemas.Outcome.LOST,
    "Tell that the lab broke (network, simulator), or release a trial: its point is offered again.",
)
abandon = _ending(
    schemas.Outcome.ABANDONED,
    "Never try this again; also takes back a completed trial, when a bad sensor is found later.",
)


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
    output(record, lambda one: tables.show_asked([one]), as_json=as_json)


def _cost(text: str) -> float:
    # Not typer's own conversion: unknown options arrive here too, and its error does not name what it got.
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"a cost is a number, got {text!r}", param_hint="'cost'") from error
