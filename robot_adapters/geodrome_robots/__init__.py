"""Geodrome's robots: simulated tasks and the loop that lets any robot take part in a study, as ordinary clients."""

from __future__ import annotations

from geodrome_robots.conformance import RobotDefect, check_robot
from geodrome_robots.robot import Infeasible, Measurement, Readiness, Robot, RobotFault
from geodrome_robots.runner import Finished, Report, run

__all__ = [
    "Finished",
    "Infeasible",
    "Measurement",
    "Readiness",
    "Report",
    "Robot",
    "RobotDefect",
    "RobotFault",
    "check_robot",
    "run",
]
