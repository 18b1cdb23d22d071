"""Studies are made once, shown as they are in force, and listed newest first."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from geodrome import schemas

ROTATION = {"type": "rotation"}
GAINS = {
    "type": "product",
    "factors": {
        "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [10, 3000], "unit": "N/m"},
        "tool": {"type": "rotation", "order": "xyzw", "frame": "panda_hand", "relative_to": "base"},
    },
}


def test_two_fields_make_a_study_and_the_rest_is_filled_in(http, study_name):
    answer = http.post("/v1/studies", json={"name": study_name, "space": ROTATION})

    study = schemas.Study.model_validate(answer.json())
    assert answer.status_code == 201
    assert (study.name, study.state, study.seed, study.lease_s, study.max_attempts) == (study_name, "active", 0, 600, 3)
    assert (study.kernel.nu, study.acquisition.type, study.initial_design.size) == ("learn", "log_ei", 5)
    assert study.objective.goal == "minimize"
    assert set(study.counts.model_dump().values()) == {0}
    assert (study.budget_left, study.best) == (None, None)
    assert answer.json()["created_at"].endswith("Z")


def test_a_study_is_shown_as_it_was_defined_by_name_and_by_id(http, study_name):
    definition = {
        "name": study_name,
        "space": GAINS,
        "objective": {"name": "tracking cost", "goal": "maximize", "unit": "m"},
        "kernel": {"nu": "inf"},
        "initial_design": {"size": 3, "around": {"stiffness": [[100, 0], [0, 100]], "tool": [0, 0, 0, -1]}},
        "seed": 2**32 - 1,
        "budget": {"trials": 7},
        "lease_s": 1.5,
        "max_attempts": 1,
        "metadata": {"gripper": "v2 ü", "mass": 0.1},
    }
    created = http.post("/v1/studies", json=definition).json()

    by_name = http.get(f"/v1/studies/{study_name}").json()
    by_id = http.get(f"/v1/studies/{created['id']}").json()

    assert by_name == by_id == created
    assert list(by_name["space"]["factors"]) == ["stiffness", "tool"]
    assert by_name["space"]["factors"]["tool"]["relative_to"] == "base"
    assert by_name["initial_design"]["around"] == {
        "stiffness": [[100.0, 0.0], [0.0, 100.0]],
        "tool": [0.0, 0.0, 0.0, 1.0],
    }
    assert (by_name["seed"], by_name["lease_s"], by_name["metadata"]) == (2**32 - 1, 1.5, definition["metadata"])
    assert by_name["budget_left"] == 7


def test_a_name_is_given_once(http, study_name):
    body = {"name": study_name, "space": ROTATION}
    http.post("/v1/studies", json=body)

    again = http.post("/v1/studies", json=body)

    assert (again.status_code, again.json()["code"]) == (409, "study-exists")


def test_an_equally_defined_study_is_loaded_whatever_may_change_later(http, study_name):
    first = {"name": study_name, "space": ROTATION, "budget": {"trials": 5}, "metadata": {"day": 1}}
    created = http.post("/v1/studies", json=first).json()

    second = {
        "name": study_name,
        "space": {"type": "rotation", "dim": 3},
        "kernel": {"nu": "learn"},
        "if_exists": "load",
    }
    loaded = http.post("/v1/studies", json=second)

    assert loaded.status_code == 200
    assert loaded.json() == created


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"space": {"type": "rotation", "order": "xyzw"}}, "space"),
        ({"seed": 1}, "seed"),
        ({"kernel": {"nu": 1.5}}, "kernel"),
        ({"objective": {"goal": "maximize"}}, "objective"),
        ({"max_attempts": 1}, "max_attempts"),
    ],
)
def test_a_study_that_is_defined_otherwise_is_not_loaded(http, study_name, change, field):
    http.post("/v1/studies", json={"name": study_name, "space": ROTATION})

    answer = http.post("/v1/studies", json={"name": study_name, "space": ROTATION, "if_exists": "load", **change})

    assert (answer.status_code, answer.json()["code"]) == (409, "study-exists")
    assert answer.json()["differs"] == [field]
    assert field in answer.json()["detail"]


def test_of_robots_that_create_at_once_one_creates_and_the_others_load(server, study_name):
    body = {"name": study_name, "space": ROTATION, "if_exists": "load"}
    together = threading.Barrier(8)

    def create(_: int) -> httpx.Response:
        with httpx.Client(base_url=server, timeout=60) as http:
            together.wait()
            return http.post("/v1/studies", json=body)

    with ThreadPoolExecutor(8) as robots:
        answers = list(robots.map(create, range(8)))

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_studies_are_listed_newest_first_page_by_page(http):
    prefix = f"page-{uuid.uuid4().hex}-"
    for number in range(5):
        http.post("/v1/studies", json={"name": f"{prefix}{number}", "space": ROTATION})

    pages, cursor = [], None
    while not pages or cursor is not None:
        query = {"name_prefix": prefix, "limit": 2} | ({} if cursor is None else {"cursor": cursor})
        page = schemas.StudyPage.model_validate(http.get("/v1/studies", params=query).json())
        pages.append([study.name.removeprefix(prefix) for study in page.studies])
        cursor = page.next_cursor

    assert pages == [["4", "3"], ["2", "1"], ["0"]]


def test_a_prefix_is_taken_literally(http):
    unique = uuid.uuid4().hex
    http.post("/v1/studies", json={"name": f"A{unique}_x", "space": ROTATION})

    def names(prefix: str) -> list[str]:
        page = http.get("/v1/studies", params={"name_prefix": prefix}).json()
        return [study["name"] for study in page["studies"]]

    assert names(f"A{unique}_") == [f"A{unique}_x"]
    assert names(f"a{unique}_") == names(f"A{unique}%") == []


@pytest.mark.parametrize(("path", "name"), [("", "name_prefix"), ("/{study}/trials", "worker")])
def test_text_that_no_database_stores_is_refused_in_queries(http, lab, path, name):
    refused = http.get(f"/v1/studies{path.format(study=lab.name)}", params={name: "a\0b"})

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-request")
    assert refused.json()["errors"][0]["pointer"] == f"/{name}"


def test_only_studies_in_the_state_are_listed(http, lab):
    query = {"name_prefix": lab.name}

    active = http.get("/v1/studies", params={**query, "state": "active"}).json()["studies"]
    closed = http.get("/v1/studies", params={**query, "state": "closed"}).json()["studies"]

    assert [study["name"] for study in active] == [lab.name]
    assert closed == []


def test_the_list_shows_each_study_as_it_shows_alone(http, make_lab):
    lab = make_lab(objective={"goal": "maximize"})
    for cost in (1.0, 3.0, 2.0):
        lab.tell(lab.ask()["number"], cost=cost)

    [listed] = http.get("/v1/studies", params={"name_prefix": lab.name}).json()["studies"]

    assert listed == lab.show()
    assert (listed["best"]["number"], listed["best"]["cost"]) == (2, 3.0)
    assert listed["counts"]["completed"] == 3


@pytest.mark.parametrize(("goal", "number"), [("minimize", 2), ("maximize", 3)])
def test_the_best_trial_follows_the_goal_and_is_the_first_of_equals(http, make_lab, goal, number):
    lab = make_lab(objective={"goal": goal})
    for cost in (1.0, -2.0, 5.0, -2.0, 5.0):
        lab.tell(lab.ask()["number"], cost=cost)

    best = schemas.Best.model_validate(http.get(f"{lab.path}/best").json())

    assert best.observed is not None
    assert best.observed.number == number
    assert best.observed == lab_best(lab)


def lab_best(lab) -> schemas.Trial:
    return schemas.Trial.model_validate(lab.show()["best"])


def test_nothing_is_best_before_the_first_cost(http, lab):
    lab.ask()
    lab.tell(1, outcome="failed", reason="joint limit")

    assert http.get(f"{lab.path}/best").json() == {"observed": None, "recommended": None}


def test_the_recommended_point_lies_in_the_space_and_goes_with_the_goal(http, make_lab):
    lab = make_lab(objective={"goal": "maximize"}, initial_design={"size": 6})
    for _ in range(6):
        trial = lab.ask()
        x, y = trial["point"]
        lab.tell(trial["number"], cost=10 - (x - 0.3) ** 2 - (y + 0.2) ** 2)

    recommended = http.get(f"{lab.path}/best").json()["recommended"]

    assert all(-1 <= coordinate <= 1 for coordinate in recommended["point"])
    assert recommended["mean"] > 9.5
    assert recommended["std"] >= 0
    assert http.get(f"{lab.path}/best").json()["recommended"] == recommended
