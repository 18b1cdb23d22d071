"""How far a model can be trusted, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from geodrome import schemas
from geodrome.figures.model import EXPECTED

FEW = 8
"""Left-out results below which shares say nothing."""

SURE = 2.0
"""Standard deviations from the expected count beyond which it is no chance."""

NOTHING, GOOD = 0.9, 0.4
"""Errors, relative to always saying the mean, from which and up to which a model has learned nothing and much."""


@dataclass(frozen=True)
class Count:
    """How many left-out results lie within a band.

    Attributes:
        band: Which, in words.
        found: How many do.
        expected: How many would, of a right model.
        verdict: What to think of it.
    """

    band: str
    found: int
    expected: float
    verdict: str


@dataclass(frozen=True)
class Trust:
    """What to think of a model.

    Attributes:
        verdict: In a few words.
        advice: What that means for who tunes.
        error: What its error says.
        counts: How many left-out results lie within one and two deviations.
    """

    verdict: str
    advice: str
    error: str
    counts: tuple[Count, Count]


def trust(fitted: schemas.FittedModel) -> Trust:
    """What leaving each result out and predicting it from the others says of a model."""
    found, total = fitted.calibration, fitted.points
    one = _count("one deviation", found.within_one, EXPECTED[0], total)
    two = _count("two deviations", found.within_two, EXPECTED[1], total)
    verdict, advice = _verdict(fitted, one, two)
    return Trust(verdict, advice, _error(found.error), (one, two))


def _verdict(fitted: schemas.FittedModel, one: Count, two: Count) -> tuple[str, str]:
    verdicts = {one.verdict, two.verdict}
    if fitted.points < FEW:
        return "Too early to tell", f"With fewer than {FEW} results, how well each is predicted may be luck."
    if fitted.calibration.error >= NOTHING:
        return "Not to be trusted yet", (
            "It predicts hardly better than the mean of all costs. Suggestions search widely, and its recommendation "
            "is little more than the best result: go on, or look whether the cost can be measured with less noise."
        )
    if "fewer than expected" in verdicts:
        return "Too sure of itself", (
            "More results lie outside of its band than should. Means are of use, deviations are too small: "
            "repeat the recommended point before you rely on it."
        )
    if "more than expected" in verdicts:
        return "Careful", "Its deviations are larger than they need be; what it says holds all the more."
    return "To be trusted", "Results lie within its deviations as often as they should: its bands mean what they say."


def _count(band: str, share: float, expected: float, total: int) -> Count:
    found, mean = round(share * total), expected * total
    # The binomial distribution's deviation; half a result, since counts are whole.
    allowed = SURE * math.sqrt(mean * (1 - expected)) + 0.5
    if found < mean - allowed:
        return Count(band, found, mean, "fewer than expected")
    return Count(band, found, mean, "more than expected" if found > mean + allowed else "as expected")


def _error(error: float) -> str:
    if error >= NOTHING:
        return "it has learned nothing that predicts"
    return "good" if error <= GOOD else "it has learned something"
