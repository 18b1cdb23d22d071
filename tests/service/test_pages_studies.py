"""The page that lists studies."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest
from geodrome import spaces
from geodrome_service.dashboard import fields, kinds
from geodrome_service.store import leases, overview, studies
from geodrome_service.store.leases import Order
from pydantic import TypeAdapter
from sqlalchemy import event

from tests.service.test_signing_in import signed_in

PRODUCT = {
    "type": "product",
    "factors": {
        "tool": {"type": "rotation"},
        "p": {"type": "real", "bounds": [0, 1]},
        "d": {"type": "real", "bounds": [0, 1]},
    },
}
SPHERE = {"type": "sphere", "dim": 2}


def make(service, name: str, **definition) -> None:
    answer = service("POST", "/v1/studies", json={"name": name, "space": SPHERE, **definition})
    assert answer.status_code == 201, answer.text


def names(answer) -> list[str]:
    """The studies that a page lists, in its order."""
    assert answer.status_code == 200, answer.text
    return re.findall(r'<a id="study-[^"]+" href="/studies/([^"]+)"', answer.text)


def words(answer) -> str:
    """What a person reads of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).replace("\N{NO-BREAK SPACE}", " ").split())


def queue(service, name: str, count: int) -> None:
    """Points that are waiting to be run."""
    for index in range(count):
        point = [0, 1, 0.01 * index]
        norm = sum(number**2 for number in point) ** 0.5
        answer = service("POST", f"/v1/studies/{name}/trials", json={"point": [number / norm for number in point]})
        assert answer.status_code == 201, answer.text


def run(service, name: str, worker: str | None) -> None:
    """One of them is handed out to a robot."""
    with service.database.write.begin() as session:
        study = studies.find(session, name, lock=True)
        order = Order(count=1, worker=worker, lease_s=1e7, resume=False)
        assert leases.hand_out(session, study, order, now=datetime.now(UTC))


def test_a_line_says_how_far_a_study_is_what_is_best_and_who_works_at_it(service):
    make(service, "press", space=PRODUCT, budget={"trials": 30}, objective={"name": "overshoot", "unit": "N"})
    point = {"tool": [1, 0, 0, 0], "p": 0.5, "d": 0.25}
    for cost in (4.5, 2.25):
        service("POST", "/v1/studies/press/trials", json={"point": point, "cost": cost})
    service("POST", "/v1/studies/press/trials", json={"point": point, "outcome": "failed"})

    page = service("GET", "/")

    assert names(page) == ["press"]
    assert "rotation × 2 reals" in words(page)
    assert "3 of 30 trials 1 failed" in words(page)
    assert '<progress aria-label="Budget of press" value="3" max="30">' in page.text
    assert "2.25 N least overshoot" in words(page)
    assert re.search(r"(a moment|\d+ s) ago", words(page))


def test_robots_are_those_that_run_trials_and_those_that_ran_the_latest(service):
    make(service, "press")
    queue(service, "press", 4)
    run(service, "press", "panda-1")
    service("POST", "/v1/studies/press/trials/1/tell", json={"cost": 1})
    for worker in ("panda-2", "panda-2", None):
        run(service, "press", worker)

    said = words(service("GET", "/"))

    assert "panda-2 runs 2 panda-1 without a name runs 1" in said
    assert "4 trials" not in said


def test_old_robots_are_not_named_and_a_study_that_did_nothing_has_none(service, monkeypatch):
    monkeypatch.setattr(overview, "LATEST", 2)
    make(service, "press")
    make(service, "grasp")
    queue(service, "press", 4)
    for number in range(1, 5):
        run(service, "press", f"panda-{number}")
        service("POST", f"/v1/studies/press/trials/{number}/tell", json={"cost": 1})

    with service.database.read() as session:
        found = [studies.find(session, name) for name in ("press", "grasp")]
        press, grasp = overview.of_studies(session, found).values()
        nothing = overview.of_studies(session, [])

    assert press.robots == {"panda-4": 0, "panda-3": 0}
    assert press.at > grasp.at
    assert (grasp.robots, nothing) == ({}, {})


def test_the_list_asks_the_database_as_often_for_many_studies_as_for_one(service):
    asked: list[str] = []
    event.listen(service.database.read.kw["bind"], "before_cursor_execute", lambda *told: asked.append(told[2]))
    make(service, "first")
    service("GET", "/")  # which reads the keys, too

    asked.clear()
    service("GET", "/")
    of_one = len(asked)
    for index in range(5):
        make(service, f"more-{index}")
    asked.clear()
    service("GET", "/")

    assert len(asked) == of_one


def test_the_list_shows_those_of_a_state_and_of_a_beginning_of_the_name(service):
    for name in ("press-1", "press-2", "grasp"):
        make(service, name)
    service("PATCH", "/v1/studies/press-1", json={"state": "paused"})

    assert names(service("GET", "/?state=&name_prefix=")) == ["grasp", "press-2", "press-1"]
    assert names(service("GET", "/?state=paused&name_prefix=")) == ["press-1"]
    assert names(service("GET", "/?name_prefix=press")) == ["press-2", "press-1"]
    assert names(service("GET", "/list?name_prefix=press&state=active")) == ["press-2"]
    page = service("GET", "/?state=closed&name_prefix=press")
    assert "No study whose name begins with press is closed." in words(page)
    assert 'value="press"' in page.text
    assert '<option value="closed" selected>' in page.text


def test_pages_lead_from_the_newest_to_the_oldest_and_back_and_keep_the_filter(service):
    for index in range(5):
        make(service, f"press-{index}")
    make(service, "grasp")

    page = service("GET", "/?name_prefix=press&limit=2")
    seen = names(page)
    while older := re.search(r'id="older" href="([^"]+)"', page.text):
        page = service("GET", unescape(older[1]))
        seen += names(page)

    assert seen == [f"press-{index}" for index in (4, 3, 2, 1, 0)]
    newest = unescape(re.search(r'id="newest" href="([^"]+)"', page.text)[1])
    assert newest == "/?name_prefix=press&limit=2"
    part = unescape(re.search(r'data-list="([^"]+)"', page.text)[1])
    assert names(service("GET", part)) == ["press-0"]


@pytest.mark.parametrize("query", ["state=odd", "cursor=0", "cursor=x", "limit=1000", "name_prefix=%00", "odd=1"])
def test_a_query_that_cannot_be_is_told_on_a_page(service, query):
    page = service("GET", f"/?{query}")

    assert page.status_code == 422
    assert f"<code>/{query.partition('=')[0]}</code>" in page.text


def test_what_others_have_written_is_text_in_the_list(service):
    make(service, "press", objective={"name": "<b>cost</b>", "unit": '"><i>N'})
    service("POST", "/v1/studies/press/trials", json={"point": [0, 0, 1], "cost": 1})
    queue(service, "press", 1)
    run(service, "press", "<u>panda</u>")

    for page in (service("GET", "/"), service("GET", "/?name_prefix=<s>%22")):
        assert not re.search(r"<(b|i|u|s)>", page.text)
    assert "<u>panda</u> runs 1" in words(service("GET", "/"))


def test_without_studies_the_page_says_how_to_begin(make_service):
    service = make_service()

    open_to_all = service("GET", "/")
    admin, viewer = (signed_in(service, service.make_key(role)) for role in ("admin", "viewer"))

    assert "curl http://127.0.0.1:8100/v1/studies" in open_to_all.text
    assert open_to_all.text.count('href="/new"') == 2
    assert 'Bearer $GEODROME_KEY" http://127.0.0.1:8100/v1/studies' in service("GET", "/", headers=admin).text
    page = service("GET", "/", headers=viewer)
    assert 'href="/new"' not in page.text
    assert "this key has the role viewer" in words(page)
    line = unescape(re.search(r"--json '([^']+)'", open_to_all.text)[1])
    assert service("POST", "/v1/studies", json=json.loads(line), headers=admin).status_code == 201


def test_each_space_has_its_words():
    beginnings = {kind: TypeAdapter(spaces.Space).validate_python(fields.BEGINNINGS[kind]) for kind in kinds.NAMES}

    said = {kind: kinds.described(space).replace("\N{NO-BREAK SPACE}", " ") for kind, space in beginnings.items()}

    assert kinds.NAMES.keys() == spaces.SPACE_TYPES.keys()
    assert said == {
        "rotation": "rotation",
        "sphere": "direction",
        "spd": "SPD matrix 3×3",
        "torus": "2 angles",
        "joints": "2 joints",
        "real": "real",
        "integer": "whole number",
        "euclidean": "vector of 3",
        "hyperbolic": "hyperbolic point of 2",
        "pose": "pose",
        "product": "rotation × real",
    }
    assert kinds.described(spaces.Rotation(dim=4)) == "rotation of 4 axes"
    assert kinds.described(spaces.Sphere(dim=4)) == "direction in 5 axes"


# Making a study
