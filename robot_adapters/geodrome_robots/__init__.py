"""Geodrome's robots: simulated tasks and the loop that lets any robot take part in a study, as ordinary clients."""

from __future__ import annotations

from geodrome_robots.bridges.callables import from_callable
from geodrome_robots.bridges.command import from_command
from geodrome_robots.bridges.gymnasium_env import from_gymnasium
from geodrome_robots.conformance import RobotDefect, check_robot
from geodrome_robots.journal import Journal
from geodrome_robots.loop import Limits
from geodrome_robots.opening import open_study
from geodrome_robots.report import Finished, Noise, Report
from geodrome_robots.robot import Infeasible, Measurement, Readiness, Robot, RobotFault
from geodrome_robots.runner import run
from geodrome_robots.stop import Stop, Stopped

__all__ = [
    "Finished",
    "Infeasible",
    "Journal",
    "Limits",
    "Measurement",
    "Noise",
    "Readiness",
    "Report",
    "Robot",
    "RobotDefect",
    "RobotFault",
    "Stop",
    "Stopped",
    "check_robot",
    "from_callable",
    "from_command",
    "from_gymnasium",
    "open_study",
    "run",
]
