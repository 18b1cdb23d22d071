"""SIGTERM as Ctrl-C: whoever ends a run by ``kill`` or by stopping a container leaves no robot moving."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminated_as_interrupt() -> Iterator[None]:
    """Lets SIGTERM raise `KeyboardInterrupt` in the main thread, as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
