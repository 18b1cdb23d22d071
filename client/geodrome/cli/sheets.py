"""Trials as a table for spreadsheets, in the columns of ``geodrome.columns``; and back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, TextIO

from geodrome import columns, schemas
from geodrome.documents import Unreadable, parsed

IGNORED = frozenset(columns.BEFORE) - {"state"} | {"flags"}
"""Columns that say how a trial went elsewhere."""

OF_OWN = ("completed", "failed", "abandoned")
"""States in which something is known of a point."""

PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


class Unusable(ValueError):
    """The table does not say what is known of points; the message names line and column."""


def write(records: Sequence[schemas.Trial], to: TextIO) -> None:
    """Writes a table of trials, by RFC 4180."""
    places = [place for place, _ in columns.parts(records[0].point)] if records else []
    metrics = sorted({name for record in records for name in record.metrics})
    writer = csv.writer(to)
    writer.writerow(columns.header(places, metrics))
    for record in records:
        writer.writerow(columns.cells(record.model_dump(mode="json"), places, metrics))


def rows(text: str) -> list[dict[str, Any]]:
    """What a table says of points, as the fields of ``Study.add``.

    Raises:
        Unusable: A column has no meaning, or a line does not say what is known of its point.
    """
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        return [_row(cells, f"line {reader.line_num}") for cells in reader]
    except csv.Error as error:
        raise Unusable(f"line {reader.line_num}: {error}") from error


def _row(cells: dict[str | None, Any], where: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column, cell in cells.items():
        if column is None or cell is None:
            raise Unusable(f"{where} has more or fewer cells than the first")
        if column in IGNORED or not cell:
            continue
        match column.partition(".")[0].partition("[")[0]:
            case "point":
                _place(row, column, _number(cell, f"{where}, {column}"), where)
            case "metrics" if column != "metrics":
                row.setdefault("metrics", {})[column.partition(".")[2]] = _number(cell, f"{where}, {column}")
            case "cost" | "std" if column in {"cost", "std"}:
                row[column] = _number(cell, f"{where}, {column}")
            case "reason":
                row[column] = cell.removeprefix("'") if cell[1:].startswith(columns.FORMULA) else cell
            case "outcome" | "state":
                if cell not in OF_OWN:
                    raise Unusable(
                        f"{where}: of a trial that is {cell} nothing is known; keep only {', '.join(OF_OWN)}"
                    )
                row["outcome"] = cell
            case _:
                known = ", ".join(("point…", "outcome", *columns.AFTER, "metrics.…"))
                raise Unusable(f"column {column!r} has no meaning: there are {known}")
    if "point" not in row:
        raise Unusable(f"{where} has no point: its columns are point, point[0], point.tool[0] …")
    return {**row, "point": _listed(row["point"], where)}


def _number(cell: str, where: str) -> Any:
    try:
        found = parsed(cell)
    except Unreadable as error:
        raise Unusable(f"{where}: {error}") from error
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise Unusable(f"{where}: {cell!r} is no number")
    return found


def _place(row: dict[str, Any], column: str, value: Any, where: str) -> None:
    """Puts a number where its column says; lists are objects with numbers as keys for now."""
    parts = [name or int(index) for name, index in PART.findall(column)]
    if f"point{''.join(f'[{part}]' if isinstance(part, int) else f'.{part}' for part in parts)}" != column:
        raise Unusable(f"column {column!r} is no place in a point, like point.tool[0]")
    here: Any = row
    key: str | int = "point"
    for part in parts:
        here, key = here.setdefault(key, {}), part
        if not isinstance(here, dict):
            raise Unusable(f"{where}: {column!r} is within a number")
    here[key] = value


def _listed(value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {key: _listed(part, where) for key, part in value.items()}
    if all(isinstance(key, str) for key in parts):
        return parts
    if set(parts) != set(range(len(parts))):
        raise Unusable(f"{where}: the list has parts {', '.join(map(str, parts))}, not 0 to {len(parts) - 1}")
    return [parts[index] for index in range(len(parts))]
