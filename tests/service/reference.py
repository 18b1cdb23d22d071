"""How trials may change, written down a second time and in the plainest way: a model that the service is compared with.

Nothing here knows of databases, locks or the service's code.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

SPENT = ("completed", "failed", "abandoned")
RESERVED = ("queued", "running")


class Refused(Exception):
    """The request is refused, under this code, and changes nothing."""


@dataclass
class Trial:
    """One trial."""

    number: int
    point: float
    first: int
    state: str = "queued"
    attempt: int = 1
    retry_of: int | None = None
    worker: str | None = None
    asked: bool = False
    overdue: bool = False
    late: bool = False
    told: dict[str, Any] | None = None


@dataclass
class Lab:
    """A study and its trials.

    Attributes:
        max_attempts: How often a point is offered.
        budget: Trials that may be spent.
    """

    max_attempts: int
    budget: int | None
    state: str = "active"
    trials: list[Trial] = field(default_factory=list)

    def add(self, point: float, told: dict[str, Any] | None = None) -> Trial:
        if told is None and self.state == "closed":
            raise Refused("study-closed")
        trial = self._new(point)
        if told is not None:
            trial.state, trial.told = told["outcome"], told
        return trial

    def ask(self, worker: str | None, count: int, *, resume: bool, fresh: list[float]) -> list[Trial]:
        """Trials for a worker; ``fresh`` are the points that an engine would suggest."""
        if self.state != "active":
            raise Refused(f"study-{self.state}")
        before = copy.deepcopy(self.trials)
        self.look()
        own = [trial for trial in self._in("running") if resume and worker is not None and trial.worker == worker]
        own = own[:count]
        wanted = count - len(own)
        missing = wanted - len(self._in("queued"))
        if self.budget is not None:
            missing = min(missing, self.budget - len(self._in(*SPENT, *RESERVED)))
        for point in fresh[: max(0, missing)]:
            self._new(point)
        handed = own + self._in("queued")[:wanted]
        if not handed:
            self.trials = before
            raise Refused("study-closed")
        for trial in handed:
            trial.state, trial.worker, trial.asked, trial.overdue = "running", worker, True, False
        return handed

    def tell(self, number: int, told: dict[str, Any]) -> Trial:
        trial = self.trials[number - 1]
        outcome = told["outcome"]
        if trial.told == told:
            return trial
        takes = {
            "queued": True,
            "running": True,
            "lost": trial.told is None or outcome == "abandoned",
            "completed": outcome == "abandoned",
            "failed": outcome == "abandoned",
            "abandoned": False,
        }
        if not takes[trial.state]:
            raise Refused("outcome-conflict")
        was_lost = trial.state == "lost"
        trial.late = trial.late or (outcome != "abandoned" and (was_lost or trial.overdue))
        trial.state, trial.told, trial.overdue = outcome, told, False
        if outcome != "lost":
            self._withdraw(trial)
        elif not was_lost:
            self._offer_again(trial)
        return trial

    def heartbeat(self, number: int) -> Trial:
        trial = self.trials[number - 1]
        comes_back = trial.state == "lost" and trial.told is None and trial.asked and not self._has_result(trial)
        if trial.state != "running" and not comes_back:
            raise Refused("outcome-conflict")
        trial.state, trial.overdue = "running", False
        if comes_back:
            self._withdraw(trial)
        return trial

    def look(self) -> None:
        """Somebody looks, and sees that leases have ended."""
        for trial in [trial for trial in self.trials if trial.overdue]:
            trial.state, trial.overdue = "lost", False
            self._offer_again(trial)

    def change(self, state: str) -> None:
        if self.state == "closed" != state:
            raise Refused("study-closed")
        self.state = state

    def _in(self, *states: str) -> list[Trial]:
        return [trial for trial in self.trials if trial.state in states]

    def _new(self, point: float) -> Trial:
        number = len(self.trials) + 1
        self.trials.append(Trial(number, point, first=number))
        return self.trials[-1]

    def _offer_again(self, lost: Trial) -> None:
        if lost.attempt < self.max_attempts and not self._has_result(lost):
            again = self._new(lost.point)
            again.first, again.attempt, again.retry_of = lost.first, lost.attempt + 1, lost.number

    def _withdraw(self, trial: Trial) -> None:
        for repeat in self._in("queued"):
            if repeat.first == trial.first:
                repeat.state = "lost"

    def _has_result(self, trial: Trial) -> bool:
        return any(other.first == trial.first for other in self._in(*SPENT))
