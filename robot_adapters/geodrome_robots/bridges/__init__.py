"""Robots made of something else: a function, a Gymnasium environment, another program, a ROS 2 action."""

from __future__ import annotations
