"""A ROS 2 node that tunes whatever serves the action ``RunTrial``; it needs no package from PyPI.

Copy ``plain_client.py`` and ``ros2.py`` from ``geodrome_robots/bridges/`` beside this file, and build a package
``geodrome_interfaces`` of ``RunTrial.action`` and ``Parameter.msg``. The study is made beforehand, in Python, by curl,
or by ``geodrome study create``.

    python3 geodrome_node.py press 40 --action /press/run_trial --deadline-s 60
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Mapping
from typing import Any

import rclpy
from geodrome_interfaces.action import RunTrial
from geodrome_interfaces.msg import Parameter
from plain_client import Service
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from ros2 import ActionRobot, Limits


def make_goal(trial: Mapping[str, Any], parameters: list[Any]) -> Any:
    """The goal of a trial. Its fields are set one by one: generated messages check each."""
    goal = RunTrial.Goal()
    goal.number = trial["number"]
    goal.parameters = [Parameter(name=p.name, rows=p.rows, cols=p.cols, data=p.data) for p in parameters]
    return goal


def main() -> None:
    """Runs the trials and prints what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study")
    parser.add_argument("trials", type=int)
    parser.add_argument("--action", default="run_trial")
    parser.add_argument("--worker", default="ros2")
    parser.add_argument("--silence-s", type=float, default=30.0)
    parser.add_argument("--deadline-s", type=float)
    arguments = parser.parse_args(remove_ros_args()[1:])

    # rclpy's own handler would end the context at Ctrl-C, and no goal could be cancelled any more.
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends the node leaves no robot moving
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node("geodrome")
    try:
        robot = ActionRobot(
            Service(),
            arguments.study,
            ActionClient(node, RunTrial, arguments.action),
            make_goal=make_goal,
            spin=lambda seconds: rclpy.spin_once(node, timeout_sec=seconds),
            worker=arguments.worker,
            limits=Limits(silence_s=arguments.silence_s, deadline_s=arguments.deadline_s),
        )
        for told in robot.run(arguments.trials):
            print(told)
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == "__main__":
    main()
