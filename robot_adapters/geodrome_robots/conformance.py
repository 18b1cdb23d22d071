"""The rules that every robot keeps, checked from outside: what is broken is told all at once."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from geodrome import spaces
from pydantic import ValidationError

from geodrome_robots.points import parse_space, point_faults, random_point
from geodrome_robots.robot import Infeasible, Measurement, Readiness, Robot
from geodrome_robots.stop import Stop

MEMBERS = ("describe", "evaluate", "ready", "safe_stop", "close")
DESCRIPTION = ("name", "version", "model", "parameters", "cost", "deterministic")
ATTEMPTS = 10  # random points tried until two could be measured


class RobotDefect(ValueError):
    """A robot breaks rules of the protocol.

    Attributes:
        violations: Every broken rule, a sentence each.
    """

    def __init__(self, name: str, violations: list[str]) -> None:
        super().__init__("\n".join([f"{name} breaks {len(violations)} rules of a robot:", *violations]))
        self.violations = tuple(violations)


def check_robot(robot: Robot, *, seed: int = 0) -> None:
    """Run the robot a few times at random points and hold it against the protocol.

    Three trials are run, A, B and A again, so that a deterministic robot shows that it is one; a trial that is
    `Infeasible` is replaced by another. The robot is stopped safely at the end, and not closed.

    Args:
        robot: What is checked; it has to be ready.
        seed: Of the random points and of the trials.

    Raises:
        RobotDefect: With every violation that was found.
    """
    violations = list(_violations(robot, seed))
    if violations:
        raise RobotDefect(str(getattr(robot, "name", type(robot).__name__)), violations)


def _violations(robot: Robot, seed: int) -> Iterator[str]:
    if missing := [member for member in MEMBERS if not callable(getattr(robot, member, None))]:
        yield f"it has no {', '.join(missing)}"
    name = getattr(robot, "name", None)
    if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]*", name)):
        yield f"name is {name!r}: letters, digits, _, - and . are wanted, beginning with a letter"
    space, faults = _space(robot)
    yield from faults
    described: Mapping[str, Any] = {}
    if "describe" not in missing:
        described, faults = _description(robot, space)
        yield from faults
    if "ready" not in missing and (fault := _readiness(robot)):
        yield fault
        return
    if space is not None and "evaluate" not in missing:
        yield from _trials(robot, space, seed, is_deterministic=described.get("deterministic") is True)
    if "safe_stop" not in missing:
        robot.safe_stop()


def _space(robot: Robot) -> tuple[spaces.Space | None, list[str]]:
    spec = getattr(robot, "space", None)
    if not isinstance(spec, Mapping):
        return None, [f"space is {spec!r}: the spec as it travels is wanted, a dict"]
    try:
        space = parse_space(spec)
        random_point(space, np.random.default_rng(0))
    except ValidationError as error:
        return None, [f"space{_dotted(fault['loc'])}: {fault['msg']}" for fault in error.errors()]
    except ValueError as error:
        return None, [f"space cannot be searched: {error}"]
    return space, []


def _dotted(location: tuple[int | str, ...]) -> str:
    return "".join(f".{part}" for part in location)


def _description(robot: Robot, space: spaces.Space | None) -> tuple[Mapping[str, Any], list[str]]:
    described = robot.describe()
    if not isinstance(described, dict):
        return {}, [f"describe() returns {type(described).__name__}: a dict is wanted"]
    faults = [f"describe() has no {key!r}" for key in DESCRIPTION if key not in described]
    try:
        json.dumps(described, allow_nan=False)
    except (TypeError, ValueError) as error:
        faults.append(f"describe() is not JSON: {error}")
    if "name" in described and described["name"] != getattr(robot, "name", None):
        faults.append(f"describe() says the name is {described['name']!r}, the robot says {robot.name!r}")
    if not isinstance(described.get("deterministic", False), bool):
        faults.append(f"describe() says deterministic is {described['deterministic']!r}: true or false is wanted")
    if not isinstance(described.get("cost", {}), dict):
        faults.append(f"describe() says the cost is {described['cost']!r}: a dict is wanted")
    parameters = described.get("parameters", {})
    if isinstance(space, spaces.Product) and (unsaid := set(space.factors) - set(parameters)):
        faults.append(f"describe() does not explain the parameters {sorted(unsaid)}")
    elif "parameters" in described and not parameters:
        faults.append("describe() explains no parameter")
    return described, faults


def _readiness(robot: Robot) -> str | None:
    readiness = robot.ready()
    if not isinstance(readiness, Readiness):
        return f"ready() returns {type(readiness).__name__}: a Readiness is wanted"
    if not readiness:
        return f"it is not ready, so no trial was run: {readiness.reason or 'it gives no reason'}"
    return None


def _trials(robot: Robot, space: spaces.Space, seed: int, *, is_deterministic: bool) -> Iterator[str]:
    generator = np.random.default_rng(seed)
    measured: list[tuple[Any, Measurement]] = []
    for _ in range(ATTEMPTS):
        point = random_point(space, generator)
        measurement, faults = _trial(robot, space, point, seed)
        yield from faults
        if faults:
            return
        if measurement is not None:
            measured.append((point, measurement))
        if len(measured) == 2:
            break
    else:
        yield f"fewer than two of {ATTEMPTS} random points are feasible"
        return
    point, first = measured[0]
    again, faults = _trial(robot, space, point, seed)
    yield from faults
    if is_deterministic and not faults and again != first:
        yield f"it says that it is deterministic, but {point!r} gave {first} and, after another trial, {again}"


def _trial(robot: Robot, space: spaces.Space, point: Any, seed: int) -> tuple[Measurement | None, list[str]]:
    """The measurement at ``point``, None if that is infeasible, and every rule that this trial breaks."""
    given = copy.deepcopy(point)
    try:
        measurement = robot.evaluate(given, seed=seed, stop=Stop())
    except Infeasible:
        measurement = None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's robot raises is what this function reports
        return None, [f"evaluate({point!r}) raises {type(error).__name__}: {error}"]
    faults = [f"evaluate changes the point it is given: {point!r} became {given!r}"] if given != point else []
    if measurement is None:
        return None, faults
    if not isinstance(measurement, Measurement):
        return None, [*faults, f"evaluate returns {type(measurement).__name__}: a Measurement is wanted"]
    if not _is_finite(measurement.cost):
        faults.append(f"the cost is {measurement.cost!r}: a finite number is wanted, or Infeasible raised")
    faults += [
        f"the metric {key!r} is {value!r}: a finite number is wanted"
        for key, value in measurement.metrics.items()
        if not _is_finite(value)
    ]
    if measurement.executed is not None:
        faults += [f"the executed point {fault}" for fault in point_faults(space, measurement.executed)]
        try:
            json.dumps(measurement.executed, allow_nan=False)
        except (TypeError, ValueError) as error:
            faults.append(f"the executed point is not JSON: {error}")
    return measurement, faults


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
