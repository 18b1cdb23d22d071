"""When a trial is to be broken off: its time is over, or somebody wants it to end."""

from __future__ import annotations

import math
import threading
import time

from geodrome import Infeasible


class Stopped(Exception):
    """A trial was broken off, through nobody's fault; nothing is known of its point."""


class Stop:
    """What a robot looks at between its steps: ``stop.check()``, or ``stop.wait(0.1)`` instead of ``time.sleep(0.1)``.

    Args:
        after_s: How long the trial may take, from now on; None for as long as it likes.
    """

    def __init__(self, after_s: float | None = None) -> None:
        self.reason: str | None = None
        """Why the trial is to end; None while it may go on."""
        self._after_s = after_s
        self._begin = time.monotonic()
        self._wanted = threading.Event()

    def want(self, reason: str) -> None:
        """Asks for the end; from any thread."""
        if not self._wanted.is_set():
            self.reason = reason
            self._wanted.set()

    @property
    def left_s(self) -> float:
        """How much time is left, s; infinite without a limit."""
        return math.inf if self._after_s is None else self._begin + self._after_s - time.monotonic()

    def check(self) -> None:
        """Ends the trial by an exception if it is time to.

        Raises:
            Stopped: Somebody wants it.
            Infeasible: It has taken too long: the point is bad, and the search learns from it.
        """
        if self._wanted.is_set():
            raise Stopped(self.reason)
        if self.left_s <= 0:
            raise Infeasible(f"timeout: the trial took longer than {self._after_s:g} s")

    def wait(self, seconds: float) -> None:
        """Lets time go by, and ends the trial as soon as it is time to; see ``check``."""
        self._wanted.wait(max(0.0, min(seconds, self.left_s)))
        self.check()
