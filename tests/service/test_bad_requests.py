"""Every way to get a request wrong has its problem, and changes nothing."""

from __future__ import annotations

import json

import pytest

from tests.service.conftest import SPACE

JSON = {"Content-Type": "application/json"}


def test_a_problem_says_what_where_and_under_which_id(http, lab):
    lab.ask()

    answer = http.post(f"{lab.path}/trials/1/tell", json={"cost": "0.4"}, headers={"X-Request-Id": "robot-7/41"})

    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Request-Id"] == "robot-7/41"
    assert answer.json() == {
        "type": "/problems/invalid-cost",
        "title": "The cost is not a finite number",
        "status": 422,
        "detail": 'cost should be a valid number, got "0.4"; for a run that has no cost, tell '
        '{"outcome": "failed", "reason": "…"}',
        "instance": f"{lab.path}/trials/1/tell",
        "code": "invalid-cost",
        "request_id": "robot-7/41",
        "retryable": False,
        "errors": [
            {
                "pointer": "/cost",
                "detail": 'cost should be a valid number, got "0.4"',
                "got": "0.4",
                "rule": "should be a valid number",
            }
        ],
    }


@pytest.mark.parametrize("given", ["", "two words", "\u00e9", "x" * 129])
def test_a_request_id_that_no_log_can_take_is_replaced(http, given):
    answer = http.get("/healthz", headers={"X-Request-Id": given.encode("latin-1")})

    assert len(answer.headers["X-Request-Id"]) == 36


@pytest.mark.parametrize(
    ("body", "code", "found"),
    [
        ('{"cost": NaN}', "invalid-cost", ("/cost", "nan")),
        ('{"cost": Infinity}', "invalid-cost", ("/cost", "inf")),
        ('{"cost": -Infinity}', "invalid-cost", ("/cost", "-inf")),
        ('{"cost": 1e400}', "invalid-cost", ("/cost", "inf")),
        (f'{{"cost": 1{"0" * 400}}}', "invalid-cost", ("/cost", int("1" + "0" * 400))),
        ('{"cost": "NaN"}', "invalid-cost", ("/cost", "NaN")),
        ('{"cost": "1.0"}', "invalid-cost", ("/cost", "1.0")),
        ('{"cost": true}', "invalid-cost", ("/cost", True)),
        ('{"cost": [1]}', "invalid-cost", ("/cost", [1])),
        ('{"cost": null}', "invalid-cost", ("/cost", None)),
        ("{}", "invalid-cost", ("/cost", None)),
        ('{"costs": []}', "invalid-cost", ("/costs", [])),
        ('{"costs": [1, null]}', "invalid-cost", ("/costs/1", None)),
        ('{"costs": [1, NaN]}', "invalid-cost", ("/costs/1", "nan")),
        ('{"costs": [1.7e308, -1.7e308]}', "invalid-cost", ("/costs", None)),
        ('{"cost": 1, "costs": [1]}', "invalid-cost", ("/cost", 1)),
        ('{"outcome": "failed", "cost": 1}', "invalid-cost", ("/cost", 1)),
        ('{"cost": 1, "std": -1}', "invalid-cost", ("/std", -1)),
        ('{"cost": 1, "point": [0.5]}', "invalid-point", ("/point", [0.5])),
        ('{"cost": 1, "point": ["0.5", 0]}', "invalid-point", ("/point/0", "0.5")),
        ('{"cost": 1, "point": [NaN, 0]}', "invalid-point", ("/point/0", "nan")),
        ('{"cost": 1, "point": {"x": 1}}', "invalid-point", ("/point", {"x": 1})),
        ('{"cost": 1, "outcome": "infra_failed"}', "invalid-request", ("/outcome", "infra_failed")),
        ('{"cost": 1, "colour": "red"}', "invalid-request", ("/colour", "red")),
        ('{"cost": 1, "metrics": {"a/b": "c"}}', "invalid-request", ("/metrics/a~1b", "c")),
        ('{"cost": 1, "metadata": {"a": [NaN]}}', "invalid-request", ("/metadata/a/0", "nan")),
        ('{"cost": 1, "reason": "\\u0000"}', "invalid-request", ("/reason", '"\\u0000"')),
        ('{"cost": 1, "metadata": {"\\ud800": 1}}', "invalid-request", ("/metadata", '"\\ud800"')),
        ("[1]", "invalid-request", ("", [1])),
        ("1", "invalid-request", ("", 1)),
        ("null", "invalid-request", ("", None)),
    ],
)
def test_a_bad_tell_names_the_field_and_leaves_the_trial_open(http, lab, body, code, found):
    lab.ask()

    answer = http.post(f"{lab.path}/trials/1/tell", content=body, headers=JSON)

    problem = answer.json()
    assert answer.status_code == 422, problem
    assert problem["code"] == code
    assert (problem["errors"][0]["pointer"], problem["errors"][0]["got"]) == found
    assert problem["errors"][0]["rule"]
    assert lab.trial(1)["state"] == "running"
    assert lab.tell(1, cost=0.5).status_code == 200


@pytest.mark.parametrize(
    ("content", "headers", "says"),
    [
        (b'{"cost": 1', JSON, "not JSON"),
        (b"cost=1", JSON, "not JSON"),
        (b"\xff\xfe\xfa", JSON, "not JSON"),
        (b'{"cost": 1, "cost": 2}', JSON, "'cost' stands there twice"),
        (b'{"cost": 1, "metadata": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, "not JSON"),
        (b'{"cost": 1, "metadata": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}", JSON, "nested at most 64 deep"),
        (b'{"cost": 1' + b"0" * 5000 + b"}", JSON, "not JSON"),
        (b"", {}, "the body is missing"),
        (b'{"cost": 1}', {}, "no Content-Type"),
        (b'{"cost": 1}', {"Content-Type": "text/plain"}, "curl --json"),
        (b"cost=1", {"Content-Type": "application/x-www-form-urlencoded"}, "curl --json"),
        (b"--x--", {"Content-Type": "multipart/form-data; boundary=x"}, "curl --json"),
    ],
)
def test_what_is_no_json_is_refused(http, lab, content, headers, says):
    lab.ask()

    answer = http.post(f"{lab.path}/trials/1/tell", content=content, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert says in answer.json()["detail"]
    assert lab.trial(1)["state"] == "running"


@pytest.mark.parametrize(
    ("space", "code", "pointer"),
    [
        ({"type": "cube"}, "invalid-space", "/space/type"),
        ({"dim": 2}, "invalid-space", "/space/type"),
        ("rotation", "invalid-space", "/space"),
        ({"type": "real"}, "invalid-space", "/space"),
        ({"type": "spd", "dim": 2}, "invalid-space", "/space"),
        ({"type": "real", "bounds": [1, 0]}, "invalid-space", "/space/bounds"),
        ({"type": "real", "bounds": [5, 5]}, "invalid-space", "/space/bounds"),
        ({"type": "real", "bounds": [0, 10], "scale": "log"}, "invalid-space", "/space/bounds"),
        ({"type": "real", "bounds": [0, "1"]}, "invalid-space", "/space/bounds/1"),
        ({"type": "real", "bounds": [0]}, "invalid-space", "/space/bounds/1"),
        ({"type": "spd", "dim": 2, "eigenvalues": [0, 1]}, "invalid-space", "/space/eigenvalues"),
        ({"type": "spd", "dim": 4, "eigenvalues": [1, 2]}, "invalid-space", "/space/dim"),
        ({"type": "sphere", "dim": 0}, "invalid-space", "/space/dim"),
        ({"type": "sphere", "dim": 2, "radius": 1}, "invalid-space", "/space/radius"),
        ({"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1]}}, "invalid-space", "/space/cap/radius"),
        (
            {"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 3.2}},
            "invalid-space",
            "/space/cap/radius",
        ),
        (
            {"type": "rotation", "ball": {"center": [2, 0, 0, 0], "radius": 0.5}},
            "invalid-space",
            "/space/ball/center",
        ),
        ({"type": "euclidean", "dim": 2, "bounds": [[0, 1]]}, "invalid-space", "/space/bounds"),
        ({"type": "product", "factors": {}}, "invalid-space", "/space/factors"),
        ({"type": "product", "factors": {"a b": {"type": "rotation"}}}, "invalid-space", "/space/factors/a b"),
        (
            {"type": "product", "factors": {"gain": {"type": "real"}, "tool": {"type": "rotation"}}},
            "invalid-space",
            "/space/factors/gain",
        ),
        (
            {
                "type": "product",
                "factors": {"inner": {"type": "product", "factors": {"g": {"type": "real", "bounds": [0, "1"]}}}},
            },
            "invalid-space",
            "/space/factors/inner/factors/g/bounds/1",
        ),
    ],
)
def test_a_space_that_cannot_be_searched_is_refused(http, study_name, space, code, pointer):
    answer = http.post("/v1/studies", json={"name": study_name, "space": space})

    problem = answer.json()
    assert answer.status_code == 422, problem
    assert (problem["code"], problem["errors"][0]["pointer"]) == (code, pointer)
    assert http.get(f"/v1/studies/{study_name}").status_code == 404


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"name": "2 words"}, "invalid-request", "/name"),
        ({"name": ""}, "invalid-request", "/name"),
        ({"name": "a/b"}, "invalid-request", "/name"),
        ({"name": None}, "invalid-request", "/name"),
        ({"objective": {"goal": "min"}}, "invalid-request", "/objective/goal"),
        ({"kernel": {"nu": "infinite"}}, "invalid-request", "/kernel/nu"),
        ({"kernel": {"nu": 0}}, "invalid-request", "/kernel/nu"),
        ({"kernel": {"type": "rbf"}}, "invalid-request", "/kernel/type"),
        ({"acquisition": {"type": "pi"}}, "invalid-request", "/acquisition/type"),
        ({"seed": -1}, "invalid-request", "/seed"),
        ({"seed": 2**32}, "invalid-request", "/seed"),
        ({"seed": 1.5}, "invalid-request", "/seed"),
        ({"budget": {"trials": 0}}, "invalid-request", "/budget/trials"),
        ({"budget": 10}, "invalid-request", "/budget"),
        ({"lease_s": 0}, "invalid-request", "/lease_s"),
        ({"lease_s": "10"}, "invalid-request", "/lease_s"),
        ({"max_attempts": 0}, "invalid-request", "/max_attempts"),
        ({"constraints": [{"type": "linear"}]}, "invalid-request", "/constraints/0/coefficients"),
        ({"noise": 0.1}, "invalid-request", "/noise"),
        ({"if_exists": "replace"}, "invalid-request", "/if_exists"),
        ({"owner": "me"}, "invalid-request", "/owner"),
        ({"initial_design": {"size": 0}}, "invalid-request", "/initial_design/size"),
        ({"initial_design": {"around": [0]}}, "invalid-point", "/initial_design/around"),
        ({"initial_design": {"spread": 0.1}}, "invalid-request", "/initial_design"),
        ({"initial_design": {"around": [0, 0], "spread": 1.5}}, "invalid-request", "/initial_design/spread"),
        ({"kernel": {"nu": "guess"}}, "invalid-request", "/kernel/nu"),
        ({"initial_design": {"around": [0, 3]}}, "invalid-point", "/initial_design/around/1"),
    ],
)
def test_a_bad_definition_is_refused_field_by_field(http, study_name, change, code, pointer):
    space = {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [-1, 1]]}

    answer = http.post("/v1/studies", json={"name": study_name, "space": space, **change})

    problem = answer.json()
    assert answer.status_code == 422, problem
    assert problem["code"] == code
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_every_broken_rule_is_told_at_once(http, study_name):
    body = {"name": study_name, "space": {"type": "real"}, "sed": 1, "kernel": {"nu": "x"}, "budget": {"trials": "5"}}

    problem = http.post("/v1/studies", json=body).json()

    assert {error["pointer"] for error in problem["errors"]} == {"/sed", "/kernel/nu", "/budget/trials"}
    assert "and 2 more" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"count": 0}, "/count"),
        ({"count": 33}, "/count"),
        ({"count": 1.5}, "/count"),
        ({"worker": ""}, "/worker"),
        ({"worker": 7}, "/worker"),
        ({"lease_s": -1}, "/lease_s"),
        ({"wait_s": 61}, "/wait_s"),
        ({"resume": 7}, "/resume"),
        ({"resume": "no"}, "/resume"),
        ({"n": 1}, "/n"),
    ],
)
def test_a_bad_ask_is_refused_and_nothing_is_handed_out(http, lab, body, pointer):
    answer = http.post(f"{lab.path}/ask", json=body)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert lab.trials() == []


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("state=done", "/state"),
        ("limit=0", "/limit"),
        ("limit=1001", "/limit"),
        ("limit=ten", "/limit"),
        ("stat=running", "/stat"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/studies", "/v1/studies/{study}/trials"])
def test_a_bad_query_is_refused(http, lab, path, query, pointer):
    answer = http.get(f"{path.format(study=lab.name)}?{query}")

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("query", ["cursor=x", "cursor=0", f"cursor={10**30}"])
def test_a_cursor_that_no_page_gave_is_refused(http, query):
    answer = http.get(f"/v1/studies?{query}")

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/best"),
        ("GET", "/trials"),
        ("GET", "/trials/1"),
        ("POST", "/ask"),
        ("POST", "/trials/1/tell"),
    ],
)
@pytest.mark.parametrize("study", ["nobody", "00000000-0000-0000-0000-000000000000", "%FF", "a%00b"])
def test_an_unknown_study_is_not_found(http, method, path, study):
    body = {"cost": 1} if path.endswith("tell") else None

    answer = http.request(method, f"/v1/studies/{study}{path}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (404, "study-not-found")


@pytest.mark.parametrize("number", [0, -1, 2, 10**30])
def test_an_unknown_trial_is_not_found(http, lab, number):
    lab.ask()

    shown = http.get(f"{lab.path}/trials/{number}")
    told = lab.tell(number, cost=1)

    assert (shown.status_code, shown.json()["code"]) == (404, "trial-not-found")
    assert (told.status_code, told.json()["code"]) == (404, "trial-not-found")
    assert "numbered 1 to 1" in told.json()["detail"]


def test_a_trial_is_addressed_by_a_number(http, lab):
    answer = http.get(f"{lab.path}/trials/first")

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/number")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/nothing", 404), ("PUT", "/v1/studies", 405)])
def test_addresses_that_do_not_exist_get_a_problem_too(http, method, path, status):
    answer = http.request(method, path)

    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert f"{method} {path}" in answer.json()["detail"]


def test_what_is_not_possible_names_what_is(http, lab):
    answers = [http.put(path) for path in (lab.path, f"{lab.path}/trials/batch", "/v1/studies/import")]

    assert [answer.status_code for answer in answers] == [405] * 3
    assert [answer.headers["Allow"] for answer in answers] == ["GET, PATCH, DELETE", "POST", "POST"]


def test_whole_numbers_may_have_a_decimal_point(http, study_name):
    body = {"name": study_name, "space": SPACE, "seed": 3.0, "budget": {"trials": 20.0}}
    created = http.post("/v1/studies", json=body)
    asked = http.post(f"/v1/studies/{study_name}/ask", json={"count": 2.0})

    assert created.status_code == 201, created.text
    assert (created.json()["seed"], created.json()["budget"]["trials"]) == (3, 20)
    assert len(asked.json()["trials"]) == 2
    for refused in (1.5, "2", True):
        assert http.post(f"/v1/studies/{study_name}/ask", json={"count": refused}).status_code == 422


def test_a_body_over_the_limit_is_too_large(http, lab):
    lab.ask()
    body = json.dumps({"cost": 1, "metadata": {"log": "x" * (4 * 1024 * 1024)}})

    answer = http.post(f"{lab.path}/trials/1/tell", content=body, headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    assert lab.trial(1)["state"] == "running"


def test_a_body_of_unknown_length_is_read_no_further_than_the_limit(http, lab):
    lab.ask()

    def endless():
        yield b'{"cost": 1, "metadata": {"log": "'
        for _ in range(64):
            yield b"x" * 128 * 1024

    answer = http.post(f"{lab.path}/trials/1/tell", content=endless(), headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


def test_a_body_just_below_the_limit_is_stored(http, lab):
    lab.ask()
    log = "x" * (4 * 1024 * 1024 - 100)

    assert lab.tell(1, cost=1, metadata={"log": log}).status_code == 200
    assert lab.trial(1)["metadata"] == {"log": log}


def test_a_long_value_is_cut_in_the_problem(http, lab):
    lab.ask()

    answer = lab.tell(1, cost="x" * 100_000)

    assert answer.status_code == 422
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_that_cannot_be_kept_is_refused(http, lab, key):
    answer = http.post(f"{lab.path}/ask", headers={"Idempotency-Key": key})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/Idempotency-Key")


def test_a_refusal_is_no_news_for_the_log(http, lab, running_server):
    before = running_server.log.read_text()

    answers = [
        lab.tell(1, cost="1"),
        http.get("/v1/studies/nobody"),
        http.put("/v1/studies"),
        http.post(f"{lab.path}/ask", content=b"[", headers=JSON),
    ]

    assert [answer.status_code for answer in answers] == [422, 404, 405, 422]
    assert running_server.log.read_text() == before
