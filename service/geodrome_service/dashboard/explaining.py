"""Why a trial's point was suggested, how its outcome compares, and what happened to it, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from geodrome import schemas

from geodrome_service.dashboard.rendering import number, with_unit

ORIGINS: Final = {
    "initial": "Spread over the space: it belongs to the initial design, which looks around before there is a model.",
    "model": "Suggested by the model: of all points it promised most for the next run.",
    "enqueued": "A person put it into the queue, to be run.",
    "told": "A person added it with its result; it was not suggested.",
    "fallback": "Spread over the space, because no model could be fitted at that moment.",
}
"""Where points come from."""

EVENTS: Final = {
    "queued": "put into the queue",
    "running": "handed out",
    "resumed": "went on: its lease was extended or handed out again",
    "completed": "completed",
    "failed": "failed",
    "lost": "lost",
    "abandoned": "abandoned",
}


@dataclass(frozen=True)
class Happened:
    """An event of a trial.

    Attributes:
        at: When.
        kind: Of the event.
        what: The same in words.
        details: What else is known of it.
    """

    at: datetime
    kind: str
    what: str
    details: str


def happened(event: schemas.Event) -> Happened:
    """An event in words."""
    told = event.details.get("told") or {}
    said = {**event.details, **told}
    details = []
    if worker := said.get("worker"):
        details.append(f"to {worker}" if event.kind == "running" else str(worker))
    if said.get("cost") is not None:
        details.append(f"cost {number(said['cost'])}")
    if costs := said.get("costs"):
        details.append(f"costs {', '.join(number(cost) for cost in costs)}")
    if said.get("reason"):
        details.append(str(said["reason"]))
    if said.get("retry_of"):
        details.append(f"repeats the point of trial {said['retry_of']}")
    if said.get("late"):
        details.append("late: after the lease had ended")
    return Happened(event.at, event.kind, EVENTS.get(event.kind, event.kind), "; ".join(details))


def reasons(trial: schemas.Trial, objective: schemas.Objective) -> list[tuple[str, str]]:
    """What spoke for the point when it was suggested, each with its name."""
    origin = trial.origin
    found = []
    if origin.mean is not None and origin.std is not None:
        found.append(
            ("Model expected", f"{number(origin.mean)} ± {with_unit(float(f'{origin.std:.2g}'), objective.unit)}")
        )
    if origin.acquisition is not None and origin.value is not None:
        found.append(_promise(origin.acquisition, origin.value))
    if origin.note:
        found.append(("Note", origin.note))
    if origin.seed is not None:
        found.append(("Seed", str(origin.seed)))
    return found


def compared(trial: schemas.Trial, objective: schemas.Objective) -> str | None:
    """How the cost compares to what the model expected, in words; None where one of them is not known."""
    mean, std = trial.origin.mean, trial.origin.std
    if trial.cost is None or mean is None or not std:
        return None
    gap = trial.cost - mean
    is_better = (gap < 0) is (objective.goal == "minimize")
    deviations = abs(gap) / std
    how = "as expected" if deviations <= 1 else "better than expected" if is_better else "worse than expected"
    where = "above" if gap > 0 else "below"
    text = f"{how.capitalize()}: {with_unit(float(f'{abs(gap):.3g}'), objective.unit)} {where} the model's mean, "
    text += f"{deviations:.1f} of its standard deviations."
    if deviations > 3:
        text += " That is far off: the run was unusual, its noise is large, or the model was too sure of itself."
    return text


def _promise(acquisition: str, value: float) -> tuple[str, str]:
    match acquisition:
        case "log_ei":
            said = f"{number(math.exp(value))} standard deviations of the costs so far (log EI {number(value)})"
            return "Expected improvement", said
        case "ei":
            return "Expected improvement", f"{number(value)} standard deviations of the costs so far"
        case _:
            return f"Acquisition {acquisition}", number(value)
