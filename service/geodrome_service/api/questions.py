"""What the engine is asked, from what the database knows."""

from __future__ import annotations

from geodrome_service.compute.questions import Question
from geodrome_service.store.history import Observations
from geodrome_service.store.tables import Json, Study


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
