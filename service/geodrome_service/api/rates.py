"""How often somebody may ask: a steady rate, and a burst after a pause (the generic cell rate algorithm).

Each process counts on its own: behind N of them, somebody whose requests are spread over all may ask N times as often.
"""

from __future__ import annotations

import math
from datetime import timedelta
from fractions import Fraction

from throttled import MemoryStore, Quota, Rate, RateLimiterType, Throttled

REMEMBERED = 10_000
"""Callers of whom something is remembered; of more, those are forgotten that have not come for the longest time."""


class Rates:
    """The requests of each caller.

    Args:
        rate_per_s: So many per second, in the long run; None for as many as they like.
        burst: So many at once.
    """

    def __init__(self, rate_per_s: float | None, burst: int) -> None:
        self._limiter = None
        if rate_per_s is not None:
            # The library counts whole requests in whole seconds.
            rate = Fraction(rate_per_s).limit_denominator(1000)
            self._limiter = Throttled(
                using=RateLimiterType.GCRA.value,
                quota=Quota(Rate(timedelta(seconds=rate.denominator), rate.numerator), burst),
                store=MemoryStore(options={"MAX_SIZE": REMEMBERED}),
            )

    def wait_s(self, caller: str) -> int:
        """Whole seconds that the caller has to wait; 0 if the request may come, which then counts."""
        if self._limiter is None:
            return 0
        result = self._limiter.limit(caller)
        return math.ceil(result.state.retry_after) if result.limited else 0
