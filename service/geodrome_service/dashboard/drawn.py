"""Which of very many trials figures show: only these are read whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geodrome import schemas
from geodrome.figures.trials import DRAWN, spaced, thinned
from geodrome.schemas import TrialState
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.store import listing
from geodrome_service.store.tables import Study

ENDS = 3
"""The best and the last trials, which some figures show by themselves."""

MARKED = 200

WITHOUT_COST = (TrialState.FAILED, TrialState.ABANDONED)


def drawn(session: Session, study: Study) -> list[schemas.Trial]:
    """The trials that figures of the manifold draw, by number, in the study's own form."""
    known = listing.outline(session, study)
    numbers = chosen(known, maximize=study.objective["goal"] == "maximize")
    return [answers.trial(row, study) for row in listing.numbered(session, study, sorted(numbers))]


def chosen(known: Sequence[tuple[int, str, float | None]], *, maximize: bool) -> set[int]:
    """Numbers of some 2,400 trials at most.

    Of the completed ones those with the least and the largest cost of each stretch, the best and the last; of those
    that failed or were abandoned some, evenly spaced.

    Args:
        known: Number, state and cost of all trials.
        maximize: Whether large costs are the best.
    """
    every = sorted(known)
    completed = [(number, cost) for number, state, cost in every if state == TrialState.COMPLETED and cost is not None]
    costs = np.array([cost for _, cost in completed], dtype=np.float64)
    best = (-costs if maximize else costs).argsort(kind="stable")[:ENDS]
    # Room for both ends, so that what is read is drawn.
    places = {*thinned(costs, DRAWN - 2 * ENDS).tolist(), *best.tolist()}
    numbers = {completed[place][0] for place in places} | {number for number, _ in completed[-ENDS:]}
    for wanted in WITHOUT_COST:
        some = [number for number, state, _ in every if state == wanted]
        numbers |= {some[place] for place in spaced(len(some), MARKED)}
    return numbers
