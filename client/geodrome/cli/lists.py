"""Trials, predictions, events, spaces and problems as a person reads them in a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from geodrome import schemas
from geodrome.cli.tables import folded, pairs, print_table, shown_point

KEYS: dict[str, Callable[[schemas.Trial], Any]] = {
    "number": lambda trial: trial.number,
    "cost": lambda trial: trial.cost,
    "told": lambda trial: trial.told_at,
}


def ordered(records: Iterable[schemas.Trial], by: str, *, descending: bool) -> list[schemas.Trial]:
    """The trials by a key of ``KEYS``; those that have none come last."""
    key = KEYS[by]
    found = list(records)
    known = sorted((one for one in found if key(one) is not None), key=key, reverse=descending)
    return known + [one for one in found if key(one) is None]


def show_trials(records: Iterable[schemas.Trial]) -> None:
    """One line for each trial."""
    table = Table("trial", "state", "cost", "std", folded("worker"), "told", folded("notes"), folded("point"), box=None)
    for record in records:
        table.add_row(
            str(record.number),
            record.state.value,
            _number(record.cost),
            _number(record.std),
            Text(record.worker or ""),
            "" if record.told_at is None else moment(record.told_at),
            Text(", ".join([*record.flags, *([record.reason] if record.reason else [])])),
            shown_point(record.point),
        )
    print_table(table)


def show_trial(record: schemas.Trial) -> None:
    """Everything that is known of one trial."""
    table = pairs()
    for name, value in record.model_dump(mode="json").items():
        if value not in (None, [], {}):
            table.add_row(name, Text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    print_table(table)


def show_predictions(points: Sequence[schemas.Point], predictions: Sequence[schemas.Prediction] | None) -> None:
    """One line for each point."""
    if predictions is None:
        print_table(Text("no model yet"))
        return
    table = Table("mean", "std", "succeeds", folded("point"), box=None)
    for point, found in zip(points, predictions, strict=True):
        succeeds = "" if found.feasible is None else f"{found.feasible:.0%}"
        table.add_row(f"{found.mean:.6g}", f"{found.std:.3g}", succeeds, shown_point(point))
    print_table(table)


def show_views(found: schemas.Views, goal: str) -> None:
    """One line for each geodesic, with the place on it of the best mean."""
    if found.at is None:
        print_table(Text("no model yet"))
        return
    table = Table("factor", "geodesic", "from", "to", "best mean", "std", "at", folded("point"), box=None)
    for one in found.slices:
        place = one.mean.index(min(one.mean) if goal == "minimize" else max(one.mean))
        ends = (f"{one.distances[end]:.4g}" for end in (0, -1))
        best = (f"{one.mean[place]:.6g}", f"{one.std[place]:.3g}", f"{one.distances[place]:.4g}")
        table.add_row(Text(one.factor or ""), str(one.axis), *ends, *best, shown_point(one.points[place]))
    print_table(table)


def print_event(event: schemas.Event, *, as_json: bool) -> None:
    """One line, at once: whoever follows events in a pipe waits for each."""
    print(event.model_dump_json() if as_json else line(event), flush=True)  # noqa: T201


def line(event: schemas.Event) -> str:
    """An event in words."""
    about = "study" if event.number is None else f"trial {event.number}"
    told = event.details.get("told", {})
    said = {name: value for name, value in {**event.details, **told}.items() if value not in (None, [], {}, False)}
    kept = {name: value for name, value in said.items() if name not in {"told", "outcome", "point"}}
    details = ", ".join(
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in kept.items()
    )
    # A reason may hold anything, also what moves a terminal's cursor.
    return "  ".join([moment(event.at), about, event.kind, printable(details)]).rstrip()


def printable(text: str) -> str:
    """The text without what a terminal obeys."""
    return "".join(character if character.isprintable() else " " for character in text)


def moment(at: datetime) -> str:
    """A time as the service counts it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"


def show_spaces(types: Mapping[str, Any]) -> None:
    """One line for each type of space."""
    table = Table("type", folded("fields"), folded("is"), box=None)
    for name, schema in types.items():
        described = _described(schema)
        fields = [field for field in described["properties"] if field != "type"]
        table.add_row(
            name, Text(", ".join(fields)), Text(described["description"].partition("\n\n")[0].replace("\n", " "))
        )
    print_table(table)


def show_space(schema: Mapping[str, Any]) -> None:
    """One line for each field of a space."""
    described = _described(schema)
    print_table(Text(" ".join(described["description"].split())))
    table = Table("field", "needed", folded("default"), folded("schema"), box=None)
    for name, field in described["properties"].items():
        rest = {key: value for key, value in field.items() if key not in {"title", "default", "description"}}
        needed = "yes" if name in described.get("required", ()) else ""
        default = json.dumps(field["default"]) if "default" in field else ""
        table.add_row(name, needed, Text(default), Text(json.dumps(rest)))
    print_table(table)


def show_problems(pages: Iterable[Mapping[str, Any]]) -> None:
    """One line for each problem."""
    table = Table("code", "status", "repeat", folded("means"), box=None)
    for page in pages:
        table.add_row(page["code"], str(page["status"]), "yes" if page["retryable"] else "", page["title"])
    print_table(table)


def show_problem(page: Mapping[str, Any]) -> None:
    """What a problem means."""
    table = pairs()
    for name, value in page.items():
        table.add_row(name, Text(str(value)))
    print_table(table)


def show_health(shown: Mapping[str, Any]) -> None:
    """How the service is."""
    table = pairs()
    for name in ("url", "version", "client"):
        table.add_row(name, Text(shown[name]))
    table.add_row("database", "answers" if shown["database"] else "does not answer")
    table.add_row("compute", "a worker is there" if shown["compute"] else "no worker is there")
    print_table(table)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _described(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema's own description; that of a space within which it may stand again is among its definitions."""
    described: Mapping[str, Any] = schema["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return described
