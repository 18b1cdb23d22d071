"""What the engine is asked, from what the database knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi.concurrency import run_in_threadpool
from geodrome.errors import StudyNotFound

from geodrome_service.compute.questions import Question
from geodrome_service.store import history
from geodrome_service.store.database import Database
from geodrome_service.store.history import Observations
from geodrome_service.store.tables import Json, Study


def reader(store: Database, serial: int) -> Callable[[], Awaitable[Question]]:
    """What reads all that is known of a study, when it is called.

    Args:
        store: The database.
        serial: Of the study; whoever waits learns by a StudyNotFound that it was deleted meanwhile.
    """

    async def read() -> Question:
        return await run_in_threadpool(_read, store, serial)

    return read


def _read(store: Database, serial: int) -> Question:
    with store.read.begin() as session:
        if (study := session.get(Study, serial)) is None:
            raise StudyNotFound("the study was deleted")
        return question(study, history.observations(session, study), history.latest_hyperparameters(session, study))


def question(study: Study, known: Observations, start: Json | None) -> Question:
    """A study and what is known of it, ready to travel to a worker; fits begin at the hyperparameters ``start``."""
    return Question(
        space=study.space,
        constraints=study.constraints,
        kernel=study.kernel["type"],
        nu=study.kernel["nu"],
        acquisition=study.acquisition["type"],
        initial_size=study.initial_design["size"],
        around=study.initial_design["around"],
        spread=study.initial_design.get("spread"),
        maximize=study.objective["goal"] == "maximize",
        observed=known.observed,
        costs=known.costs,
        stds=known.stds,
        pending=known.pending,
        failed=known.failed,
        abandoned=known.abandoned,
        start=start,
    )
