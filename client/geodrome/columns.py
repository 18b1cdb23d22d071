"""The columns of trials in a table for spreadsheets, as the service exports it and the command line prints it.

Each number of a point has a column of its own: ``point.tool[0]``, ``point.stiffness[0][1]``; in a space that is no
product ``point``, ``point[0]`` or ``point[0][1]``. Metrics are in ``metrics.name``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BEFORE = ("number", "state", "attempt", "retry_of", "worker", "asked_at", "told_at", "origin")
AFTER = ("cost", "std", "flags", "reason")

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Text that begins so is a formula to a spreadsheet, which runs it; behind an apostrophe it stays text."""


def header(places: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """The first line.

    Args:
        places: Columns of the point, see ``parts``.
        metrics: Names of all metrics that the trials have.
    """
    return [*BEFORE, *places, *AFTER, *(f"metrics.{name}" for name in metrics)]


def cells(trial: Mapping[str, Any], places: Sequence[str], metrics: Sequence[str]) -> list[Any]:
    """A line: what a trial, as it travels, has in the columns of ``header``."""
    point = dict(parts(trial["point"]))
    shown = {**trial, "origin": trial["origin"]["kind"], "flags": " ".join(trial["flags"])}
    found = [*(shown[name] for name in BEFORE), *(point[place] for place in places), *(shown[name] for name in AFTER)]
    return [_harmless(cell) for cell in [*found, *(trial["metrics"].get(name) for name in metrics)]]


def parts(value: Any, name: str = "point") -> Iterator[tuple[str, Any]]:
    """The numbers of a point, each with its column; all points of a study have the same."""
    match value:
        case dict():
            for key, part in value.items():
                yield from parts(part, f"{name}.{key}")
        case list():
            for index, part in enumerate(value):
                yield from parts(part, f"{name}[{index}]")
        case _:
            yield name, value


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
