"""A ROS 2 action as a robot: a goal is a trial, feedback is its sign of life, cancelling breaks it off.

| what the action does | what becomes of the trial |
|---|---|
| it succeeds | completed, with the result's cost and metrics |
| it is aborted by the robot | failed: the point is bad, the search learns from it |
| it rejects the goal, goes away, is silent for ``silence_s``, is cancelled by somebody else | lost |
| it succeeds without a finite cost | lost; a run that went wrong is to be aborted |
| it takes longer than ``deadline_s`` | the goal is cancelled, the trial failed |
| Ctrl-C | the goal is cancelled, the trial lost |
| somebody takes the trial away | the goal is cancelled; who took it has told what became of it |

This file and ``plain_client.py`` need Python 3.10 and nothing else, not even rclpy: copy both beside your node, which
hands over its action client. ``robot_adapters/examples/ros2/`` in the repository has such a node and its action.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

log = logging.getLogger("geodrome.ros2")

# action_msgs/msg/GoalStatus
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6

SPIN_S = 0.1
CANCEL_S = 5.0
"""How long a robot may take to come to rest when its goal is cancelled."""
BEATS = 3
"""Signs of life in the time that a lease lasts, at most one for each feedback."""
MAX_FAULTS = 3  # in a row; lost trials are free, so a broken robot would otherwise ask for ever


class Broken(Exception):
    """The robot cannot run trials; a person has to look."""


class TakenAway(Exception):
    """The trial is no longer this robot's: there is nothing to tell."""


class Parameter(NamedTuple):
    """A parameter as ROS messages can carry it: a matrix row by row, a vector as one column, a number as 1 x 1."""

    name: str
    rows: int
    cols: int
    data: list[float]


def flatten(space: Mapping[str, Any], point: Any, name: str = "") -> list[Parameter]:
    """The point of a space as flat lists of doubles, each under its name; a space that is no product is ``point``.

    Factors of a product have their names, dotted where products are nested, and a pose is ``position`` and
    ``orientation``. A quaternion becomes four numbers, ``….w``, ``….x``, ``….y``, ``….z``, so that no order can be
    mistaken.
    """
    if space["type"] == "pose":
        space = {"type": "product", "factors": {"position": {"type": "euclidean"}, "orientation": space["orientation"]}}
    if space["type"] == "product":
        prefix = f"{name}." if name else ""
        factors = space["factors"].items()
        return [part for key, factor in factors for part in flatten(factor, point[key], prefix + key)]
    name = name or "point"
    if space.get("representation") == "quaternion":
        return [
            Parameter(f"{name}.{axis}", 1, 1, [float(value)]) for axis, value in zip(space["order"], point, strict=True)
        ]
    rows = point if isinstance(point, list) else [point]
    columns = len(rows[0]) if isinstance(rows[0], list) else 1
    numbers = [float(value) for row in rows for value in (row if isinstance(row, list) else [row])]
    return [Parameter(name, len(rows), columns, numbers)]


@dataclass(frozen=True)
class Limits:
    """How long the bridge waits, in seconds.

    Attributes:
        server_s: For the action server, before anything is asked of the service.
        silence_s: For feedback; a server that is silent for longer is taken to be gone.
        deadline_s: For one trial; None for as long as it takes.
    """

    server_s: float = 10.0
    silence_s: float = 30.0
    deadline_s: float | None = None


class ActionRobot:
    """Trials of a study, run by an action server.

    Args:
        service: A ``plain_client.Service``.
        study: Name of the study.
        client: An ``rclpy.action.ActionClient``.
        make_goal: Makes a goal of a trial and its parameters.
        spin: Lets the node work for so many seconds: ``lambda s: rclpy.spin_once(node, timeout_sec=s)``.
        worker: Who asks; a worker that comes back under its name gets the trial that it left running.
        limits: How long it waits.
    """

    def __init__(
        self,
        service: Any,
        study: str,
        client: Any,
        *,
        make_goal: Callable[[Mapping[str, Any], list[Parameter]], Any],
        spin: Callable[[float], None],
        worker: str,
        limits: Limits | None = None,
    ) -> None:
        self._service = service
        self._study = service.study(study)
        self._client = client
        self._make_goal = make_goal
        self._spin = spin
        self._worker = worker
        self._limits = limits or Limits()
        self._heard = self._beat = time.monotonic()

    def run(self, trials: int) -> list[dict[str, Any]]:
        """Runs so many trials that are not lost, and returns what was told of each, with its ``number``.

        Raises:
            Broken: The action server is not there, or three trials in a row were lost.
            plain_client.Refused: The study is closed, or its budget is spent.
        """
        told: list[dict[str, Any]] = []
        faults = 0
        while sum(body["outcome"] != "lost" for body in told) < trials:
            if not self._client.wait_for_server(timeout_sec=self._limits.server_s):
                raise Broken(f"there was no action server for {self._limits.server_s:g} s")
            trial = self._service.ask(self._study["id"], worker=self._worker)
            try:
                body = self._run(trial)
            except TakenAway as error:
                log.warning("trial %d was taken away: %s", trial["number"], error)
                continue
            except KeyboardInterrupt:
                self._tell(trial, {"outcome": "lost", "reason": "stopped by the operator"})
                raise
            self._tell(trial, body)
            told.append({"number": trial["number"], **body})
            faults = faults + 1 if body["outcome"] == "lost" else 0
            if faults == MAX_FAULTS:
                raise Broken(f"{MAX_FAULTS} trials in a row were lost, lastly: {body['reason']}")
        return told

    def _tell(self, trial: Mapping[str, Any], body: dict[str, Any]) -> None:
        try:
            self._service.tell(self._study["id"], trial["number"], **body)
        except Exception as error:
            if getattr(error, "code", "") == "outcome-conflict":
                # Somebody was faster: a person abandoned the trial.
                log.warning("the result of trial %d is not wanted any more: %s", trial["number"], error)
                return
            # Whoever reads the log can tell it by hand.
            log.exception("trial %d could not be told: %s", trial["number"], body)
            raise

    def _run(self, trial: Mapping[str, Any]) -> dict[str, Any]:
        goal = self._make_goal(trial, flatten(self._study["space"], trial["point"]))
        self._heard = self._beat = begin = time.monotonic()
        sent = self._client.send_goal_async(goal, feedback_callback=self._hear)
        try:
            if (why := self._await(sent, trial, begin)) is None:
                handle = sent.result()
                if not handle.accepted:
                    return {"outcome": "lost", "reason": "the action server rejected the goal"}
                ended = handle.get_result_async()
                if (why := self._await(ended, trial, begin)) is None:
                    return _outcome(ended.result())
        except BaseException:
            self._cancel(sent)
            raise
        self._cancel(sent)
        return why

    def _await(self, future: Any, trial: Mapping[str, Any], begin: float) -> dict[str, Any] | None:
        """None when the future is done; what is to be told if it is not worth waiting for.

        Raises:
            TakenAway: The service says that the trial does not run.
        """
        limits = self._limits
        while not future.done():
            self._spin(SPIN_S)
            now = time.monotonic()
            if limits.deadline_s is not None and now - begin > limits.deadline_s:
                return {"outcome": "failed", "reason": f"timeout: the trial took longer than {limits.deadline_s:g} s"}
            if not self._client.server_is_ready():
                return {"outcome": "lost", "reason": "the action server went away"}
            if now - self._heard > limits.silence_s:
                return {"outcome": "lost", "reason": f"the action server gave no feedback for {limits.silence_s:g} s"}
            if self._heard > self._beat and now - self._beat > self._study["lease_s"] / BEATS:
                self._beat = now
                self._extend(trial)
        return None

    def _hear(self, feedback: Any) -> None:
        del feedback
        self._heard = time.monotonic()

    def _extend(self, trial: Mapping[str, Any]) -> None:
        try:
            self._service.heartbeat(self._study["id"], trial["number"])
        except Exception as error:
            # A service that is away must not stop a robot.
            if getattr(error, "code", "") == "outcome-conflict":
                raise TakenAway(str(error)) from error
            log.warning("no sign of life of trial %d could be given: %s", trial["number"], error)

    def _cancel(self, sent: Any) -> None:
        """Cancels a goal and waits for the robot to come to rest."""
        end = time.monotonic() + CANCEL_S
        if self._comes(sent, end):
            handle = sent.result()
            if not handle.accepted:
                return
            handle.cancel_goal_async()
            if self._comes(handle.get_result_async(), end):
                return
        else:
            # Should it be accepted after all, it is not to run.
            sent.add_done_callback(lambda late: late.result().accepted and late.result().cancel_goal_async())
        log.error("the action server did not say within %g s that the robot rests", CANCEL_S)

    def _comes(self, future: Any, end: float) -> bool:
        while not future.done() and time.monotonic() < end:
            self._spin(SPIN_S)
        return bool(future.done())


def _outcome(response: Any) -> dict[str, Any]:
    result = response.result
    if response.status == SUCCEEDED:
        if not math.isfinite(result.cost):
            return {"outcome": "lost", "reason": f"the action succeeded with the cost {result.cost}: abort a bad run"}
        if len(result.metric_names) != len(result.metric_values):
            return {"outcome": "lost", "reason": "the result has not as many metric_names as metric_values"}
        metrics = dict(zip(result.metric_names, result.metric_values, strict=True))
        return {
            "outcome": "completed",
            "cost": float(result.cost),
            "metrics": {name: float(value) for name, value in metrics.items() if math.isfinite(value)},
        }
    if response.status == ABORTED:
        return {"outcome": "failed", "reason": result.reason or "aborted by the robot"}
    what = "was cancelled by somebody else" if response.status == CANCELED else f"ended with status {response.status}"
    return {"outcome": "lost", "reason": f"the goal {what}"}
