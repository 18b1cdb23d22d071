"""Stands in for rclpy: the same names and signatures, and, as there, nothing happens but while a node spins."""

from __future__ import annotations

import time

STEP_S = 0.005


def init(*, args=None, context=None, domain_id=None, signal_handler_options=None):
    # rclpy's own handlers end the context at Ctrl-C, and then no goal can be cancelled.
    assert signal_handler_options == "NO"


def shutdown(*, context=None, uninstall_handlers=None):
    pass


def spin_once(node, *, executor=None, timeout_sec=None):
    time.sleep(min(STEP_S, timeout_sec))
    for waitable in node.waitables:
        waitable.execute()
