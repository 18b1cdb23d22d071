"""Every suggestion of a study, computed again from its events and recipes.

A suggestion is a pure function of what was known at one event, of a count, a seed and the hyperparameters at which the
fit began. All of that is stored: the same versions give the same digits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from geodrome_core import PointError
from sqlalchemy.orm import Session

from geodrome_service.api.questions import question
from geodrome_service.compute.questions import Question, Suggestion
from geodrome_service.store import history, past, portable, studies
from geodrome_service.store.database import Database
from geodrome_service.store.portable import Record
from geodrome_service.store.tables import Study

Suggest = Callable[..., Coroutine[Any, Any, Sequence[Suggestion]]]
"""As ``compute.Pool.suggest``."""

SAID = ("kind", "acquisition", "value", "mean", "std", "note")
"""What an origin says of a suggestion, beside its seed."""


@dataclass(frozen=True)
class Difference:
    """Where what is stored is not what comes out.

    Attributes:
        number: Of the trial; None where the events themselves cannot be followed.
        what: Which part of it, or what is wrong.
        expected: What is stored.
        got: What was computed.
    """

    number: int | None
    what: str
    expected: Any = None
    got: Any = None


@dataclass(frozen=True)
class Batch:
    """Suggestions that were computed together.

    Attributes:
        question: What was known then.
        count, seed: Of the call.
        trials: Those of them that became trials.
    """

    question: Question
    count: int
    seed: int
    trials: Sequence[Record]


async def replay(database: Database, name_or_id: str, suggest: Suggest, *, at_once: int = 1) -> int | Difference:
    """Recomputes all suggestions of a study, in order, up to the first that differs.

    Args:
        database: Where it is.
        name_or_id: Which study.
        suggest: What computes suggestions.
        at_once: How many calls of it are made side by side.

    Returns:
        How many were equal, or the first difference.

    Raises:
        StudyNotFound: There is no such study.
    """
    with database.read.begin() as session:
        batches = _read(session, name_or_id)
    if isinstance(batches, Difference):
        return batches
    equal = 0
    while group := list(islice(batches, at_once)):
        for found in await asyncio.gather(*(_compare(batch, suggest) for batch in group)):
            if isinstance(found, Difference):
                return found
            equal += found
    return equal


async def _compare(batch: Batch, suggest: Suggest) -> int | Difference:
    """How many suggestions of a batch come out as they are stored, or the first that does not."""
    try:
        computed = await suggest(batch.question, count=batch.count, seed=batch.seed)
    except PointError as error:
        return Difference(batch.trials[0]["number"], f"it cannot be computed again: {error}")
    for trial in batch.trials:
        if (difference := _compared(trial, computed[trial["recipe"]["index"]])) is not None:
            return difference
    return len(batch.trials)


def _read(session: Session, name_or_id: str) -> Iterator[Batch] | Difference:
    """The study's batches, unless trials and events contradict each other."""
    study = studies.find(session, name_or_id)
    trials, events = list(portable.trials(session, study)), list(portable.events(session, study))
    kept = past.kept(trials)
    happened = past.happened(events)
    try:
        wrong = next(past.disagreements(past.of(happened, kept), trials), None)
    except past.Impossible as error:
        return Difference(None, str(error))
    if wrong is not None:
        return Difference(*wrong)
    return _batches(study, trials, happened, kept)


def _batches(
    study: Study, trials: Sequence[Record], happened: Sequence[past.Happened], kept: dict[int, past.Kept]
) -> Iterator[Batch]:
    """The batches, each with what was known when it was computed."""
    suggested = [trial for trial in trials if trial["recipe"]]
    then, done = past.Past(kept), 0
    for (after_event, seed, count), group in groupby(sorted(suggested, key=_batch), key=_batch):
        while done < len(happened) and happened[done].position <= after_event:
            then.apply(happened[done])
            done += 1
        members = list(group)
        rows = list(then.rows())
        known = history.gathered(rows[-history.LATEST :] if len(rows) < study.initial_design["size"] else rows)
        yield Batch(question(study, known, members[0]["recipe"]["start"]), count, seed, members)


def _batch(trial: Record) -> tuple[int, int, int]:
    recipe = trial["recipe"]
    return recipe["after_event"], recipe["seed"], recipe["count"]


def _compared(trial: Record, computed: Suggestion) -> Difference | None:
    """The first part of a suggestion that differs."""
    origin, recipe = trial["origin"], trial["recipe"]
    parts = [("point", trial["suggested_point"], computed.point)]
    parts += [(name, origin[name], getattr(computed, name)) for name in SAID]
    parts += [("hyperparameters", recipe["hyperparameters"], computed.hyperparameters)]
    return next((Difference(trial["number"], *part) for part in parts if part[1] != part[2]), None)
