"""Another program as a robot, over lines of JSON: MATLAB, C++, another Python with its own packages.

    robot = from_command(["./press", "--quiet"], name="press", space=…)

The program is started once and kept. For each trial it reads one line from its standard input and writes one line to
its standard output, at once (flush it):

    {"point": {"gain": 40.0}, "seed": 7}
    {"cost": 0.44, "metrics": {"peak_N": 31.0}}

or, for a run without a cost, one of

    {"outcome": "failed", "reason": "joint 4 at its limit"}      the point is bad; the search learns from it
    {"outcome": "lost", "reason": "the gripper has no power"}    the lab broke; the point comes again

``point`` in an answer is the one that was really run. In a run, ``seed`` is the number of the trial. At the end of its
input the program leaves. Lines of its output that do not begin with ``{`` go to the log and are no answer, so that
banners do no harm. Its standard error goes to the log, too.

Whatever else comes, the trial is lost, by a `RobotFault` with the last lines of standard error: an answer that is no
such JSON, a cost that is NaN or null, an answer that nobody asked for, a program that ends. After that, and after a
trial that is broken off by its deadline or by an operator, the program is ended with all that it started: SIGTERM, two
seconds, SIGKILL. The next trial starts it anew. Needs Unix.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from geodrome.spaces import Number
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from geodrome_robots.bridges.bridge import About, Bridge, Space
from geodrome_robots.bridges.process import CannotStart, Process
from geodrome_robots.robot import Infeasible, Measurement, Readiness, Robot, RobotFault
from geodrome_robots.stop import Stop

log = logging.getLogger("geodrome.robots")

SHOWN = 200
"""Characters of a wrong answer that a message shows."""

Line = TypeVar("Line", bound=BaseModel)


class Greeting(BaseModel):
    """What a program says when it is up."""

    model_config = ConfigDict(extra="forbid")

    ready: bool
    reason: str = ""


def _none_for_nan(cost: object) -> object:
    """C++ and MATLAB write a NaN as null, Python writes NaN: it is one mistake, and has one message."""
    return None if isinstance(cost, float) and not math.isfinite(cost) else cost


class Answer(BaseModel):
    """What a program says became of a trial."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["completed", "failed", "lost"] = "completed"
    cost: Annotated[Number | None, BeforeValidator(_none_for_nan)] = None
    metrics: Annotated[dict[str, Number], BeforeValidator(lambda given: given or {})] = {}  # MATLAB's empty is []
    point: Any = None
    reason: str = ""

    @model_validator(mode="after")
    def _cost_belongs_to_completed(self) -> Self:
        if (self.outcome == "completed") != (self.cost is not None):
            raise ValueError(
                "a completed run has a cost that is a finite number, and no other has one: "
                'a run without a cost (NaN, null) is answered by {"outcome": "failed", "reason": …}'
            )
        return self


def from_command(
    command: Sequence[str],
    *,
    name: str,
    space: Space,
    description: Mapping[str, Any] | None = None,
    deterministic: bool = False,
    directory: Path | str | None = None,
    start_s: float | None = None,
) -> Robot:
    """A robot whose trials are run by another program; the module says how the two speak.

    Args:
        command: The program and its arguments; no shell takes part.
        name: What the robot is called in studies and listings.
        space: Its parameters, as ``geodrome.Real(bounds=(0, 1))`` or as the same in the form that travels.
        description: Replaces entries of ``describe()``; say the ``cost`` and its unit here.
        deterministic: Whether the same point and seed give the same numbers, to the last digit.
        directory: Where the program runs; here, if it is None.
        start_s: How long the program may take to write ``{"ready": true}``, s; nothing is asked of the service before.
            None for a program that does not write it: its start is then part of its first trial.

    Raises:
        ValueError: No space is written like this.
    """
    about = About(name, space, description, deterministic)
    return CommandRobot(tuple(command), about, directory=directory, start_s=start_s)


class CommandRobot(Bridge):
    """See ``from_command``.

    Between two trials the program rests or has been ended, so that ``safe_stop`` has nothing to do.
    """

    def __init__(
        self, command: Sequence[str], about: About, *, directory: Path | str | None, start_s: float | None
    ) -> None:
        super().__init__(about)
        self._command = command
        self._directory = directory
        self._start_s = start_s
        self._process: Process | None = None

    def origin(self) -> dict[str, Any]:
        """The program."""
        return {
            "model": f"the program {Path(self._command[0]).name}",
            "command": list(self._command),
            "cost": {"meaning": "what the program answers", "unit": None},
        }

    def ready(self) -> Readiness:
        """Whether the program runs; it is started if it does not.

        Raises:
            RobotFault: There is no such program, so that waiting does not help.
        """
        try:
            self._running(Stop())
        except CannotStart:
            raise
        except RobotFault as error:
            return Readiness(is_ready=False, reason=str(error))
        return Readiness(is_ready=True)

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """Lets the program run the point; see ``Robot.evaluate``."""
        answer = self._answer(json.dumps({"point": point, "seed": seed}, allow_nan=False), stop)
        match answer.outcome:
            case "failed":
                raise Infeasible(answer.reason or f"{self.name} says that the run failed")
            case "lost":
                raise RobotFault(answer.reason or f"{self.name} says that the run was lost")
        assert answer.cost is not None
        return Measurement(answer.cost, metrics=answer.metrics, executed=answer.point)

    def close(self) -> None:
        """Closes the program's input, and ends it if it does not leave."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _running(self, stop: Stop) -> Process:
        if self._process is not None and (code := self._process.exit_code) is not None:
            log.warning("%s ended between two trials with the exit code %d; it is started again", self.name, code)
            self._end()
        if self._process is None:
            self._process = Process(self._command, name=self.name, directory=self._directory)
            if self._start_s is not None:
                self._await_greeting(self._process, stop, within_s=self._start_s)
        return self._process

    def _await_greeting(self, process: Process, stop: Stop, *, within_s: float) -> None:
        try:
            greeting = _read(Greeting, process.next_line(stop, within_s=within_s), process)
            if not greeting.ready:
                raise process.fault(f"is not ready: {greeting.reason or 'it gives no reason'}")
        except BaseException:
            self._end()
            raise

    def _answer(self, question: str, stop: Stop) -> Answer:
        process = self._running(stop)
        try:
            if (line := process.unasked()) is not None:
                raise process.fault(f"wrote what nobody asked for: {line[:SHOWN]}")
            process.write(question)
            return _read(Answer, process.next_line(stop), process)
        except BaseException:
            # What it would answer now belongs to no trial, and a robot that nobody waits for must not go on moving.
            self._end()
            raise

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.end()


def _read(kind: type[Line], line: str, process: Process) -> Line:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in first["loc"])
        raise process.fault(f"answered {line[:SHOWN]}\n{where}{first['msg']}") from error
