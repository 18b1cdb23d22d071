"""What the trials of a study were like after any of its events: events say all of it, in order.

A suggestion was computed from what was known at one event; whoever computes it again needs exactly that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from geodrome.schemas import TrialState

from geodrome_service.store.portable import Record
from geodrome_service.store.tables import Json

STATES = {
    "queued": TrialState.QUEUED,
    "running": TrialState.RUNNING,
    "resumed": TrialState.RUNNING,
    "completed": TrialState.COMPLETED,
    "failed": TrialState.FAILED,
    "lost": TrialState.LOST,
    "abandoned": TrialState.ABANDONED,
}
"""The state into which each kind of event brings a trial."""

OUTCOMES = ("completed", "failed", "abandoned")

FOLLOWS: dict[TrialState | None, tuple[str, ...]] = {
    None: ("queued", *OUTCOMES),
    TrialState.QUEUED: ("running", "lost", *OUTCOMES),
    TrialState.RUNNING: ("resumed", "lost", *OUTCOMES),
    TrialState.LOST: ("resumed", "lost", *OUTCOMES),
    TrialState.COMPLETED: ("abandoned",),
    TrialState.FAILED: ("abandoned",),
    TrialState.ABANDONED: (),
}
"""What may happen to a trial in each state; None before it is there."""


class Impossible(Exception):
    """An event cannot follow those before it; the message says why."""


@dataclass(frozen=True)
class Happened:
    """An event of a trial.

    Attributes:
        position: Of the event.
        number: Of the trial.
        kind: What happened.
        details: What else is known of it.
    """

    position: int
    number: int
    kind: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class Trial:
    """A trial of the past.

    Attributes:
        state: Its state then.
        point: What was executed once that was told, else what was suggested.
        told: The outcome that stood.
    """

    state: TrialState
    point: Json
    told: Json | None


@dataclass(frozen=True)
class Kept:
    """What of a trial never changes once it is there.

    Attributes:
        suggested_point: The point as it was suggested.
        cost, values, std: As they were told when it completed; a trial completes once.
    """

    suggested_point: Json
    cost: float | None
    values: list[float] | None
    std: float | None


class Past:
    """The trials as they were, event by event.

    Attributes:
        trials: By number, in the order of the numbers.
    """

    def __init__(self, kept: Mapping[int, Kept]) -> None:
        self.trials: dict[int, Trial] = {}
        self._kept = kept

    def apply(self, event: Happened) -> None:
        """Brings the next event about.

        Raises:
            Impossible: It cannot follow what happened before.
        """
        before = self.trials.get(event.number)
        said = f"event {event.position} says that trial {event.number} is {event.kind}"
        if before is None and event.number != len(self.trials) + 1:
            raise Impossible(f"{said}, but the next new trial is {len(self.trials) + 1}")
        if event.number not in self._kept:
            raise Impossible(f"{said}, but there is no such trial")
        if event.kind not in FOLLOWS[None if before is None else before.state]:
            state = "new" if before is None else before.state.value
            raise Impossible(f"{said}, but that cannot follow: it was {state}")
        point = self._kept[event.number].suggested_point if before is None else before.point
        told = None if before is None else before.told
        if (said_now := event.details.get("told")) is not None:
            told = said_now
            executed = said_now.get("point")
            point = point if executed is None else executed
        self.trials[event.number] = Trial(STATES[event.kind], point, told)

    def rows(self) -> Iterator[tuple[str, Json, float | None, list[float] | None, float | None]]:
        """State, point, cost, values and std of all trials but the lost ones, as ``history.gathered`` takes them."""
        for number, trial in self.trials.items():
            if trial.state is not TrialState.LOST:
                kept = self._kept[number]
                yield trial.state.value, trial.point, kept.cost, kept.values, kept.std


def kept(trials: Iterable[Record]) -> dict[int, Kept]:
    """What of trials never changes, by number."""
    return {
        trial["number"]: Kept(trial["suggested_point"], trial["cost"], trial["values"], trial["std"])
        for trial in trials
    }


def happened(events: Iterable[Record]) -> list[Happened]:
    """The events that are trials'."""
    return [
        Happened(event["position"], event["number"], event["kind"], event["details"])
        for event in events
        if event["number"] is not None
    ]


def of(events: Iterable[Happened], kept: Mapping[int, Kept]) -> Past:
    """The past after these events.

    Raises:
        Impossible: They contradict each other.
    """
    past = Past(kept)
    for event in events:
        past.apply(event)
    return past


def disagreements(past: Past, trials: Iterable[Record]) -> Iterator[tuple[int, str]]:
    """Trials whose stored state, point or outcome is not what the events lead to, with what is wrong.

    Args:
        past: After all events.
        trials: As they are stored.
    """
    for trial in trials:
        number, found = trial["number"], past.trials.get(trial["number"])
        if found is None:
            yield number, "no event says where it comes from"
        elif found.state.value != trial["state"]:
            yield number, f"its state is {trial['state']}, but by its events {found.state.value}"
        elif found.point != trial["point"]:
            yield number, f"its point is {trial['point']}, but by its events {found.point}"
        elif found.told != trial["told"]:
            yield number, "its outcome is not the one that its events tell"
        elif found.state is TrialState.COMPLETED and not _is_as_told(trial):
            yield number, f"its cost is {trial['cost']}, but its events tell another"


def _is_as_told(trial: Record) -> bool:
    """Whether the costs of a completed trial are those that were told; of several, the mean is not computed again."""
    told = trial["told"] or {}
    cost = trial["cost"] if told.get("cost") is None else told["cost"]
    return bool(cost == trial["cost"] and told.get("costs") == trial["values"])
