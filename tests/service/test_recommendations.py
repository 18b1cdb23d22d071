"""Recommended points are computed once for what is known, however often they are looked at."""

from __future__ import annotations

import asyncio
from typing import Any

import geodrome
from geodrome_service.api.recommendations import Recommendations
from geodrome_service.store import counting
from geodrome_service.store.tables import Study


class CountingPool:
    """Stands for the pool; a recommendation is how many there were before."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def recommend(self, question: Any) -> dict[str, Any]:
        self.asked.append(question)
        return {"point": len(self.asked)}


async def question() -> Any:
    return "what is known"


def test_they_are_computed_anew_only_when_more_is_known():
    pool = CountingPool()
    kept = Recommendations(pool)

    async def look() -> list[Any]:
        return [
            await kept.recommend("arm", learned, question) for learned in ((3, 0, 0), (3, 0, 0), (4, 0, 0), (3, 0, 1))
        ]

    found = asyncio.run(look())

    assert found == [{"point": 1}, {"point": 1}, {"point": 2}, {"point": 3}]
    assert pool.asked == ["what is known"] * 3


def test_studies_have_recommendations_of_their_own():
    kept = Recommendations(CountingPool())

    async def look() -> list[Any]:
        return [await kept.recommend(study, (3, 0, 0), question) for study in ("arm", "leg", "arm")]

    assert asyncio.run(look()) == [{"point": 1}, {"point": 2}, {"point": 1}]


def test_a_study_has_nothing_of_a_deleted_one_before_it(server, study_name):
    """SQLite gives the serial of the latest study to the next one, when it is deleted."""
    with geodrome.Client(server) as client:
        for bounds in ((0, 1), (5, 6)):
            study = client.create_study(study_name, space=geodrome.Real(bounds=bounds))
            for part in (0.2, 0.5, 0.9):
                study.add(bounds[0] + part, cost=part)
            recommended, model, views = study.best().recommended, study.model(), study.views()
            study.delete()

    assert model is not None
    assert 5 <= recommended.point <= 6
    assert 5 <= views.at <= 6


def test_what_is_known_is_told_apart_by_costs_failures_and_abandoned_trials_alone():
    study = Study(queued=1, running=2, completed=3, failed=4, lost=5, abandoned=6)
    before = counting.learned(study)

    study.running, study.lost, study.queued = 9, 9, 9
    assert counting.learned(study) == before
    study.completed, study.abandoned = 2, 7
    assert counting.learned(study) != before


def test_a_told_cost_is_recommended_over(lab):
    for cost in (0.5, 0.2, 0.7):
        lab.tell(lab.ask()["number"], cost=cost)
    before = lab.http.get(f"{lab.path}/best").json()["recommended"]
    lab.ask()
    meanwhile = lab.http.get(f"{lab.path}/best").json()["recommended"]
    lab.tell(4, cost=-3.0)
    after = lab.http.get(f"{lab.path}/best").json()["recommended"]

    assert before == meanwhile != after
    assert after["mean"] < before["mean"]
