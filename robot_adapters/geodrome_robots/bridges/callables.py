"""A plain function as a robot: it takes a point and returns its cost.

    robot = from_callable(settling_time, name="joint", space=geodrome.Real(bounds=(1, 1000), scale="log", unit="1/s"))

The function raises `Infeasible` where the point is bad and `RobotFault` where the lab broke; anything else that it
raises ends the run. If it has parameters called ``seed`` or ``stop``, it gets what ``Robot.evaluate`` gets: noise comes
from the seed, and whoever takes long calls ``stop.check()`` between steps.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, SupportsFloat

from geodrome_robots.bridges.bridge import About, Bridge, Space, called, first_line
from geodrome_robots.robot import Measurement, Robot
from geodrome_robots.stop import Stop


def from_callable(
    function: Callable[..., SupportsFloat | Measurement],
    *,
    name: str,
    space: Space,
    description: Mapping[str, Any] | None = None,
    deterministic: bool = False,
) -> Robot:
    """A robot whose trials are calls of ``function``.

    Args:
        function: Takes a point in canonical form, a copy that it may change, and returns the cost or a `Measurement`.
        name: What the robot is called in studies and listings.
        space: Its parameters, as ``geodrome.Real(bounds=(0, 1))`` or as the same in the form that travels.
        description: Replaces entries of ``describe()``, such as ``{"version": "2", "cost": {…}}``.
        deterministic: Whether the same point and seed give the same numbers, to the last digit.

    Raises:
        ValueError: No space is written like this.
    """
    return CallableRobot(function, About(name, space, description, deterministic))


class CallableRobot(Bridge):
    """See ``from_callable``."""

    def __init__(self, function: Callable[..., SupportsFloat | Measurement], about: About) -> None:
        super().__init__(about)
        self._function = function
        self._keywords = _keywords(function)

    def origin(self) -> dict[str, Any]:
        """The function and what it says about itself."""
        meaning = first_line(self._function, f"what {called(self._function)} returns")
        return {"model": f"the function {called(self._function)}", "cost": {"meaning": meaning, "unit": None}}

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """Calls the function; see ``Robot.evaluate``.

        Raises:
            TypeError: What it returns is neither a number nor a `Measurement`.
        """
        given = {"seed": seed, "stop": stop}
        result = self._function(copy.deepcopy(point), **{keyword: given[keyword] for keyword in self._keywords})
        if isinstance(result, Measurement):
            return result
        try:
            return Measurement(float(result))
        except (TypeError, ValueError) as error:
            message = f"{called(self._function)} returned {result!r}: a cost or a Measurement is wanted"
            raise TypeError(message) from error


def _keywords(function: Callable[..., Any]) -> list[str]:
    """Which of ``seed`` and ``stop`` the function takes beside the point."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except ValueError:  # compiled functions need not tell
        return []
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        parameter.name for parameter in parameters if parameter.name in {"seed", "stop"} and parameter.kind in by_name
    ]
