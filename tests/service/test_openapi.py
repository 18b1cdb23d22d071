"""The interface describes itself completely, and explains its problems."""

from __future__ import annotations

import re

import pytest
from geodrome.errors import PROBLEMS

ROUTES = {
    ("get", "/healthz"): set(),
    ("get", "/problems/{code}"): set(),
    ("post", "/v1/studies"): {"200", "201", "409", "413", "422", "500", "503"},
    ("get", "/v1/studies"): {"200", "422", "500", "503"},
    ("get", "/v1/studies/{study}"): {"200", "404", "500", "503"},
    ("get", "/v1/studies/{study}/best"): {"200", "404", "500", "503"},
    ("post", "/v1/studies/{study}/ask"): {"200", "202", "404", "409", "413", "422", "500", "503"},
    ("post", "/v1/studies/{study}/trials/{number}/tell"): {"200", "404", "409", "413", "422", "500", "503"},
    ("get", "/v1/studies/{study}/trials"): {"200", "404", "422", "500", "503"},
    ("get", "/v1/studies/{study}/trials/{number}"): {"200", "404", "422", "500", "503"},
    ("patch", "/v1/studies/{study}"): {"200", "404", "409", "413", "422", "500", "503"},
    ("delete", "/v1/studies/{study}"): {"204", "404", "500", "503"},
    ("post", "/v1/studies/{study}/predict"): {"200", "404", "413", "422", "500", "503"},
    ("get", "/v1/studies/{study}/events"): {"200", "404", "422", "500", "503"},
    ("post", "/v1/studies/{study}/trials"): {"200", "201", "404", "409", "413", "422", "500", "503"},
    ("post", "/v1/studies/{study}/trials/batch"): {"200", "201", "404", "409", "413", "422", "500", "503"},
    ("post", "/v1/studies/{study}/trials/{number}/heartbeat"): {"200", "404", "409", "413", "422", "500", "503"},
    ("get", "/v1/studies/{study}/model"): {"200", "404", "500", "503"},
    ("get", "/v1/studies/{study}/views"): {"200", "404", "422", "500", "503"},
    ("get", "/v1/studies/{study}/export"): {"200", "404", "422", "500", "503"},
    ("post", "/v1/studies/import"): {"201", "409", "413", "422", "500", "503"},
    ("get", "/v1/spaces"): {"200"},
    ("get", "/readyz"): {"200", "503"},
    ("get", "/metrics"): {"200", "500", "503"},
}

NO_PROBLEMS = {("get", "/readyz")}
"""Routes whose answer says in its own words that something is wrong: programs ask them, not people."""


@pytest.fixture(scope="module")
def document(http):
    return http.get("/openapi.json").json()


def operations(document):
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_is_described_with_each_of_its_answers(document):
    described = operations(document)

    assert described.keys() == ROUTES.keys()
    for route, statuses in ROUTES.items():
        assert statuses <= described[route]["responses"].keys(), route
        assert described[route]["summary"], route
        assert described[route]["description"], route


def test_problems_are_described_as_they_travel(document):
    for route, operation in operations(document).items():
        for status, response in operation["responses"].items():
            if int(status) >= 400 and route not in NO_PROBLEMS:
                [(kind, content)] = response["content"].items()
                assert kind == "application/problem+json", route
                assert content["schema"] == {"$ref": "#/components/schemas/ProblemBody"}
    body = document["components"]["schemas"]["ProblemBody"]
    assert set(body["required"]) == {
        "type", "title", "status", "detail", "instance", "code", "request_id", "retryable", "errors",
    }  # fmt: skip


def test_every_reference_leads_somewhere(document):
    def references(value):
        if isinstance(value, dict):
            yield from (item for name, item in value.items() if name == "$ref")
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)

    names = {reference.removeprefix("#/components/schemas/") for reference in references(document)}

    assert names <= document["components"]["schemas"].keys()
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_the_pages_can_be_read(http):
    answer = http.get("/docs")

    assert answer.status_code == 200
    assert "/openapi.json" in answer.text


def test_the_pages_need_nothing_from_outside(http):
    """Labs are offline."""
    page = http.get("/docs").text

    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(sources) >= 3
    assert all(http.get(source).status_code == 200 for source in sources if source.startswith("/"))
    assert all(source.startswith("/") for source in sources)


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_problem_is_explained_at_its_address(http, code):
    page = http.get(f"/problems/{code}").json()

    assert (page["code"], page["status"], page["title"]) == (code, PROBLEMS[code].status, PROBLEMS[code].title)
    assert len(page["explanation"]) > 10


def test_an_unknown_problem_is_not_explained(http):
    assert http.get("/problems/out-of-coffee").status_code == 404


def test_health_says_that_the_process_lives(http):
    assert http.get("/healthz").json()["status"] == "ok"
