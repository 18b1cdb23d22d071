"""A study's trials as a table for spreadsheets: CSV by RFC 4180, in UTF-8, one row for each trial.

Each number of a point has a column of its own: ``point.tool[0]``, ``point.stiffness[0][1]``; in a space that is no
product ``point``, ``point[0]`` or ``point[0][1]``. Metrics are in ``metrics.name``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BEFORE = ("number", "state", "attempt", "retry_of", "worker", "asked_at", "told_at")
AFTER = ("cost", "std", "flags", "reason")

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Text that begins so is a formula to a spreadsheet, which runs it; behind an apostrophe it stays text."""

ROWS = 1000
"""Lines that are sent at once."""


def lines(trials: Iterator[Mapping[str, Any]], metrics: Sequence[str]) -> Iterator[str]:
    """The table, piece by piece.

    Args:
        trials: As records of ``store.portable``.
        metrics: Names of all metrics that the trials have.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    places: list[str] | None = None
    for index, trial in enumerate(trials):
        parts = dict(_parts("point", trial["point"]))
        if places is None:
            # All points of a study have the same parts.
            places = list(parts)
            writer.writerow(_header(places, metrics))
        writer.writerow(_cells(trial, parts, metrics))
        if (index + 1) % ROWS == 0:
            yield _emptied(buffer)
    if places is None:
        writer.writerow(_header([], metrics))
    yield _emptied(buffer)


def _header(places: Sequence[str], metrics: Sequence[str]) -> list[str]:
    return [*BEFORE, "origin", *places, *AFTER, *(f"metrics.{name}" for name in metrics)]


def _cells(trial: Mapping[str, Any], parts: Mapping[str, Any], metrics: Sequence[str]) -> list[Any]:
    shown = {**trial, "flags": " ".join(trial["flags"])}
    cells = [*(shown[name] for name in BEFORE), trial["origin"]["kind"], *parts.values()]
    cells += [*(shown[name] for name in AFTER), *(trial["metrics"].get(name) for name in metrics)]
    return [_harmless(cell) for cell in cells]


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            for key, part in value.items():
                yield from _parts(f"{name}.{key}", part)
        case list():
            for index, part in enumerate(value):
                yield from _parts(f"{name}[{index}]", part)
        case _:
            yield name, value


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
