"""Commands that add points of one's own: observations made elsewhere, and points to be run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from geodrome import schemas
from geodrome.cli import lists, reading, sheets
from geodrome.cli.options import (
    PATIENCE_S,
    AsJson,
    Form,
    Metadata,
    Metric,
    PointsFile,
    Std,
    StudyName,
    Timeout,
    Url,
    connected,
    costs_of,
    metadata_of,
    metrics_of,
    opened,
    output,
    point_of,
    points_of,
)

MOST = 1000
"""So many are added at once, all or none."""

Skip = Annotated[
    bool, typer.Option("--skip-if-exists", help="Add nothing where the study has a trial at the point, and show that.")
]


def add(
    study: StudyName,
    point: Annotated[str | None, typer.Argument(help="The point as YAML, JSON or @FILE.")] = None,
    *,
    cost: Annotated[
        list[float] | None, typer.Option(help="Its cost; may be repeated, for several measurements.")
    ] = None,
    std: Std = None,
    outcome: Annotated[Literal["failed", "abandoned"] | None, typer.Option(help="Of a point without a cost.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why it failed or is abandoned.")] = None,
    metric: Metric = None,
    metadata: Metadata = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            help="A list of objects with point, cost … as YAML or JSON, or a .csv with such columns; - is the input.",
        ),
    ] = None,
    skip_if_exists: Skip = False,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Add what was measured elsewhere: one point, or a file of up to 1,000, all or none."""
    told: dict[str, Any] = {
        **costs_of(cost),
        "std": std,
        "outcome": outcome,
        "reason": reason,
        "metrics": metrics_of(metric),
        "metadata": metadata_of(metadata),
    }
    told = {name: value for name, value in told.items() if value is not None}
    if (point is None) == (file is None):
        raise typer.BadParameter("give either a point or a file of them", param_hint="POINT or --file")
    if file is not None:
        if told:
            raise typer.BadParameter(f"the file says that of each point: {', '.join(told)}", param_hint="--file")
        rows = _rows(file)
    elif told.keys() & {"cost", "costs", "outcome"}:
        rows = [{"point": point_of(point or ""), **told}]
    else:
        raise typer.BadParameter(
            "what is known of the point? To have it run, say geodrome enqueue", param_hint="--cost or --outcome"
        )
    _add(study, rows, form, url, timeout_s, skip_if_exists=skip_if_exists, as_json=as_json)


def enqueue(
    study: StudyName,
    point: Annotated[list[str] | None, typer.Argument(help="Points as YAML, JSON or @FILE.")] = None,
    *,
    file: PointsFile = None,
    skip_if_exists: Skip = False,
    form: Form = None,
    url: Url = None,
    timeout_s: Timeout = PATIENCE_S,
    as_json: AsJson = False,
) -> None:
    """Queue points to be run: the next asks get them, in their order."""
    rows = [{"point": one} for one in points_of(point, file)]
    _add(study, rows, form, url, timeout_s, skip_if_exists=skip_if_exists, as_json=as_json)


def _rows(file: Path) -> list[dict[str, Any]]:
    """What a file says of points.

    Raises:
        typer.BadParameter: It is no table, and no list of objects.
    """
    if file.suffix.lower() == ".csv":
        try:
            return sheets.rows(reading.content(file, "--file"))
        except sheets.Unusable as error:
            raise typer.BadParameter(f"{file}: {error}", param_hint="--file") from error
    found = reading.document(file, "--file")
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise typer.BadParameter(f"{file} holds no list of objects with point, cost …", param_hint="--file")
    return found


def _add(
    study: str,
    rows: Sequence[dict[str, Any]],
    form: list[str] | None,
    url: str | None,
    timeout_s: float,
    *,
    skip_if_exists: bool,
    as_json: bool,
) -> None:
    if not 0 < len(rows) <= MOST:
        raise typer.BadParameter(f"from 1 to {MOST} points at once, all or none; got {len(rows)}", param_hint="--file")
    skip = {"skip_if_exists": True} if skip_if_exists else {}
    with connected(url, timeout_s) as client:
        added = schemas.Trials(trials=opened(client, study, form).add_all([{**row, **skip} for row in rows]))
    output(added, lambda answer: lists.show_trials(answer.trials), as_json=as_json)
