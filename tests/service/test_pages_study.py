"""The page of a study and those of its trials, as they come from the service."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape

import plotly.graph_objects as go
import pytest
from geodrome import figures, schemas
from geodrome.schemas import StudyDefinition
from geodrome_service.store import activity, leases, listing, outcomes, queueing, studies
from geodrome_service.store.listing import Choice

from tests.service.histories import NOW, ORIGIN, completed

SPACE = {"type": "product", "factors": {"tool": {"type": "rotation"}, "gain": {"type": "real", "bounds": [0, 1]}}}
POINT = {"tool": [1, 0, 0, 0], "gain": 0.5}
OBJECTIVE = {"name": "error", "unit": "mm"}


def make(service, name="arm", **definition):
    body = {"name": name, "space": SPACE, "objective": OBJECTIVE, "initial_design": {"size": 2}, **definition}
    assert service("POST", "/v1/studies", json=body).status_code == 201


def add(service, **body):
    answer = service("POST", "/v1/studies/arm/trials", json={"point": POINT, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["number"]


def queue(service, count):
    return [add(service, point=POINT | {"gain": (n + 1) / (count + 2)}) for n in range(count)]


def ask(service, worker):
    [trial] = service("POST", "/v1/studies/arm/ask", json={"worker": worker, "resume": False}).json()["trials"]
    return trial["number"]


def tell(service, number, **body):
    assert service("POST", f"/v1/studies/arm/trials/{number}/tell", json=body).status_code == 200


def text_of(answer):
    assert answer.status_code == 200, answer.text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def numbers_of(answer):
    return [int(number) for number in re.findall(r'id="trial-(\d+)"', answer.text)]


def test_the_summary_says_how_far_the_study_is(service):
    make(service, budget={"trials": 8})
    add(service, cost=3.0)
    add(service, cost=2.0)
    add(service, outcome="failed", reason="e-stop")
    add(service, cost=0.5)
    queue(service, 2)
    ask(service, "panda-1")

    answer = service("GET", "/studies/arm/summary")

    shown = text_of(answer)
    assert "4 of 8 trials spent" in shown
    assert 'role="progressbar"' in answer.text
    assert 'aria-valuetext="4 of 8 trials spent"' in answer.text
    assert "Best error 0.5 mm in trial 4 ; the initial design had 2 mm" in shown
    assert "panda-1 trial 5 0 results" in shown
    assert all(f"{state} {count}" in shown for state, count in (("Completed", 3), ("Failed", 1), ("Queued", 1)))
    assert "a result in" in shown
    assert "at this pace" in shown


def test_a_study_without_a_trial_says_so(service):
    make(service)

    shown = text_of(service("GET", "/studies/arm"))

    assert "no cost yet" in shown
    assert "none yet" in shown
    assert "Robots" not in shown


@pytest.fixture
def mixed(service):
    """Trials of many kinds: 1 and 4 completed, 2 failed, 3 late and outside, 5 running, 6 queued."""
    make(service, budget={"trials": 6})
    queue(service, 6)
    for worker in ("ur5", "panda", "ur5", "panda", "panda"):
        ask(service, worker)
    for number, body in ((1, {"cost": 4.0}), (2, {"outcome": "failed"}), (4, {"cost": 1.0})):
        tell(service, number, **body)
    tell(service, 3, cost=2.0, point=POINT | {"gain": 7})
    return service


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [6, 5, 4, 3, 2, 1]),
        ("?order=asc", [1, 2, 3, 4, 5, 6]),
        ("?state=failed", [2]),
        ("?state=&worker=ur5&flag=", [3, 1]),
        ("?flag=outside_domain", [3]),
        ("?flag=late", []),
        ("?sort=cost&order=asc", [4, 3, 1]),
        ("?sort=cost&order=desc&worker=ur5", [1, 3]),
        ("?state=running&worker=panda", [5]),
        ("?page=99", [6, 5, 4, 3, 2, 1]),
    ],
)
def test_trials_are_chosen_and_sorted(mixed, query, numbers):
    assert numbers_of(mixed("GET", f"/studies/arm/trials{query}")) == numbers
    assert numbers_of(mixed("GET", f"/studies/arm{query}")) == numbers


def test_rows_say_in_words_what_became_of_a_trial(mixed):
    shown = text_of(mixed("GET", "/studies/arm/trials?flag=outside_domain"))

    assert '3 completed outside the domain 2 a person ur5 {"tool": [1.0, 0.0, 0.0, 0.0], "gain": 7.0}' in shown
    assert "1–1 of 1" in shown
    assert "none like that" in text_of(mixed("GET", "/studies/arm/trials?worker=nobody"))


def test_what_cannot_be_chosen_is_refused_in_words(mixed):
    answer = mixed("GET", "/studies/arm/trials?state=flying")

    assert answer.status_code == 422
    assert "state" in answer.text


def test_trials_come_in_pages(service):
    make(service)
    with service.database.write.begin() as session:
        study = studies.find(session, "arm", lock=True)
        queueing.enqueue(session, study, [queueing.Suggested(POINT, ORIGIN, {})] * 360, now=NOW)

    first = service("GET", "/studies/arm/trials")
    fourth = service("GET", "/studies/arm/trials?page=4")

    assert "1–50 of 360" in text_of(first)
    assert numbers_of(first) == list(range(360, 310, -1))
    assert "151–200 of 360" in text_of(fourth)
    assert re.findall(r'id="page-(\w+)"', fourth.text) == ["before", "1", "2", "3", "5", "6", "8", "after"]
    assert '<span aria-current="page">4</span>' in fourth.text
    # Only the first page is kept as new as the study.
    assert "data-live" in service("GET", "/studies/arm").text.partition('id="trials"')[2].partition(">")[0]
    assert "data-live" not in service("GET", "/studies/arm?page=4").text.partition('id="trials"')[2].partition(">")[0]


def test_the_figure_is_that_of_the_sdk(mixed):
    served = mixed("GET", "/studies/arm/figures/convergence").json()
    record = schemas.Study.model_validate(mixed("GET", "/v1/studies/arm").json())
    trials = schemas.TrialPage.model_validate(mixed("GET", "/v1/studies/arm/trials").json()).trials

    assert go.Figure(served) == go.Figure(json.loads(figures.convergence(record, trials).to_json()))


def test_a_viewer_may_only_look(service):
    admin, robot, viewer = (service.make_key(role) for role in ("admin", "robot", "viewer"))
    service("POST", "/v1/studies", json={"name": "arm", "space": SPACE}, key=admin)

    disabled = {key: service("GET", "/studies/arm", key=key).text.count("disabled") for key in (admin, robot, viewer)}

    assert disabled[admin] == 0
    assert 0 < disabled[robot] < disabled[viewer]


def test_the_form_of_a_point_begins_with_one_that_fits(service):
    make(service)

    def example():
        shown = service("GET", "/studies/arm").text
        return json.loads(unescape(re.search(r"<textarea[^>]*>([^<]*)</textarea>", shown)[1]))

    assert service("POST", "/v1/studies/arm/trials", json={"point": example()}).status_code == 201
    add(service, cost=1.0)
    assert example() == POINT


def test_a_trial_says_why_its_point_was_suggested_and_how_it_turned_out(service):
    make(service)
    add(service, cost=1.0, point=POINT | {"gain": 0.4})
    add(service, cost=2.0, point={"tool": [0, 1, 0, 0], "gain": 0.5})
    origin = ORIGIN | {"kind": "model", "acquisition": "log_ei", "value": -2.0, "mean": 3.0, "std": 0.5, "seed": 7}
    with service.database.write.begin() as session:
        study = studies.find(session, "arm", lock=True)
        queueing.enqueue(session, study, [queueing.Suggested(POINT, origin, {})], now=NOW)
    ask(service, "panda")
    tell(service, 3, cost=2.2)

    shown = text_of(service("GET", "/studies/arm/trials/3"))

    assert "Suggested by the model" in shown
    assert "Model expected 3 ± 0.5 mm" in shown
    assert "0.135335 standard deviations of the costs so far (log EI −2)" in shown
    assert "Better than expected: 0.8 mm below the model's mean, 1.6 of its standard deviations." in shown
    assert "Trial Cost, mm Distance in tool, deg Distance in gain, share of the bounds" in shown
    assert "1 1 0 0.1 2 2 180 0" in shown
    assert "put into the queue" in shown
    assert "handed out to panda" in shown
    assert "completed cost 2.2" in shown


def test_only_what_may_still_be_told_of_a_trial_is_offered(mixed):
    def offered(number):
        shown = mixed("GET", f"/studies/arm/trials/{number}/actions").text
        return {word for word in ("Tell the result", 'data-opens="release"', 'data-opens="abandon"') if word in shown}

    assert offered(5) == {"Tell the result", 'data-opens="release"', 'data-opens="abandon"'}
    assert offered(1) == {'data-opens="abandon"'}
    tell(mixed, 1, outcome="abandoned")
    assert offered(1) == set()


def test_the_store_knows_who_works_and_how_fast(database):
    definition = StudyDefinition.model_validate({"name": "arm", "space": SPACE})
    with database.write.begin() as session:
        study, _ = studies.create(session, definition.model_dump(mode="json"), load=False, now=NOW)
        queueing.enqueue(session, study, [queueing.Suggested(POINT, ORIGIN, {})] * 4, now=NOW)
        for number, (worker, minutes) in enumerate([("a", 1), ("b", 2), ("a", 3)], start=1):
            at = NOW + timedelta(minutes=minutes)
            leases.hand_out(session, study, leases.Order(1, worker, resume=False, lease_s=600), now=at)
            if number < 3:
                outcomes.record(session, study, number, completed(1.0), now=at + timedelta(minutes=4))
        leases.extend(session, study, 3, 600, now=NOW + timedelta(minutes=9))

        known = {one.name: (one.running, one.results, one.seen - NOW) for one in activity.workers(session, study)}
        assert known == {"a": ([3], 1, timedelta(minutes=9)), "b": ([], 1, timedelta(minutes=6))}
        assert [at - NOW for at in activity.result_times(session, study)] == [
            timedelta(minutes=5),
            timedelta(minutes=6),
        ]
        assert activity.last_at(session, study) == NOW + timedelta(minutes=6)
        assert listing.count(session, study, Choice(worker="a")) == 2
        assert [event.kind for event in listing.happened(session, study, 1)] == ["queued", "running", "completed"]
