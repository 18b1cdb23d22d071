"""``docs/api.md`` has every call and every problem, each as the interface describes itself, and no others."""

from __future__ import annotations

import json
import re

import geodrome
import pytest
from geodrome.errors import PROBLEMS
from geodrome_service.api.rules import RULES_BY_CALL

from tests.docs.pages import DOCS, blocks_of

PAGE = DOCS / "api.md"
TEXT = PAGE.read_text()
OF_ALL = {"unauthorized", "forbidden", "rate-limited", "database-unavailable", "internal"}
CALLS = {
    (method, template): body
    for method, template, body in re.findall(
        r"^### `([A-Z]+) (\S+)`\n(.*?)(?=^##)", TEXT, flags=re.MULTILINE | re.DOTALL
    )
}


@pytest.fixture(scope="module")
def document(http):
    return http.get("/openapi.json").json()


@pytest.fixture(scope="module")
def operations(document):
    return {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def fields(document, operation) -> set[str]:
    """What may be in the body."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    kinds = [kind["$ref"] for kind in (schema, *schema.get("anyOf", ())) if "$ref" in kind]
    names = [kind.removeprefix("#/components/schemas/") for kind in kinds]
    return {field for name in names for field in document["components"]["schemas"][name]["properties"]}


def test_it_has_every_call_and_no_other(operations):
    assert CALLS.keys() == operations.keys()


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_call_has_its_role_its_answers_and_its_problems(operations, call):
    told, operation = CALLS[call], operations[call]
    role = RULES_BY_CALL[call].role

    assert ("No key." if role is None else f"Role `{role.value}`") in told
    answers = re.search(r"Answers .*", told)
    assert {code for code in operation["responses"] if int(code) < 400} <= set(re.findall(r"\b20\d\b", answers[0]))
    described = "".join(answer["description"] for answer in operation["responses"].values())
    problems = re.search(r"^Problems: (.*)\.$", told, flags=re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", problems[1] if problems else "")) | OF_ALL == (
        set(re.findall(r"`([a-z-]+)`:", described)) | OF_ALL
    )


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_call_has_all_its_fields_and_parameters(document, operations, call):
    told, operation = CALLS[call], operations[call]
    form = {"representation", "order", "unit", "encoding", "model"}
    queries = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}

    named = set(re.findall(r"`(\w+)`", told))
    assert fields(document, operation) | (queries - form) <= named
    assert ("; form." in told) == (form <= queries)


def test_the_answer_that_it_shows_is_one():
    (shown,) = [block for block in blocks_of(PAGE) if block.language == "json"]
    body = json.loads(shown.text)

    (trial,) = geodrome.schemas.Trials.model_validate(body).trials
    assert trial.model_dump().keys() == body["trials"][0].keys()


def test_it_has_every_problem_and_no_other():
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \| `(\w+)` \| (.+) \| (.+) \|$", TEXT, flags=re.MULTILINE)

    assert {(code, int(status), kind) for code, status, kind, _, _ in rows} == {
        (code, kind.status, kind.__name__) for code, kind in PROBLEMS.items()
    }
    assert all(getattr(geodrome, kind) is PROBLEMS[code] for code, _, kind, _, _ in rows)
