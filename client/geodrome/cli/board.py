"""What `geodrome watch` shows of a study: how far it is, its best, its pace, who runs what."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from geodrome import schemas
from geodrome.cli.lists import line, moment, printable
from geodrome.cli.tables import folded, pairs
from geodrome.pace import PACE, RESULTS, left_s, pace_s

SHOWN = 8
"""Lines of what happened last."""

NOBODY = "(no name)"


@dataclass
class Robot:
    """A worker of the study.

    Attributes:
        seen: When it last asked or told.
        running: Trials that it runs.
        results: How many it has told since the watch began to count: since the study's first event.
    """

    seen: datetime
    running: set[int]
    results: int = 0


class Board:
    """A study as it is watched; events come in order.

    Attributes:
        record: The study as the service last showed it.
        robots: Each worker by its name.
    """

    def __init__(self, record: schemas.Study) -> None:
        self.record = record
        self.robots: dict[str, Robot] = {}
        self._runs: dict[int, str] = {}
        self._last: deque[schemas.Event] = deque(maxlen=SHOWN)
        self._results: deque[tuple[datetime, float | None]] = deque(maxlen=PACE)

    @property
    def has_ended(self) -> bool:
        """Whether the study is closed, or its budget spent."""
        return self.record.state is schemas.StudyState.CLOSED or self.record.budget_left == 0

    @property
    def pace_s(self) -> float | None:
        """Seconds from one result to the next, of late; None before the second."""
        return pace_s([at for at, _ in self._results])

    @property
    def left_s(self) -> float | None:
        """Seconds until the budget is spent at this pace; None without a budget or a pace."""
        return left_s(self.record.budget_left, self.pace_s)

    def note(self, event: schemas.Event) -> None:
        """Takes an event into account."""
        self._last.append(event)
        if event.number is None:
            return
        if event.kind in {"running", "resumed"}:
            worker = event.details.get("worker") or NOBODY
            self._release(event)
            self._runs[event.number] = worker
            robot = self.robots.setdefault(worker, Robot(event.at, set()))
            robot.running.add(event.number)
            robot.seen = event.at
        elif event.kind != "queued":
            robot_of = self._release(event)
            if event.kind in RESULTS:
                self._results.append((event.at, _cost(event)))
                if robot_of is not None:
                    robot_of.results += 1
                    robot_of.seen = event.at

    def shown(self) -> RenderableType:
        """All of it, for a terminal."""
        return Group(self._progress(), Text(), self._robots(), Text(), self._events())

    def summary(self) -> str:
        """How far the study is, on one line."""
        record = self.record
        counts = ", ".join(f"{count} {state}" for state, count in record.counts.model_dump().items() if count)
        return f"study {record.name} is {record.state.value}: {counts or 'no trials'}; {self._best()}"

    def _release(self, event: schemas.Event) -> Robot | None:
        worker = self._runs.pop(event.number or 0, None)
        if worker is None:
            return None
        self.robots[worker].running.discard(event.number or 0)
        return self.robots[worker]

    def _best(self) -> str:
        best, unit = self.record.best, self.record.objective.unit or ""
        if best is None or best.cost is None:
            return "no cost yet"
        return f"best {best.cost:.6g} {unit}".rstrip() + f" in trial {best.number}"

    def _progress(self) -> Table:
        record, table = self.record, pairs()
        table.add_row("study", Text(f"{record.name}, {record.state.value}"))
        limit = record.budget.trials
        if limit is not None and record.budget_left is not None:
            spent = limit - record.budget_left
            table.add_row("budget", ProgressBar(total=limit, completed=spent, width=40))
            table.add_row("", f"{spent} of {limit} spent")
        counts = record.counts.model_dump()
        table.add_row("trials", ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none yet")
        table.add_row("best", Text(self._best()))
        costs = [cost for _, cost in list(self._results) if cost is not None]
        if costs:
            table.add_row("of late", f"mean cost {fmean(costs):.6g} of {len(costs)}")
        if self.pace_s is not None:
            table.add_row("pace", f"a result in {_duration(self.pace_s)}")
        if self.left_s is not None and not self.has_ended:
            table.add_row("left", f"{_duration(self.left_s)} at this pace")
        return table

    def _robots(self) -> Table:
        table = Table(folded("robot"), folded("runs"), "results", "last seen", box=None)
        for name, robot in list(self.robots.items()):
            runs = ", ".join(f"trial {number}" for number in sorted(robot.running))
            table.add_row(Text(printable(name)), runs or "nothing", str(robot.results), moment(robot.seen))
        return table

    def _events(self) -> Text:
        return Text("\n".join(line(event) for event in list(self._last)), overflow="ellipsis", no_wrap=True)


def _cost(event: schemas.Event) -> float | None:
    told = event.details.get("told", {})
    costs = told.get("costs") or ([] if told.get("cost") is None else [told["cost"]])
    return fmean(costs) if costs else None


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else str(timedelta(seconds=round(seconds)))
