"""Everything that regret is measured on: functions with known optima, and the simulated robots.

A robot is a space, ``robot:NAME``, and its functions are its weightings. Its least cost is not known, and its cost is
NaN where a trial is infeasible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import problems
import torch
from geodrome_core import space_from_spec
from geodrome_robots.registry import ROBOTS, load
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.task import Task
from problems import CostFunction
from torch import Tensor

PREFIX = "robot:"

ROBOT_SPACES = tuple(f"{PREFIX}{name}" for name in ROBOTS)

SPACES = (*problems.SPECS, *ROBOT_SPACES)

SEED = 1
"""Robots are the same to the bit for each seed."""


def is_robot(space_name: str) -> bool:
    """Whether the space is that of a robot."""
    return space_name.startswith(PREFIX)


def names(space_name: str) -> Sequence[str]:
    """The functions on a space."""
    return [*_robot(space_name).weightings] if is_robot(space_name) else problems.names(space_name)


@cache
def cost_function(space_name: str, name: str) -> CostFunction:
    """The function of this name on this space.

    Raises:
        ValueError: There is none.
    """
    if not is_robot(space_name):
        return problems.cost_function(space_name, name)
    robot = _robot(space_name, name)
    space = space_from_spec(robot.space)

    def cost(row: Tensor) -> float:
        try:
            return robot.evaluate(space.point(row), seed=SEED, stop=Stop()).cost
        except Infeasible:
            return math.nan

    def costs(X: Tensor) -> Tensor:
        return torch.tensor([cost(row) for row in X], dtype=torch.float64)

    return CostFunction(space_name, name, space, costs, math.nan, torch.full((space.manifold.width,), math.nan))


def _robot(space_name: str, weights: str | None = None) -> Task:
    robot = load(space_name.removeprefix(PREFIX), **({"weights": weights} if weights else {}))
    assert isinstance(robot, Task)
    return robot
