"""A lease that ends makes a trial lost and offers its point again; the result is kept whenever it comes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from geodrome.errors import StudyClosed, StudyPaused
from geodrome.schemas import Outcome, StudyDefinition
from geodrome_service.store import history, leases, outcomes, queueing, studies
from geodrome_service.store.database import Database
from geodrome_service.store.tables import Event, Study, Trial
from sqlalchemy import select
from sqlalchemy.orm import Session

LEASE_S = 10.0
MINUTE = timedelta(minutes=1)
COMPLETED = outcomes.Told(
    outcome=Outcome.COMPLETED,
    body={"outcome": "completed", "cost": 1.0},
    cost=1.0,
    std=None,
    values=None,
    point=None,
    corrections=[],
    outside=False,
    reason=None,
    metrics={},
    metadata={},
)


class Bench:
    """A study in a database of its own, whose clock the test turns."""

    def __init__(self, session: Session, now: datetime, *, queued: int, **definition: Any) -> None:
        self.session = session
        self.now = now
        space = {"type": "real", "bounds": [0, 1]}
        resolved = StudyDefinition.model_validate({"name": "bench", "space": space, **definition})
        self.study, _ = studies.create(session, resolved.model_dump(mode="json"), load=False, now=now)
        points = [queueing.Suggested(number / 100, {"kind": "initial"}, {}) for number in range(1, queued + 1)]
        queueing.enqueue(session, self.study, points, now=now)

    def ask(self, worker: str | None = None, count: int = 1) -> list[int]:
        order = leases.Order(count, worker, resume=True, lease_s=LEASE_S)
        handed = leases.hand_out(self.session, self.study, order, now=self.now)
        assert not isinstance(handed, leases.Missing), "nothing is queued"
        return [trial.number for trial in handed]

    def tell(self, number: int, outcome: Outcome = Outcome.COMPLETED) -> outcomes.Verdict:
        told = COMPLETED
        if outcome is not Outcome.COMPLETED:
            told = outcomes.Told(outcome, {"outcome": outcome.value}, None, None, None, None, [], False, "why", {}, {})
        return outcomes.record(self.session, self.study, number, told, now=self.now)[1]

    def later(self, time: timedelta = MINUTE) -> None:
        """Time goes by, and somebody looks."""
        self.now += time
        leases.expire(self.session, self.study, now=self.now)

    def __getitem__(self, number: int) -> Trial:
        return history.find(self.session, self.study, number)

    def states(self) -> list[str]:
        rows = select(Trial.state).where(Trial.study_serial == self.study.serial).order_by(Trial.number)
        return list(self.session.scalars(rows))


@pytest.fixture
def make_bench(database: Database, now: datetime):
    with database.write() as session:
        yield lambda queued=1, **definition: Bench(session, now, queued=queued, **definition)


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()


def test_a_lease_that_ends_makes_the_trial_lost_and_queues_its_point_again(bench):
    bench.ask("panda-1")

    bench.later()

    assert bench.states() == ["lost", "queued"]
    assert bench[1].reason == "the lease ended at 2026-11-27 12:00:10 UTC"
    assert (bench[1].lease_expires_at, bench[1].told_at, bench[1].worker) == (None, None, "panda-1")
    assert (bench[2].retry_of, bench[2].attempt, bench[2].point) == (1, 2, bench[1].point)
    assert (bench[2].worker, bench[2].asked_at, bench[2].origin) == (None, None, bench[1].origin)


def test_a_lease_holds_until_its_last_moment(bench):
    bench.ask()

    bench.later(timedelta(seconds=LEASE_S) - timedelta(microseconds=1))
    assert bench.states() == ["running"]

    bench.later(timedelta(microseconds=1))
    assert bench.states() == ["lost", "queued"]


def test_looking_twice_queues_the_point_once(bench):
    bench.ask()

    bench.later()
    bench.later()

    assert bench.states() == ["lost", "queued"]


def test_an_ask_sees_the_leases_that_have_ended(bench):
    bench.ask("a")
    bench.now += MINUTE

    assert bench.ask("b") == [2]
    assert bench.states() == ["lost", "running"]


def test_a_point_is_offered_max_attempts_times(make_bench):
    bench = make_bench(max_attempts=3)

    for attempt in (1, 2, 3):
        assert bench.ask() == [attempt]
        bench.later()

    assert bench.states() == ["lost", "lost", "lost"]
    assert [bench[number].attempt for number in (1, 2, 3)] == [1, 2, 3]


def test_a_trial_told_lost_is_offered_again_like_one_whose_lease_ended(bench):
    bench.ask()

    bench.tell(1, Outcome.LOST)

    assert bench.states() == ["lost", "queued"]
    assert bench[2].retry_of == 1


def test_a_late_result_is_kept_and_the_repeat_is_withdrawn(bench):
    bench.ask()
    bench.later()

    verdict = bench.tell(1)

    assert verdict is outcomes.Verdict.STORED
    assert bench.states() == ["completed", "lost"]
    assert (bench[1].cost, bench[1].flags, bench[1].reason) == (1.0, ["late"], None)
    assert bench[2].reason == "withdrawn: the outcome of trial 1 is known"


def test_a_result_is_late_although_nobody_looked_meanwhile(bench):
    bench.ask()
    bench.now += MINUTE

    bench.tell(1)

    assert bench.states() == ["completed"]
    assert bench[1].flags == ["late"]


def test_a_result_in_time_is_not_late(bench):
    bench.ask()
    bench.now += timedelta(seconds=LEASE_S / 2)

    bench.tell(1)

    assert bench[1].flags == []


def test_a_repeat_that_runs_goes_on_and_both_results_are_kept(bench):
    bench.ask("a")
    bench.later()
    bench.ask("b")

    bench.tell(1)
    assert bench.states() == ["completed", "running"]

    bench.tell(2)
    assert bench.states() == ["completed", "completed"]
    known = history.observations(bench.session, bench.study)
    assert (known.observed, known.costs) == ([0.01, 0.01], [1.0, 1.0])


def test_a_repeat_that_gets_lost_is_not_repeated_once_the_result_is_known(bench):
    bench.ask("a")
    bench.later()
    bench.ask("b")
    bench.tell(1)

    bench.later()

    assert bench.states() == ["completed", "lost"]


def test_the_result_of_a_first_attempt_withdraws_the_repeat_of_its_repeat(bench):
    bench.ask()
    bench.later()
    bench.ask()
    bench.later()
    assert bench.states() == ["lost", "lost", "queued"]

    bench.tell(1, Outcome.FAILED)

    assert bench.states() == ["failed", "lost", "lost"]


def test_a_result_in_time_withdraws_the_second_repeat_of_a_trial_that_was_lost_twice(bench):
    bench.ask("a")
    bench.later()
    bench.ask("b")
    leases.extend(bench.session, bench.study, 2, 600, now=bench.now)
    leases.extend(bench.session, bench.study, 1, LEASE_S, now=bench.now)
    bench.later()
    assert bench.states() == ["lost", "running", "queued"]

    bench.tell(2)

    assert bench.states() == ["lost", "completed", "lost"]
    assert bench[2].flags == []


def test_an_abandoned_point_is_never_offered_again(bench):
    bench.ask()
    bench.later()

    bench.tell(1, Outcome.ABANDONED)
    bench.later()

    assert bench.states() == ["abandoned", "lost"]
    assert bench[1].flags == [], "a person's word is never late"


def test_telling_lost_after_the_lease_ended_queues_no_second_repeat(bench):
    bench.ask()
    bench.later()

    bench.tell(1, Outcome.LOST)

    assert bench.states() == ["lost", "queued"]
    assert (bench[1].reason, bench[1].flags) == ("why", ["late"])


def test_after_somebody_said_lost_another_outcome_is_a_contradiction(bench):
    bench.ask()
    bench.tell(1, Outcome.LOST)

    assert bench.tell(1) is outcomes.Verdict.CONTRADICTED
    assert bench.states() == ["lost", "queued"]


def test_a_repeat_offers_what_was_suggested_not_what_was_executed(bench, now):
    bench.ask()
    told = outcomes.Told(Outcome.LOST, {}, None, None, None, 0.9, [], False, None, {}, {})

    outcomes.record(bench.session, bench.study, 1, told, now=now)

    assert (bench[1].point, bench[2].point) == (0.9, 0.01)


def test_every_change_of_state_is_noted_in_order(bench):
    bench.ask("a")
    bench.ask("a")
    bench.later()
    bench.tell(1)

    found = bench.session.scalars(select(Event).order_by(Event.position)).all()

    assert [(event.number, event.kind) for event in found] == [
        (None, "created"),
        (1, "queued"),
        (1, "running"),
        (1, "resumed"),
        (1, "lost"),
        (2, "queued"),
        (1, "completed"),
        (2, "lost"),
    ]
    assert found[-2].details == {"told": COMPLETED.body, "late": True}
    assert [event.position for event in found] == list(range(1, bench.study.last_event + 1))


def test_what_a_model_learns_from_is_told_apart(make_bench):
    bench = make_bench(queued=6)
    bench.ask(count=5)
    bench.tell(1)
    bench.tell(2, Outcome.FAILED)
    bench.tell(3, Outcome.ABANDONED)
    bench.tell(4, Outcome.LOST)

    known = history.observations(bench.session, bench.study)

    assert known == history.Observations(
        observed=[0.01], costs=[1.0], stds=[None], pending=[0.05, 0.06, 0.04], failed=[0.02], abandoned=[0.03]
    )


def test_a_paused_study_refuses_asks_and_a_closed_one_too(bench):
    bench.study.state = "paused"
    with pytest.raises(StudyPaused, match="still stored"):
        bench.ask()

    bench.study.state = "closed"
    with pytest.raises(StudyClosed, match="still stored"):
        bench.ask()

    assert bench.tell(1) is outcomes.Verdict.STORED


def test_an_order_that_cannot_be_filled_changes_nothing(make_bench):
    bench = make_bench(queued=1)
    order = leases.Order(3, "a", resume=True, lease_s=LEASE_S)

    missing = leases.hand_out(bench.session, bench.study, order, now=bench.now)

    assert missing == leases.Missing(bench.study.serial, 3)
    assert bench.states() == ["queued"]


def test_a_spent_budget_still_hands_out_what_waits(make_bench):
    bench = make_bench(queued=2, budget={"trials": 2})
    bench.ask("a")
    bench.ask("b")
    bench.tell(2, Outcome.LOST)

    assert bench.ask("a") == [1]
    assert bench.ask("c") == [3]
    with pytest.raises(StudyClosed, match="2 still run"):
        bench.ask("d")


def test_all_studies_lose_what_has_ended_at_one_look(database, now):
    with database.write.begin() as session:
        for name in ("a", "b"):
            definition = StudyDefinition.model_validate({"name": name, "space": {"type": "rotation"}})
            study, _ = studies.create(session, definition.model_dump(mode="json"), load=False, now=now)
            queueing.enqueue(session, study, [queueing.Suggested([1, 0, 0, 0], {"kind": "initial"}, {})], now=now)
            leases.hand_out(session, study, leases.Order(1, None, resume=True, lease_s=1), now=now)

    with database.write.begin() as session:
        for serial in leases.with_ended_leases(session, now=now + MINUTE):
            leases.expire(session, studies.locked(session, serial), now=now + MINUTE)

    with database.read() as session:
        assert not leases.with_ended_leases(session, now=now + MINUTE)
        found = session.scalars(select(Study)).all()
        assert [study.lost for study in found] == [1, 1]


def test_over_http_every_look_shows_a_lease_that_has_ended(make_lab, eventually):
    lab = make_lab(lease_s=0.05)
    lab.ask(worker="panda-1")

    eventually(lambda: lab.trial(1)["state"] == "lost")

    assert lab.show()["counts"]["queued"] == 1
    assert [trial["state"] for trial in lab.trials()] == ["lost", "queued"]
    late = lab.tell(1, cost=2.0).json()
    assert (late["state"], late["flags"]) == ("completed", ["late"])
    assert [trial["state"] for trial in lab.trials()] == ["completed", "lost"]
