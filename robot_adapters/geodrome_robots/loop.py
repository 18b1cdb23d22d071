"""One robot at work, a trial at a time: whatever happens to it becomes the right outcome."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

from geodrome import GeodromeError, Infeasible, InvalidRequest, RobotFault, Study, TrialHandle
from geodrome.bodies import jsonable
from geodrome.schemas import Outcome

from geodrome_robots import journal as journals
from geodrome_robots.deadline import deadline
from geodrome_robots.heartbeat import heartbeat
from geodrome_robots.journal import Journal, Result
from geodrome_robots.report import Finished, Noise, Report
from geodrome_robots.robot import Measurement, Robot
from geodrome_robots.stop import Stop, Stopped

MAX_FAULTS = 3  # in a row; lost trials are free, so a broken robot would otherwise ask for ever
LONGEST_REASON = 4096  # what the service takes
POLL_S = 0.5
"""How often a robot that is not ready is asked again."""


@dataclass(frozen=True)
class Limits:
    """How long a runner waits.

    Attributes:
        trial_s: For one trial; one that takes longer is told as failed. None for as long as it takes.
        ready_s: For a robot that is not ready.
    """

    trial_s: float | None = None
    ready_s: float = 0.0


@dataclass
class Loop:
    """One robot at work: what it has finished, and how often in a row it faulted."""

    robot: Robot
    study: Study
    worker: str | None = field(kw_only=True)
    journal: Journal | None = field(kw_only=True)
    limits: Limits = field(kw_only=True)
    finished: list[Finished] = field(default_factory=list)
    faults: int = 0
    noise: Noise | None = None

    @property
    def spent(self) -> int:
        """Trials that are not lost."""
        return sum(trial.outcome is not Outcome.LOST for trial in self.finished)

    @property
    def measured(self) -> list[tuple[Finished, Measurement]]:
        """Trials that have a cost."""
        return [(trial, trial.measurement) for trial in self.finished if trial.measurement is not None]

    def report(self, *, interrupted: bool = False) -> Report:
        """What there is so far."""
        return Report(tuple(self.finished), interrupted=interrupted, noise=self.noise)

    def trial(self) -> Finished:
        """One trial, from the ask to the tell.

        Raises:
            RobotFault: The robot is not ready, or faulted too often in a row.
            StudyClosed: There is nothing more to do.
        """
        self._await_ready()
        ended = self._attempt(self.study.ask(worker=self.worker))
        self.finished.append(ended)
        self.faults = self.faults + 1 if ended.outcome is Outcome.LOST else 0
        if self.faults == MAX_FAULTS:
            raise RobotFault(f"{self.robot.name} faulted {MAX_FAULTS} times in a row, lastly: {ended.reason}")
        return ended

    def measure_again(self) -> None:
        """Runs the first point once more; a cost that is another one is kept with the study."""
        trial, first = self.measured[0]
        self._await_ready()
        try:
            with deadline(self.limits.trial_s):
                again = self.robot.evaluate(trial.point, seed=trial.number, stop=Stop(self.limits.trial_s))
        except (Infeasible, RobotFault):
            self.robot.safe_stop()
            return
        except BaseException:
            self.robot.safe_stop()
            raise
        self.noise = Noise(trial.point, first.cost, again.cost)
        if again.cost != first.cost:
            self.study.add(trial.point, cost=again.cost, metrics=again.metrics)

    def _await_ready(self) -> None:
        end = time.monotonic() + self.limits.ready_s
        while not (readiness := self.robot.ready()):
            if time.monotonic() >= end:
                raise RobotFault(f"{self.robot.name} is not ready: {readiness.reason or 'it gives no reason'}")
            time.sleep(POLL_S)

    def _attempt(self, trial: TrialHandle) -> Finished:
        stop = Stop(self.limits.trial_s)
        try:
            with heartbeat(trial, stop, lease_s=self.study.record.lease_s), deadline(self.limits.trial_s):
                measurement = self.robot.evaluate(trial.point, seed=trial.number, stop=stop)
        except Infeasible as error:
            self.robot.safe_stop()  # perhaps its time was over while it moved
            self._tell(trial, {"outcome": Outcome.FAILED, "reason": _reason(error)})
            return Finished(trial.number, trial.point, Outcome.FAILED, reason=str(error))
        except RobotFault as error:
            self.robot.safe_stop()
            trial.lose(reason=_reason(error))
            return Finished(trial.number, trial.point, Outcome.LOST, reason=str(error))
        except Stopped as error:
            # Who took the trial away has told what became of it.
            self.robot.safe_stop()
            return Finished(trial.number, trial.point, Outcome.ABANDONED, reason=str(error))
        except KeyboardInterrupt:
            self._break_off(trial, "stopped by the operator")
            raise
        except Exception as error:
            self._break_off(trial, f"{type(error).__name__}: {error}")
            raise
        told = {"cost": measurement.cost, "metrics": measurement.metrics, "point": measurement.executed}
        try:
            self._tell(trial, told)
        except InvalidRequest as error:
            # The robot measured nonsense, such as NaN. That says nothing about the point; the trial must not stay open.
            self._break_off(trial, str(error))
            raise
        point = trial.point if measurement.executed is None else measurement.executed
        return Finished(trial.number, point, Outcome.COMPLETED, measurement)

    def _tell(self, trial: TrialHandle, body: dict[str, Any]) -> None:
        result = Result(self.study.record.id, trial.number, jsonable(body))
        if self.journal is None:
            result.tell(self.study)
        else:
            self.journal.write(result)
            journals.tell(self.journal, self.study, result)

    def _break_off(self, trial: TrialHandle, reason: str) -> None:
        self.robot.safe_stop()
        # What broke the run off is to be seen, not that the service could not be told: the lease runs out anyway.
        with contextlib.suppress(GeodromeError):
            trial.lose(reason=reason[:LONGEST_REASON])


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:LONGEST_REASON]
