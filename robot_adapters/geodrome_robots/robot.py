"""What a robot is to Geodrome: a space of parameters, and a measured cost for each point of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from geodrome import Infeasible, RobotFault

from geodrome_robots.stop import Stop, Stopped

__all__ = ["Infeasible", "Measurement", "Readiness", "Robot", "RobotFault", "Stop", "Stopped"]


@dataclass(frozen=True)
class Measurement:
    """What one run of the robot gave.

    Attributes:
        cost: The number to minimize; finite.
        metrics: Further finite numbers worth keeping, such as settling time or peak torque, with the unit in the name.
        executed: The point that was really run, if it differs from the one that was asked; else None.
    """

    cost: float
    metrics: Mapping[str, float] = field(default_factory=dict)
    executed: Any = None


@dataclass(frozen=True)
class Readiness:
    """Whether the robot can run a trial now; true and false as a condition.

    Attributes:
        is_ready: Enabled, e-stop released, simulator up.
        reason: What is missing, in a sentence; empty if ready.
    """

    is_ready: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.is_ready


@runtime_checkable
class Robot(Protocol):
    """One robot or simulator, living in the process of a client.

    Inherit from it for the defaults of ``ready``, ``safe_stop`` and ``close``, or bring the same members in a class of
    your own. ``check_robot`` tells what is missing.

    Attributes:
        name: What it is called in studies and listings: letters, digits, ``_``, ``-``, ``.``, beginning with a letter.
        space: The parameters as a space spec in the form that travels, such as
            ``{"type": "real", "bounds": [0.1, 50]}``. It is known without hardware.
    """

    name: str
    space: Mapping[str, Any]

    def describe(self) -> dict[str, Any]:
        """What somebody needs to know to trust and repeat a trial, as JSON, known without hardware.

        ``name``, ``version``, ``model`` (of the robot), ``parameters`` (meaning, unit and frame of each), ``cost``
        (what it measures, its unit, its weights) and ``deterministic`` are required; whatever else defines the task,
        such as its time step and horizon, belongs here too.
        """
        ...

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        """Run the robot once at ``point`` and measure.

        Args:
            point: A point of ``space`` in canonical form; not to be changed.
            seed: Where simulated noise comes from. A deterministic robot ignores it.
            stop: Says when to break off. Whoever moves for long calls ``stop.check()`` between steps.

        Raises:
            Infeasible: It ran and the point is bad; the search learns from it.
            RobotFault: The lab broke; it says nothing about the point, which is offered again.
            Stopped: By ``stop``.
        """
        ...

    def ready(self) -> Readiness:
        """Whether a trial can run now. Nothing is asked of the service while it cannot."""
        return Readiness(is_ready=True)

    def safe_stop(self) -> None:
        """Bring the robot to rest and restore its last good parameters; called when a run is broken off."""
        return

    def close(self) -> None:
        """Release what the robot holds; called once, at the end."""
        return
