"""The longest time that a trial may take: a simulation that stiffens would otherwise hold its robot for hours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from geodrome_robots.robot import Infeasible


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Breaks off what runs inside after so many seconds; None for no limit.

    Python code is broken off between two of its steps; a call of compiled code ends first.

    Raises:
        Infeasible: It took longer: the point is bad, and the search learns from it.
        ValueError: Nothing can be broken off here: only the main thread of a Unix process can.
    """
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        raise ValueError("a deadline needs the main thread of a Unix process")

    def over(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise Infeasible(f"timeout: the trial took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
