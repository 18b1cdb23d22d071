"""Robots by name: those that come with Geodrome, and an operator's own by import string."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geodrome_robots.robot import Robot

ROBOTS: Mapping[str, str] = {
    "orientation": "geodrome_robots.tasks.orientation:Orientation",
    "orientation-appendix": "geodrome_robots.tasks.orientation:OrientationOfTheAppendix",
    "gains": "geodrome_robots.tasks.gains:Gains",
    "posture": "geodrome_robots.tasks.posture:Posture",
    "posture-torus": "geodrome_robots.tasks.posture:PostureOnTorus",
    "stiffness": "geodrome_robots.tasks.stiffness:Stiffness",
    "tool-pose": "geodrome_robots.tasks.tool_pose:ToolPose",
}
"""Built-in robots; whoever starts the program may also name ``module:Class``."""


class UnknownRobot(ValueError):
    """No robot can be made from what was asked for; the message tells why."""


def load(name: str, **options: Any) -> Robot:
    """The robot of a built-in name or of an import string ``module:Class``.

    Modules are also looked for in the current directory. Only somebody who may run programs here chooses robots: a name
    that came over the network must not reach this function.

    Args:
        name: Such as ``orientation`` or ``my_lab.arms:Left``.
        options: Passed to the class.

    Raises:
        UnknownRobot: No such name, module or class, or the class does not take the options.
    """
    target = ROBOTS.get(name, name)
    module_name, colon, class_name = target.partition(":")
    if not (colon and module_name and class_name.isidentifier()):
        raise UnknownRobot(f"no robot is called {name!r}: choose of {', '.join(ROBOTS)}, or name your own module:Class")
    kind = _kind(module_name, class_name, name)
    try:
        inspect.signature(kind).bind(**options)
        robot = kind(**options)
    except (TypeError, ValueError) as error:
        raise UnknownRobot(f"{name} cannot be made with the options {options}: {error}") from error
    if not isinstance(robot, Robot):
        raise UnknownRobot(f"{target} is not a robot: check_robot tells what it lacks")
    return robot


def _kind(module_name: str, class_name: str, name: str) -> type:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise UnknownRobot(f"{name} cannot be imported: {error}") from error
    kind = getattr(module, class_name, None)
    if not inspect.isclass(kind):
        raise UnknownRobot(f"{module_name} has no class {class_name}")
    return kind
