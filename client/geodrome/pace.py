"""How fast results come, and when the budget is spent at that pace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

PACE: Final = 20
"""Results from whose times the pace is taken."""

RESULTS: Final = frozenset({"completed", "failed", "abandoned"})
"""Kinds of events that spend budget."""


def pace_s(times: Sequence[datetime]) -> float | None:
    """Seconds from one result to the next, of late; None before the second.

    Args:
        times: Of the latest results, earliest first.
    """
    if len(times) < 2:
        return None
    return (times[-1] - times[0]).total_seconds() / (len(times) - 1)


def left_s(budget_left: int | None, pace: float | None) -> float | None:
    """Seconds until the budget is spent at this pace; None without a budget or a pace."""
    return None if budget_left is None or pace is None else budget_left * pace
