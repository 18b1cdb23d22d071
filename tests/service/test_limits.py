"""How much and how often one may send, and what browsers are told about the answers."""

from __future__ import annotations

import socket

import pytest
from geodrome_service.settings import Settings
from pydantic import ValidationError

STUDIES = "/v1/studies"
ORIGIN = "https://lab.example"
MIB = 1024 * 1024


def test_there_is_no_rate_unless_it_is_set(service):
    assert {service("GET", "/v1/spaces").status_code for _ in range(100)} == {200}


def test_who_asks_too_often_is_told_when_to_come_again(make_service):
    service = make_service(rate_per_s=0.05, rate_burst=3)

    answers = [service("GET", STUDIES) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    problem = answers[-1].json()
    assert (problem["code"], problem["retryable"]) == ("rate-limited", True)
    assert 15 < int(answers[-1].headers["Retry-After"]) <= 20
    assert problem["retry_after_s"] == int(answers[-1].headers["Retry-After"])
    assert service("GET", "/healthz").status_code == 200, "programs that watch are not limited"


@pytest.mark.parametrize("rate_per_s", [0.01, 1 / 3, 12.5, 1e6])
def test_any_rate_can_be_set(make_service, rate_per_s):
    service = make_service(rate_per_s=rate_per_s, rate_burst=2)

    assert [service("GET", "/v1/spaces").status_code for _ in range(2)] == [200, 200]


def test_each_key_has_a_rate_of_its_own(make_service):
    service = make_service(rate_per_s=0.01, rate_burst=1)
    first, second = service.make_key("viewer"), service.make_key("viewer")

    answers = [service("GET", STUDIES, key=key).status_code for key in (first, first, second)]

    assert answers == [200, 429, 200]


def test_who_is_refused_is_counted_too(make_service):
    service = make_service(rate_per_s=0.01, rate_burst=2)
    service.make_key("admin")

    answers = [service("GET", STUDIES, key=f"geodrome_{guess}").status_code for guess in range(3)]

    assert answers == [401, 401, 429]


def test_the_largest_body_can_be_set(make_service, service):
    content = b'{"name": "' + b"x" * MIB + b'"}'
    headers = {"Content-Type": "application/json"}

    refused = make_service(body_limit_mib=1)("POST", STUDIES, content=content, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (413, "too-large")
    assert refused.json()["detail"] == "bodies have at most 1 MiB here"
    assert service("POST", STUDIES, content=content, headers=headers).status_code == 422


def test_a_body_that_says_it_is_too_large_is_not_waited_for(running_server):
    host, _, port = running_server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(
            f"POST {STUDIES} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {4 * MIB + 1}\r\n\r\n".encode()
        )
        answer = connection.makefile("rb").readline()

    assert answer.split()[1] == b"413"


def test_every_answer_tells_browsers_what_it_is_not_for(service):
    answers = [service("GET", path) for path in ("/v1/spaces", "/v1/studies/nobody", "/healthz", "/nothing")]
    answers.append(service("GET", STUDIES, headers={"Host": "evil.example"}))

    for answer in answers:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_the_pages_may_run_their_own_scripts_and_nothing_from_outside(service):
    page, script = service("GET", "/docs"), service("GET", "/static-offline-docs/swagger-ui-bundle.js")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["Content-Security-Policy"].split(";"))

    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "http" not in page.headers["Content-Security-Policy"]
    assert "<script>" in page.text
    assert "'unsafe-inline'" in policy["script-src"]
    assert script.status_code == 200
    assert script.headers["Cache-Control"] == "no-cache", "it has an ETag"


def test_what_a_route_says_of_caching_stays(service, lab):
    with lab.http.stream("GET", f"{lab.path}/events", headers={"Accept": "text/event-stream"}) as stream:
        assert stream.headers["Cache-Control"] == "no-cache"
        assert stream.headers["X-Content-Type-Options"] == "nosniff"


def preflight(service):
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "idempotency-key",
    }
    return service("OPTIONS", f"{STUDIES}/a/ask", headers=asked)


def test_no_web_page_may_read_answers_unless_its_origin_is_set(make_service):
    closed, opened = make_service(), make_service(cors_origins=f"{ORIGIN}, http://127.0.0.1:3000")

    assert "Access-Control-Allow-Origin" not in preflight(closed).headers
    allowed = preflight(opened)
    assert allowed.status_code == 200
    assert allowed.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Credentials" not in allowed.headers
    answer = opened("GET", STUDIES, headers={"Origin": ORIGIN})
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]
    strange = opened("GET", STUDIES, headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in strange.headers


def test_a_page_that_may_read_answers_also_reads_refusals(make_service):
    service = make_service(cors_origins=ORIGIN)
    service.make_key("admin")

    answer = service("GET", STUDIES, headers={"Origin": ORIGIN})

    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    "origin", ["*", "lab.example", "https://lab.example/", "https://me:secret@lab.example", "null"]
)
def test_an_origin_that_is_none_is_refused(origin):
    with pytest.raises(ValidationError, match="an origin is http://host"):
        Settings(cors_origins=origin)
