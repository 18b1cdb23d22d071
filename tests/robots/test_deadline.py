"""The longest time that a trial may take."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from geodrome import Infeasible
from geodrome_robots.deadline import deadline


def test_what_takes_too_long_is_broken_off_and_the_alarm_is_put_back():
    before = signal.getsignal(signal.SIGALRM)

    with pytest.raises(Infeasible, match=r"timeout: the trial took longer than 0\.05 s"), deadline(0.05):
        time.sleep(30)

    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_is_done_in_time_is_left_alone():
    with deadline(60):
        done = True

    assert done
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_cannot_be_broken_off_and_says_so():
    raised: list[ValueError] = []

    def work() -> None:
        try:
            with deadline(1):
                pass
        except ValueError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert "main thread" in str(raised[0])
