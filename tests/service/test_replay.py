"""Every suggestion can be computed again from the study's events; what was tampered with is found."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from geodrome_service.compute.questions import Question, Suggestion
from geodrome_service.compute.tasks import suggestions
from geodrome_service.replay import Difference, replay
from geodrome_service.store import studies
from geodrome_service.store.database import Database, database_url
from geodrome_service.store.tables import Event, Trial
from sqlalchemy import select
from sqlalchemy.orm.attributes import flag_modified

from tests.service.conftest import Lab
from tests.service.histories import lived_in


@pytest.fixture
def store(running_server):
    opened = Database(database_url(running_server.database))
    yield opened
    opened.close()


@pytest.fixture
def lived(make_lab) -> Lab:
    """A study to which everything has happened that can."""
    lab = make_lab(initial_design={"size": 3}, acquisition={"type": "thompson"})
    lived_in(lab)
    lab.ask(count=1, worker="w-1")
    return lab


async def suggest(question: Question, *, count: int, seed: int) -> list[Suggestion]:
    return suggestions(question, count, seed)


def replayed(store: Database, lab: Lab) -> int | Difference:
    return asyncio.run(replay(store, lab.name, suggest))


def tamper(store: Database, lab: Lab, number: int, change: Callable[[Trial], None]) -> None:
    with store.write.begin() as session:
        study = studies.find(session, lab.name)
        change(session.get_one(Trial, (study.serial, number)))


def test_a_study_of_every_kind_of_event_is_computed_again_to_the_last_digit(store, lived):
    trials = lived.trials(limit=1000)
    states = {trial["state"] for trial in trials}
    kinds = {trial["origin"]["kind"] for trial in trials}
    assert states == {"completed", "failed", "lost", "abandoned", "running"}
    assert kinds == {"initial", "model", "told", "enqueued"}

    recomputed = [one for one in trials if one["origin"]["kind"] in {"initial", "model"} and one["retry_of"] is None]

    assert replayed(store, lived) == len(recomputed)


def test_batches_and_asks_side_by_side_are_computed_again(store, make_lab):
    lab = make_lab(initial_design={"size": 2}, kernel={"nu": "learn"})
    for cost in (0.5, 0.25):
        lab.tell(lab.ask()["number"], cost=cost)
    batch = lab.http.post(f"{lab.path}/ask", json={"count": 4, "wait_s": 60}).json()["trials"]
    lab.tell(batch[2]["number"], cost=0.1)
    lab.ask()

    assert replayed(store, lab) == 7


def test_what_costs_chose_between_kernels_is_computed_again(store, make_lab):
    lab = make_lab(space={"type": "hyperbolic", "dim": 2, "radius": 2.0}, initial_design={"size": 3})
    for _ in range(7):
        trial = lab.ask()
        lab.tell(trial["number"], cost=trial["point"][1] ** 2)

    assert replayed(store, lab) == 7


def _another_suggestion(trial: Trial) -> None:
    trial.point = trial.suggested_point = [0.5, 0.5]


def _another_cost(trial: Trial) -> None:
    trial.cost = 100.0


def _another_mean(trial: Trial) -> None:
    trial.origin = {**trial.origin, "mean": 7.0}


def _another_scale(trial: Trial) -> None:
    trial.recipe["hyperparameters"]["noise"] = 0.5
    flag_modified(trial, "recipe")


def _another_state(trial: Trial) -> None:
    trial.state = "failed"


@pytest.mark.parametrize(
    ("number", "change", "found"),
    [
        (4, _another_suggestion, (4, "point")),
        (4, _another_mean, (4, "mean")),
        (4, _another_scale, (4, "hyperparameters")),
        (2, _another_cost, (2, "its cost is 100.0, but its events tell another")),
        (2, _another_state, (2, "its state is failed, but by its events completed")),
    ],
)
def test_what_was_tampered_with_is_found(store, make_lab, number, change, found):
    lab = make_lab(initial_design={"size": 3})
    for cost in (0.5, 0.25, 0.125):
        lab.tell(lab.ask()["number"], cost=cost)
    lab.ask()
    assert replayed(store, lab) == 4

    tamper(store, lab, number, change)

    difference = replayed(store, lab)
    assert isinstance(difference, Difference)
    assert (difference.number, difference.what) == found


def test_an_event_that_is_missing_is_found(store, lab):
    lab.tell(lab.ask()["number"], cost=1)
    with store.write.begin() as session:
        study = studies.find(session, lab.name)
        running = select(Event).where(Event.study_serial == study.serial, Event.kind == "queued")
        session.delete(session.scalars(running).one())

    difference = replayed(store, lab)

    assert difference == Difference(None, "event 3 says that trial 1 is running, but that cannot follow: it was new")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "geodrome.cli", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_command_says_that_all_are_equal_or_what_differs(running_server, store, lab):
    for cost in (0.5, 0.25):
        lab.tell(lab.ask()["number"], cost=cost)
    arguments: list[Any] = ["replay", lab.name, "--database", running_server.database]

    equal = command(*arguments)
    tamper(store, lab, 2, lambda trial: setattr(trial, "origin", {**trial.origin, "note": "mine"}))
    differs = command(*arguments)

    assert (equal.returncode, equal.stdout) == (0, "2 suggestions recomputed, all equal\n"), equal.stderr
    assert differs.returncode == 1
    assert "trial 2: note is stored as mine, and computed as None" in differs.stderr


def test_an_unknown_study_is_refused(running_server):
    done = command("replay", "nobody", "--database", running_server.database)

    assert (done.returncode, done.stdout) == (1, "")
    assert "nobody" in done.stderr
