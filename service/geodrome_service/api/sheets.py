"""A study's trials as a table for spreadsheets: CSV by RFC 4180, in UTF-8, one row for each trial."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geodrome import columns

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
        if places is None:
            places = [place for place, _ in columns.parts(trial["point"])]
            writer.writerow(columns.header(places, metrics))
        writer.writerow(columns.cells(trial, places, metrics))
        if (index + 1) % ROWS == 0:
            yield _emptied(buffer)
    if places is None:
        writer.writerow(columns.header([], metrics))
    yield _emptied(buffer)


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
