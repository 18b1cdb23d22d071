"""The page that makes a study: by its text, with the form beside it."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
import yaml
from geodrome import spaces
from geodrome.schemas import StudyCreate
from geodrome_service.dashboard import fields, kinds, starts

from tests.service.test_pages_studies import PRODUCT, make, words
from tests.service.test_signing_in import signed_in


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
