"""Which of very many trials figures show: only these are read whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geodrome import schemas
from geodrome.figures.trials import DRAWN, spaced, thinned
from geodrome.schemas import TrialState
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.store.outlines import Outline, numbered, outlines
from geodrome_service.store.tables import Study

ENDS = 3
"""The best and the last trials, which some figures show by themselves."""

MARKED = 200

WITHOUT_COST = (TrialState.FAILED, TrialState.ABANDONED)


def drawn(session: Session, study: Study) -> list[schemas.Trial]:
    """The trials that figures of the manifold draw, by number, in the study's own form."""
    known = outlines(session, study)
    rows = numbered(session, study, chosen(known, maximize=study.objective["goal"] == "maximize"))
    return [answers.trial(row, study) for row in rows]


def chosen(known: Sequence[Outline], *, maximize: bool) -> set[int]:
    """Numbers of some 2,400 trials at most.

    Of the completed ones those with the least and the largest cost of each stretch, the best and the last; of those
    that failed or were abandoned some, evenly spaced.

    Args:
        known: All trials, by number.
        maximize: Whether large costs are the best.
    """
    completed = [one for one in known if one.state == TrialState.COMPLETED.value and one.cost is not None]
    costs = np.array([one.cost for one in completed], dtype=np.float64)
    best = (-costs if maximize else costs).argsort(kind="stable")[:ENDS]
    # Room for both ends, so that what is read is drawn.
    places = {*thinned(costs, DRAWN - 2 * ENDS).tolist(), *best.tolist()}
    numbers = {completed[place].number for place in places} | {one.number for one in completed[-ENDS:]}
    for state in WITHOUT_COST:
        some = [one.number for one in known if one.state == state.value]
        numbers |= {some[place] for place in spaced(len(some), MARKED)}
    return numbers
