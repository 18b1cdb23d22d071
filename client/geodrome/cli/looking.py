"""Commands that look at a study: its trials, its best, its model, its events."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

import typer

from geodrome import schemas
from geodrome.cli import lists, sheets, tables
from geodrome.cli.options import (
    PATIENCE_S,
    AsJson,
    AsJsonLines,
    Form,
    PointsFile,
    StudyName,
    Timeout,
    TrialNumber,
    Url,
    connected,
    echo,
    opened,
    output,
    points_of,
)

Limit = Annotated[int | None, typer.Option(min=1, help="At most so many.")]


def trials(
    study: StudyName,
    *,
    state: Annotated[schemas.TrialState | None, typer.Option(help="Only those in this state.")] = None,
    worker: Annotated[str | None, typer.Option(help="Only those of this worker.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only those with a larger number.")] = 0,
    limit: Limit = None,
    sort: Annotated[
        Literal["number", "cost", "told"], typer.Option(help="In which order; those without come last.")
    ] = "number",
    descending: Annotated[bool, typer.Option("--descending", help="The largest first.")] = False,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJsonLines = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table for spreadsheets.")] = False,
) -> None:
    """List the trials of a study; with a limit and --after the last number, page by page."""
    if as_json and as_csv:
        raise typer.BadParameter("give one of them", param_hint="--json or --csv")
    with connected(url, timeout_s) as client:
        found = opened(client, study, form).trials(state=state, worker=worker, after=after)
        if sort == "number" and not descending:
            records = list(islice(found, limit))
        else:
            records = lists.ordered(found, sort, descending=descending)[:limit]
    if as_csv:
        sheets.write(records, typer.get_text_stream("stdout"))
    elif as_json:
        for record in records:
            echo(record)
    else:
        lists.show_trials(records)


def trial(
    study: StudyName,
    number: TrialNumber,
    *,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Show one trial with everything that is known of it."""
    with connected(url, timeout_s) as client:
        record = opened(client, study, form).trial(number).record
    output(record, lists.show_trial, as_json=as_json)


def best(
    study: StudyName, *, form: Form = None, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False
) -> None:
    """Show the best trial observed and the point that the model recommends."""
    with connected(url, timeout_s) as client:
        found = opened(client, study, form).best()
    output(found, tables.show_best, as_json=as_json)


def model(study: StudyName, *, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False) -> None:
    """Show the model of the costs: lengthscales, noise, and how far it can be trusted."""
    with connected(url, timeout_s) as client:
        found = client.study(study)
        fitted = schemas.StudyModel(model=found.model())
    unit = found.record.objective.unit
    output(fitted, lambda answer: tables.show_model(answer.model, unit), as_json=as_json)


def views(
    study: StudyName, *, form: Form = None, url: Url = None, timeout_s: Timeout = PATIENCE_S, as_json: AsJson = False
) -> None:
    """Show what the model says along geodesics through the point that it recommends; as JSON, all numbers of it."""
    with connected(url, timeout_s) as client:
        found = opened(client, study, form)
        seen = found.views()
    goal = found.record.objective.goal
    output(seen, lambda answer: lists.show_views(answer, goal), as_json=as_json)


def predict(
    study: StudyName,
    point: Annotated[list[str] | None, typer.Argument(help="Points as YAML, JSON or @FILE.")] = None,
    *,
    file: PointsFile = None,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Predict what runs at points would cost, and whether they succeed."""
    points = points_of(point, file)
    with connected(url, timeout_s) as client:
        found = schemas.Predictions(predictions=opened(client, study, form).predict(points))
    output(found, lambda answer: lists.show_predictions(points, answer.predictions), as_json=as_json)


def events(
    study: StudyName,
    *,
    after: Annotated[int, typer.Option(min=0, help="Only those with a larger position.")] = 0,
    limit: Limit = None,
    following: Annotated[bool, typer.Option("--follow", help="Go on with those to come, until Ctrl-C.")] = False,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJsonLines = False,
) -> None:
    """List every change of a study and its trials, in order."""
    with connected(url, timeout_s) as client:
        found = client.study(study)
        changes = found.follow(after=after) if following else found.events(after=after)
        try:
            for event in islice(changes, limit):
                lists.print_event(event, as_json=as_json)
        except KeyboardInterrupt:
            if not following:
                raise
