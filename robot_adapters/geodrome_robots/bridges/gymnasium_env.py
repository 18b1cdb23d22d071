"""A Gymnasium environment as a robot: a trial is one episode under the policy that belongs to the point.

    robot = from_gymnasium("Pendulum-v1", policy, space, terminated="failed", truncated="completed", max_steps=200, …)

An episode ends in one of two ways that Gymnasium keeps apart, and what they mean is said by whoever makes the robot:

- ``terminated``: the task is over. A lander that stands has completed its trial; a walker that fell may have failed it.
- ``truncated``: the time is over, by the environment's own limit or after ``max_steps``. That completes a balancing
  task, and fails one of reaching a goal.

A completed episode costs minus the sum of its rewards, or what ``cost`` makes of it. Where both flags are set,
``terminated`` holds. Numbers that are not finite are told apart by where they come from: an action, or an observation
after a step, is the point's doing and `Infeasible`; the first observation, or the reward of a finite state, says that
the environment is broken and is a `RobotFault`.

Every trial makes an environment of its own, seeds it and closes it, so that nothing is left of the trial before.
Gymnasium is needed only if the environment is named by its id.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, SupportsFloat

import numpy as np

from geodrome_robots.bridges.bridge import About, Bridge, Space, called, first_line
from geodrome_robots.robot import Infeasible, Measurement, Robot, RobotFault
from geodrome_robots.stop import Stop

End = Literal["completed", "failed"]
Policy = Callable[[Any], Any]
"""Observation -> action."""


@dataclass
class Episode:
    """What happened in an environment.

    Attributes:
        observations: The first one, and one after each step.
        actions: One for each step.
        rewards: One for each step; finite.
        info: What the environment said beside its last observation.
        end: How it ended; the end by ``max_steps`` is a truncation, too.
    """

    observations: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    info: Mapping[str, Any] = field(default_factory=dict)
    end: Literal["terminated", "truncated"] = "truncated"


def minus_return(episode: Episode) -> float:
    """Minus the sum of the rewards."""
    return -math.fsum(episode.rewards)


def from_gymnasium(
    make_env: str | Callable[[], Any],
    policy: Callable[[Any], Policy],
    space: Space,
    cost: Callable[[Episode], SupportsFloat | Measurement] = minus_return,
    *,
    terminated: End,
    truncated: End,
    max_steps: int,
    name: str,
    description: Mapping[str, Any] | None = None,
    deterministic: bool = False,
) -> Robot:
    """A robot whose trials are episodes.

    Args:
        make_env: Makes an environment; or its id, such as ``"Pendulum-v1"``.
        policy: Takes a point and gives the policy of one episode, a function of the observation.
        space: The policy's parameters, as ``geodrome.Real(bounds=(0, 1))`` or as the same in the form that travels.
        cost: What a completed episode costs, or a `Measurement` of it.
        terminated: What it means that the environment terminated the episode.
        truncated: What it means that the episode was cut off.
        max_steps: After how many steps it is cut off, if the environment does not do so earlier.
        name: What the robot is called in studies and listings.
        description: Replaces entries of ``describe()``.
        deterministic: Whether the same point and seed give the same numbers, to the last digit.

    Raises:
        ValueError: No space is written like this, or an end is said to mean something else.
    """
    ends = {"terminated": terminated, "truncated": truncated}
    if unknown := [f"{end}={meaning!r}" for end, meaning in ends.items() if meaning not in {"completed", "failed"}]:
        raise ValueError(f"an end is 'completed' or 'failed', not {', '.join(unknown)}")
    episodes = Episodes(make_env, policy, max_steps)
    return GymnasiumRobot(episodes, cost, ends, About(name, space, description, deterministic))


@dataclass(frozen=True)
class Episodes:
    """Where episodes come from.

    Attributes:
        make_env: Makes an environment; or its id.
        policy: Takes a point and gives the policy of one episode.
        max_steps: After how many steps an episode is cut off.
    """

    make_env: str | Callable[[], Any]
    policy: Callable[[Any], Policy]
    max_steps: int

    def run(self, point: Any, *, seed: int, stop: Stop) -> Episode:
        """One episode, in an environment of its own.

        Raises:
            Infeasible: The point drove the environment, or the policy, out of the finite numbers.
            RobotFault: The environment is broken.
        """
        act = self.policy(point)
        with contextlib.closing(self._make()) as env:
            observation, info = env.reset(seed=seed)
            if not _is_finite(observation):
                raise RobotFault(f"the environment begins at {observation!r}, which is not finite")
            episode = Episode([observation], info=info)
            for step in range(1, self.max_steps + 1):
                stop.check()
                action = act(observation)
                if not _is_finite(action):
                    raise Infeasible(f"in step {step} the policy gave {action!r}, which is not finite")
                observation, reward, is_terminated, is_truncated, episode.info = env.step(action)
                if not _is_finite(observation):
                    raise Infeasible(f"in step {step} the environment went to {observation!r}, which is not finite")
                if not math.isfinite(reward):
                    raise RobotFault(f"in step {step} the environment gave the reward {reward!r} in a finite state")
                episode.observations.append(observation)
                episode.actions.append(action)
                episode.rewards.append(float(reward))
                if is_terminated or is_truncated:
                    episode.end = "terminated" if is_terminated else "truncated"
                    break
        return episode

    def _make(self) -> Any:
        if not isinstance(self.make_env, str):
            return self.make_env()
        import gymnasium

        return gymnasium.make(self.make_env)


class GymnasiumRobot(Bridge):
    """See ``from_gymnasium``."""

    def __init__(
        self,
        episodes: Episodes,
        cost: Callable[[Episode], SupportsFloat | Measurement],
        ends: Mapping[str, End],
        about: About,
    ) -> None:
        super().__init__(about)
        self._episodes = episodes
        self._cost = cost
        self._ends = dict(ends)

    def origin(self) -> dict[str, Any]:
        """The environment, and what an episode is and costs."""
        made_by = self._episodes.make_env
        return {
            "model": f"the Gymnasium environment {made_by if isinstance(made_by, str) else called(made_by)}",
            "cost": {"meaning": first_line(self._cost, f"what {called(self._cost)} returns"), "unit": None},
            "policy": first_line(self._episodes.policy, called(self._episodes.policy)),
            "ends": dict(self._ends),
            "max_steps": self._episodes.max_steps,
        }

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """One episode and what it costs; see ``Robot.evaluate``."""
        episode = self._episodes.run(point, seed=seed, stop=stop)
        steps = len(episode.rewards)
        if self._ends[episode.end] == "failed":
            raise Infeasible(f"the episode was {episode.end} after {steps} steps")
        cost = self._cost(episode)
        if isinstance(cost, Measurement):
            return cost
        return Measurement(float(cost), metrics={"return": math.fsum(episode.rewards), "steps": steps})


def _is_finite(value: Any) -> bool:
    """Whether an observation or an action holds finite numbers only; what is no number counts as finite."""
    if isinstance(value, Mapping):
        return all(_is_finite(item) for item in value.values())
    if isinstance(value, (tuple, list)):
        return all(_is_finite(item) for item in value)
    array = np.asarray(value)
    return not np.issubdtype(array.dtype, np.inexact) or bool(np.isfinite(array).all())
