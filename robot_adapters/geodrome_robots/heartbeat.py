"""A sign of life while a robot runs a trial: its lease goes on, and a trial that is taken away is broken off."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from geodrome import GeodromeError, OutcomeConflict, TrialHandle

from geodrome_robots.stop import Stop

log = logging.getLogger("geodrome.robots")

BEATS = 3
"""In the time that a lease lasts."""


@contextmanager
def heartbeat(trial: TrialHandle, stop: Stop, *, lease_s: float) -> Iterator[None]:
    """Keeps the trial for as long as the block lasts; asks for its end when the service says that it does not run.

    Args:
        trial: What the robot runs.
        stop: Through which the end is asked for.
        lease_s: How long the trial was given for, s.
    """
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(trial, stop, over, lease_s), daemon=True, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        # Not waited for: it may be trying to reach a service that is away, for as long as the client's time-out.
        over.set()


def _beat(trial: TrialHandle, stop: Stop, over: threading.Event, lease_s: float) -> None:
    while not over.wait(lease_s / BEATS):
        try:
            trial.heartbeat(lease_s=lease_s)
        except OutcomeConflict as error:
            if not over.is_set():
                stop.want(str(error))
            return
        except GeodromeError as error:
            log.warning("no sign of life of trial %d could be given: %s", trial.number, error)
