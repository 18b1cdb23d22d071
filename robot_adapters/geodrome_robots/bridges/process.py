"""A program that runs beside ours: lines to its input, lines from its output, and an end for all that it started."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from geodrome_robots.robot import RobotFault
from geodrome_robots.stop import Stop

log = logging.getLogger("geodrome.robots")

POLL_S = 0.05
"""How often somebody who waits for a line looks whether the trial is to end."""
LAST_WORDS = 20
"""Lines of standard error that are kept for a fault."""
GRACE_S = 2.0
"""Between SIGTERM and SIGKILL, to bring a robot to rest."""


class CannotStart(RobotFault):
    """There is no such program, or it may not be run: waiting does not help."""


class Process:
    """A program, started by the constructor.

    Args:
        command: The program and its arguments.
        name: What its lines in the log begin with.
        directory: Where it runs; here, if it is None.

    Raises:
        CannotStart: The operating system does not start it.
    """

    def __init__(self, command: Sequence[str], *, name: str, directory: Path | str | None = None) -> None:
        self._name = name
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._complaints: deque[str] = deque(maxlen=LAST_WORDS)
        try:
            # A session of its own: Ctrl-C is for the runner, and all that the program starts can be ended with it.
            self._popen = subprocess.Popen(  # noqa: S603 - the operator's own program, no shell
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise CannotStart(f"{name} cannot be started, {command[0]}: {error.strerror}") from error
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._input: IO[str] = self._popen.stdin
        self._readers = [
            threading.Thread(target=self._listen, args=(self._popen.stdout,), daemon=True),
            threading.Thread(target=self._overhear, args=(self._popen.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the number of the signal that ended it."""
        return self._popen.poll()

    def write(self, line: str) -> None:
        """Gives it a line.

        Raises:
            RobotFault: It does not read any more.
        """
        try:
            self._input.write(line + "\n")
            self._input.flush()
        except OSError as error:
            raise self.fault("does not read its input") from error

    def next_line(self, stop: Stop, *, within_s: float | None = None) -> str:
        """The next line of its output that begins with ``{``.

        Raises:
            RobotFault: It ended, or said nothing for so long.
            Stopped: By ``stop``.
            Infeasible: By ``stop``.
        """
        begin = time.monotonic()
        while True:
            stop.check()
            try:
                line = self._lines.get(timeout=POLL_S)
            except queue.Empty:
                if within_s is not None and time.monotonic() - begin > within_s:
                    raise self.fault(f"said nothing for {within_s:g} s") from None
                continue
            if line is None:
                raise self.fault("closed its output")
            return line

    def unasked(self) -> str | None:
        """A line beginning with ``{`` that has come meanwhile."""
        try:
            return self._lines.get_nowait()
        except queue.Empty:
            return None

    def fault(self, what: str) -> RobotFault:
        """What is wrong with it, how it ended if it did, and its last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(POLL_S)  # who closes its output mostly ends
        said = f"{self._name} {what}"
        if self.exit_code is not None:
            self._readers[1].join(1.0)
            said += f" and ended with the exit code {self.exit_code}"
        return RobotFault("\n".join([said, *(f"stderr: {line}" for line in self._complaints)]))

    def close(self) -> None:
        """Closes its input, and ends it if it does not leave of itself."""
        self._close_input()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_S)
        self.end()

    def end(self) -> None:
        """Ends it and all that it started: SIGTERM, two seconds, SIGKILL."""
        try:
            if self.exit_code is None:
                self._signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._popen.wait(GRACE_S)
        finally:
            self._signal(signal.SIGKILL)  # what it started may have outlived it
            self._popen.wait()
            self._close_input()
            for reader in self._readers:
                reader.join(1.0)

    def _signal(self, number: signal.Signals) -> None:
        # It leads a process group, whose number is its own.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()

    def _listen(self, output: IO[str]) -> None:
        with output:
            for line in output:
                if line.startswith("{"):
                    self._lines.put(line.rstrip())
                elif line.strip():
                    log.info("%s: %s", self._name, line.rstrip())
        self._lines.put(None)

    def _overhear(self, errors: IO[str]) -> None:
        with errors:
            for line in errors:
                self._complaints.append(line.rstrip())
                log.warning("%s: %s", self._name, line.rstrip())
