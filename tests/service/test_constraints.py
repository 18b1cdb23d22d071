"""Constraints between reals over HTTP: echoed, kept by every suggestion, and refused where they say nothing."""

from __future__ import annotations

import pytest

SPACE = {
    "type": "product",
    "factors": {
        "gain": {"type": "real", "bounds": [0, 1]},
        "offset": {"type": "euclidean", "dim": 2, "bounds": [[0, 1], [0, 1]]},
        "up": {"type": "sphere", "dim": 2},
    },
}
CONSTRAINT = {
    "type": "linear",
    "coefficients": {"gain": 1, "offset[0]": 1, "offset[1]": 1},
    "lower": None,
    "upper": 0.5,
}
INSIDE = {"gain": 0.25, "offset": [0.125, 0.0], "up": [0, 0, 1]}
OUTSIDE = {"gain": 0.75, "offset": [0.125, 0.0], "up": [0, 0, 1]}


def total(point):
    return point["gain"] + sum(point["offset"])


@pytest.fixture
def lab(make_lab):
    return make_lab(space=SPACE, constraints=[CONSTRAINT], initial_design={"size": 3})


def test_constraints_are_shown_with_the_study(lab):
    assert lab.created.json()["constraints"] == [CONSTRAINT]


def test_every_suggestion_keeps_to_them(lab, http):
    batch = http.post(f"{lab.path}/ask", json={"count": 16}).json()["trials"]
    told = [lab.tell(trial["number"], cost=-total(trial["point"])) for trial in batch]
    more = http.post(f"{lab.path}/ask", json={"count": 2}).json()["trials"]

    recommended = http.get(f"{lab.path}/best").json()["recommended"]
    assert {trial["origin"]["kind"] for trial in more} == {"model"}
    assert total(recommended["point"]) <= 0.5
    assert all(total(trial["point"]) <= 0.5 for trial in batch + more)
    assert all(answer.json()["flags"] == [] for answer in told)


def test_an_observation_that_breaks_them_is_flagged_and_a_point_to_be_run_is_refused(lab, http):
    told = http.post(f"{lab.path}/trials", json={"point": OUTSIDE, "cost": 1})
    queued = http.post(f"{lab.path}/trials", json={"point": OUTSIDE})

    assert (told.status_code, told.json()["flags"]) == (201, ["outside_domain"])
    [fault] = queued.json()["errors"]
    assert (queued.status_code, queued.json()["code"], fault["pointer"]) == (422, "invalid-point", "/point")
    assert fault["detail"] == "gain + offset[0] + offset[1] <= 0.5 does not hold, by 0.375"
    assert http.post(f"{lab.path}/trials", json={"point": INSIDE}).status_code == 201
    assert http.post(f"{lab.path}/predict", json={"points": [INSIDE]}).status_code == 200


def test_what_was_executed_outside_is_flagged(lab):
    trial = lab.ask()

    assert lab.tell(trial["number"], cost=1, point=OUTSIDE).json()["flags"] == ["outside_domain"]


@pytest.mark.parametrize(
    ("constraint", "code", "pointer"),
    [
        ({**CONSTRAINT, "upper": -1}, "empty-domain", "/constraints"),
        ({**CONSTRAINT, "upper": 0}, "empty-domain", "/constraints"),
        ({**CONSTRAINT, "lower": 0.5}, "empty-domain", "/constraints"),
        ({**CONSTRAINT, "coefficients": {"up": 1}}, "invalid-request", "/constraints/0/coefficients/up"),
        ({**CONSTRAINT, "coefficients": {"gian": 1}}, "invalid-request", "/constraints/0/coefficients/gian"),
        ({**CONSTRAINT, "coefficients": {"gain": "1"}}, "invalid-request", "/constraints/0/coefficients/gain"),
        ({**CONSTRAINT, "type": "convex"}, "invalid-request", "/constraints/0/type"),
        ({**CONSTRAINT, "upper": None}, "invalid-request", "/constraints/0"),
    ],
)
def test_constraints_that_cannot_be_kept_are_refused(http, study_name, constraint, code, pointer):
    answer = http.post("/v1/studies", json={"name": study_name, "space": SPACE, "constraints": [constraint]})

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert http.get(f"/v1/studies/{study_name}").status_code == 404


def test_a_study_does_not_begin_at_a_point_that_breaks_them(http, study_name):
    body = {"name": study_name, "space": SPACE, "constraints": [CONSTRAINT], "initial_design": {"around": OUTSIDE}}

    answer = http.post("/v1/studies", json=body)

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/initial_design/around")


def test_a_real_without_bounds_is_what_is_wrong_first(http, study_name):
    space = {"type": "product", "factors": {"gain": {"type": "real"}}}
    body = {"name": study_name, "space": space, "constraints": [{**CONSTRAINT, "coefficients": {"gain": 1}}]}

    assert http.post("/v1/studies", json=body).json()["errors"][0]["pointer"] == "/space/factors/gain"
