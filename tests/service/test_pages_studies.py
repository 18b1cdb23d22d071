"""The pages that list studies and make new ones."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest
import yaml
from geodrome import spaces
from geodrome.schemas import StudyCreate
from geodrome_service.dashboard import fields, kinds, starts
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


def data_of(page) -> dict:
    """What the scripts of the page are given."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*)</script>', page.text)[1])


def text_of(page) -> str:
    return unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)[1])


@pytest.mark.parametrize("start", starts.STARTS)
def test_a_typical_study_can_be_made_as_it_is(service, start):
    page = service("GET", f"/new?start={start}")
    text = text_of(page)

    answer = service("POST", "/new", data={"text": text})

    assert text == starts.text(start)
    assert data_of(page)["value"] == yaml.safe_load(text)
    assert f'<option value="{start}" selected>' in page.text
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/studies/{start}")
    made = service("GET", f"/v1/studies/{start}").json()
    assert made["budget"] == yaml.safe_load(text)["budget"]


def test_a_study_as_text_is_the_same_as_one_through_the_interface(service):
    definition = {
        "name": "press",
        "space": PRODUCT,
        "constraints": [{"coefficients": {"p": 1, "d": 1}, "upper": 1.5}],
        "objective": {"name": "overshoot", "unit": "N"},
        "initial_design": {"size": 7, "around": {"tool": [1, 0, 0, 0], "p": 0.5, "d": 0.5}},
        "kernel": {"nu": "inf"},
        "metadata": {"robot": "panda", "no": "no"},
    }

    answer = service("POST", "/new", data={"text": yaml.safe_dump(definition)})
    make(service, "press-2", **{name: part for name, part in definition.items() if name != "name"})

    one, other = (service("GET", f"/v1/studies/{name}").json() for name in ("press", "press-2"))
    told_apart = {"id", "name", "created_at"}
    assert answer.status_code == 303
    assert {name: one[name] for name in one.keys() - told_apart} == {
        name: other[name] for name in other.keys() - told_apart
    }


SAYS_TYPE = "name: press\nspace: {type: sphere, dim: 2}\n"
WRONG = [
    ("name: press\nname: grasp", None, "line 2, column 1: the key 'name' is there twice"),
    ('{"name": "press", "name": "grasp"}', None, "the key 'name' is there twice"),
    ("name: [", None, "the text is neither YAML nor JSON"),
    ("a\x00b", None, "the text is neither YAML nor JSON"),
    ("a: &a [*a]", None, "its aliases stand for too much"),
    ("!!python/object/apply:os.getcwd []", None, "could not determine a constructor"),
    (SAYS_TYPE + "lease_s: .nan", "/lease_s", "lease_s is nan"),
    (SAYS_TYPE + "metadata: {a: [1, -.inf]}", "/metadata/a/1", "metadata/a/1 is -inf"),
    (SAYS_TYPE + 'metadata: {a: "\\0"}', "/metadata/a", "is no text in UTF-8 without NUL"),
    ("", "", "the body"),
    ("press", "", "the body"),
    (SAYS_TYPE + "color: red", "/color", "color is unknown here"),
    ("space: {type: sphere, dim: 2}", "/name", "name is missing"),
    ("name: <b>press\nspace: {type: sphere, dim: 2}", "/name", "<b>press"),
    ("name: press\nspace: {type: circle}", "/space/type", "'circle'"),
    ("name: press\nspace: {type: real}", "/space", "has no bounds"),
    ("name: press\nspace: {type: real, bounds: [1, 0]}", "/space/bounds", "bounds"),
    (SAYS_TYPE + "initial_design: {around: [0, 0, 5]}", "/initial_design/around", "norm"),
    (SAYS_TYPE + "constraints: [{coefficients: {k: 1}, upper: 1}]", "/constraints/0/coefficients/k", "k"),
    (SAYS_TYPE + "kernel: {type: cholesky_matern}", "/kernel/type", "cholesky_matern"),
]


@pytest.mark.parametrize(("text", "pointer", "said"), WRONG)
def test_what_is_wrong_is_told_by_its_pointer_beside_the_text_as_it_was(service, text, pointer, said):
    answer = service("POST", "/new", data={"text": text})
    checked = service("POST", "/new/check", data={"text": text}).json()["problem"]

    assert answer.status_code == checked["status"] == 422
    assert text_of(answer) == text
    assert said in words(answer)
    assert said in str(checked)
    assert '<div id="said" role="alert">' in answer.text
    pointers = [error["pointer"] for error in checked["errors"]]
    assert pointers == [error["pointer"] for error in data_of(answer)["errors"]]
    assert pointer is None or pointer in pointers
    assert all(f"<code>{one or '/'}</code>" in answer.text for one in pointers)
    assert "<b>press" not in answer.text
    assert service("GET", "/v1/studies").json()["studies"] == []


@pytest.mark.parametrize(
    "text", [text for text, pointer, _ in WRONG if pointer and ".nan" not in text and "inf" not in text]
)
def test_the_errors_are_those_of_the_interface(service, text):
    checked = service("POST", "/new/check", data={"text": text}).json()["problem"]
    told = service("POST", "/v1/studies", json=yaml.safe_load(text)).json()

    assert {name: checked[name] for name in ("code", "detail", "errors")} == {
        name: told[name] for name in ("code", "detail", "errors")
    }


def test_a_name_that_is_taken_is_a_conflict_and_nothing_changes(service):
    make(service, "press")

    answer = service("POST", "/new", data={"text": SAYS_TYPE})
    loaded = service("POST", "/new", data={"text": SAYS_TYPE + "if_exists: load"})
    other = service("POST", "/new", data={"text": SAYS_TYPE + "seed: 3\nif_exists: load"})

    assert (answer.status_code, loaded.status_code, other.status_code) == (409, 303, 409)
    assert "a study named 'press' exists since" in words(answer)
    assert "is defined otherwise: seed" in words(other)
    assert len(service("GET", "/v1/studies").json()["studies"]) == 1


def test_a_check_makes_nothing_and_says_what_the_text_means(service):
    good = service("POST", "/new/check", data={"text": SAYS_TYPE})
    bad = service("POST", "/new/check", data={"text": SAYS_TYPE + "seed: -1"})

    assert good.json() == {"value": {"name": "press", "space": {"type": "sphere", "dim": 2}}, "problem": None}
    assert bad.json()["value"]["seed"] == -1
    assert service("GET", "/v1/studies").json()["studies"] == []


def test_a_text_over_the_limit_is_refused(make_service):
    service = make_service(body_limit_mib=1)

    answer = service("POST", "/new", data={"text": "#" * 2**20})

    assert answer.status_code == 413
    assert "at most 1 MiB" in answer.text


def test_only_admins_make_studies_and_others_learn_why(service):
    viewer, robot, admin = (signed_in(service, service.make_key(role)) for role in ("viewer", "robot", "admin"))

    for role, cookie in {"viewer": viewer, "robot": robot}.items():
        page = service("GET", "/new", headers=cookie)
        assert page.status_code == 200
        assert f"needs the role admin; this key has the role {role}" in words(page)
        assert "<textarea" not in page.text
        assert service("POST", "/new", headers=cookie, data={"text": SAYS_TYPE}).status_code == 403
        assert service("POST", "/new/check", headers=cookie, data={"text": SAYS_TYPE}).status_code == 403
    assert service("POST", "/new", headers=admin, data={"text": SAYS_TYPE}).status_code == 303


def test_no_page_elsewhere_makes_a_study_by_its_form(service):
    for elsewhere in ("http://elsewhere.example", "null"):
        answer = service("POST", "/new", headers={"Origin": elsewhere}, data={"text": SAYS_TYPE})
        assert answer.status_code == 403
    assert service("GET", "/v1/studies").json()["studies"] == []
    # Else browsers would send the page's own form as from "null".
    assert service("GET", "/new").headers["Referrer-Policy"] == "same-origin"


def test_the_form_has_every_field_of_every_space():
    shown = {
        form["type"]: {field["name"] for field in form["fields"]}
        for form in fields.of_spaces()
    }  # fmt: skip

    assert shown == {name: kind.model_fields.keys() - {"type"} for name, kind in spaces.SPACE_TYPES.items()}
    assert [field["name"] for field in fields.of_studies()] == list(fields.OF_STUDIES)
    controls = {(form["type"], field["name"]): field["kind"] for form in fields.of_spaces() for field in form["fields"]}
    assert controls["real", "bounds"] == "pair"
    assert controls["joints", "bounds"] == "pairs"
    assert controls["rotation", "order"] == "choice"
    assert controls["rotation", "ball"] == controls["pose", "position"] == "group"
    assert controls["product", "factors"] == "factors"
    assert controls["spd", "unit"] == "text"


@pytest.mark.parametrize("kind", kinds.NAMES)
def test_a_space_that_is_chosen_can_be_searched(service, kind):
    text = json.dumps({"name": "press", "space": fields.BEGINNINGS[kind]})

    assert service("POST", "/new/check", data={"text": text}).json()["problem"] is None


@pytest.mark.parametrize(("kind", "part"), [("rotation", "ball"), ("sphere", "cap")])
def test_an_optional_part_that_is_chosen_can_be_searched(service, kind, part):
    space = fields.BEGINNINGS[kind] | {part: fields.BEGINNINGS[part]}

    answer = service("POST", "/new/check", data={"text": json.dumps({"name": "press", "space": space})})

    assert answer.json()["problem"] is None
    assert StudyCreate(name="press", space=space).space.model_dump()[part] is not None
