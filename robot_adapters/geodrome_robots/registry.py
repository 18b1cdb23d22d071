"""Robots by name: those that come with Geodrome, and an operator's own by import string."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from geodrome_robots.robot import Robot

ROBOTS: Mapping[str, str] = {
    "orientation": "geodrome_robots.tasks.orientation:Orientation",
    "orientation-appendix": "geodrome_robots.tasks.orientation:OrientationOfTheAppendix",
    "manipulability": "geodrome_robots.tasks.manipulability:Manipulability",
    "manipulability-appendix": "geodrome_robots.tasks.manipulability:ManipulabilityOfTheAppendix",
    "path-planning": "geodrome_robots.tasks.path_planning:PathPlanning",
    "path-planning-nodes": "geodrome_robots.tasks.path_planning:PathPlanningNodes",
    "path-planning-three": "geodrome_robots.tasks.path_planning:PathPlanningThree",
    "gains": "geodrome_robots.tasks.gains:Gains",
    "posture": "geodrome_robots.tasks.posture:Posture",
    "posture-torus": "geodrome_robots.tasks.posture:PostureOnTorus",
    "stiffness": "geodrome_robots.tasks.stiffness:Stiffness",
    "tool-pose": "geodrome_robots.tasks.tool_pose:ToolPose",
}
"""Built-in robots; whoever starts the program may also name ``module:Class`` or ``file.py:Class``."""


class UnknownRobot(ValueError):
    """No robot can be made from what was asked for; the message tells why."""


def load(name: str, **options: Any) -> Robot:
    """The robot of a built-in name or of an import string: ``module:Class``, or ``module:robot`` for one that is made.

    In place of a module a file may be named, ``lab/arms.py:Left``. Modules are also looked for in the current
    directory. Only somebody who may run programs here chooses robots: a name that came over the network must not reach
    this function.

    Args:
        name: Such as ``orientation`` or ``my_lab.arms:Left``.
        options: Passed to the class.

    Raises:
        UnknownRobot: No such name, module or class, or the class does not take the options.
    """
    target = ROBOTS.get(name, name)
    module_name, colon, attribute = target.rpartition(":")
    if not (colon and module_name and attribute.isidentifier()):
        raise UnknownRobot(f"no robot is called {name!r}: choose of {', '.join(ROBOTS)}, or name your own module:Class")
    found = _found(module_name, attribute, name)
    if inspect.isclass(found):
        try:
            inspect.signature(found).bind(**options)
            robot = found(**options)
        except (TypeError, ValueError) as error:
            raise UnknownRobot(f"{name} cannot be made with the options {options}: {error}") from error
    elif options:
        raise UnknownRobot(f"{name} is a robot that has been made, and takes no options: {options}")
    else:
        robot = found
    if not isinstance(robot, Robot):
        raise UnknownRobot(f"{target} is not a robot: check_robot tells what it lacks")
    return robot


def _found(module_name: str, attribute: str, name: str) -> Any:
    try:
        module = _file(Path(module_name)) if module_name.endswith(".py") else _module(module_name)
    except (ImportError, FileNotFoundError) as error:
        raise UnknownRobot(f"{name} cannot be imported: {error}") from error
    if not hasattr(module, attribute):
        raise UnknownRobot(f"{module_name} has no class {attribute}")
    return getattr(module, attribute)


def _module(name: str) -> ModuleType:
    _look_in(Path.cwd())
    return importlib.import_module(name)


def _file(path: Path) -> ModuleType:
    """The module of a file, whatever else is called like it; it imports its neighbours as a program does."""
    _look_in(path.parent)
    spec = importlib.util.spec_from_file_location(f"robot_file_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _look_in(directory: Path) -> None:
    if (here := str(directory.resolve())) not in sys.path:
        sys.path.insert(0, here)
