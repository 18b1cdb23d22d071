"""Studies are carried: exported whole, imported whole, and go on with the same suggestions."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from geodrome.errors import TooLarge
from geodrome.portable import PortableTrial
from geodrome_service.api.imports import LargeJsonRequest
from geodrome_service.settings import Settings
from geodrome_service.store.tables import Trial

from tests.service.conftest import Lab
from tests.service.histories import lived_in

PARTS = {
    "type": "product",
    "factors": {
        "tool": {"type": "rotation"},
        "gain": {"type": "real", "bounds": [1, 100], "scale": "log"},
        "grip": {"type": "spd", "dim": 2, "eigenvalues": [1, 10]},
    },
}
SPHERE = {"type": "sphere", "dim": 2}


def exported(lab: Lab) -> httpx.Response:
    answer = lab.http.get(f"{lab.path}/export")
    assert answer.status_code == 200, answer.text
    return answer


def imported(http: httpx.Client, content: bytes, name: str | None) -> httpx.Response:
    query = {} if name is None else {"name": name}
    headers = {"Content-Type": "application/json"}
    return http.post("/v1/studies/import", content=content, params=query, headers=headers)


def unnamed(content: bytes) -> dict[str, Any]:
    """What is exported, without what may differ between an original and its copy."""
    found = json.loads(content)
    return {**found, "study": {**found["study"], "name": None, "id": None}}


def suggested(http: httpx.Client, name: str, count: int = 5) -> list[Any]:
    """The next points of a study, with everything that the model says of them."""
    found = []
    for index in range(count):
        body = {"worker": f"w-{index}", "wait_s": 60}
        [trial] = http.post(f"/v1/studies/{name}/ask", json=body).json()["trials"]
        found.append((trial["number"], trial["point"], trial["origin"]))
        tell = f"/v1/studies/{name}/trials/{trial['number']}/tell"
        assert http.post(tell, json={"cost": 0.1 * index}).status_code == 200
    return found


@pytest.mark.parametrize(
    "definition",
    [
        {"space": SPHERE, "initial_design": {"size": 3}, "acquisition": {"type": "thompson"}},
        {"space": PARTS, "initial_design": {"size": 3}, "objective": {"goal": "maximize"}, "budget": {"trials": 90}},
        {"space": {"type": "real", "bounds": [0, 1]}, "kernel": {"nu": "inf"}, "initial_design": {"size": 3}},
    ],
    ids=["thompson", "product", "heat"],
)
def test_a_copy_is_equal_and_goes_on_with_the_same_suggestions(make_lab, definition):
    lab = make_lab(**definition)
    lived_in(lab)
    content = exported(lab).content

    answer = imported(lab.http, content, f"{lab.name}-copy")

    assert answer.status_code == 201, answer.text
    copy = answer.json()
    assert copy["id"] != lab.show()["id"], "beside the original, the copy has an id of its own"
    again = lab.http.get(f"/v1/studies/{copy['name']}/export").content
    assert unnamed(again) == unnamed(content)
    assert suggested(lab.http, copy["name"]) == suggested(lab.http, lab.name)


def test_equal_content_is_equal_bytes(lab):
    lived_in(lab)

    assert exported(lab).content == exported(lab).content
    assert exported(lab).headers["Content-Type"] == "application/json"
    assert f'filename="{lab.name}.json"' in exported(lab).headers["Content-Disposition"]


@pytest.fixture(scope="module")
def elsewhere(running_server, shared_servers):
    """A server on a database of the other kind."""
    other = "sqlite" if running_server.database.startswith("postgresql") else "postgresql"
    with httpx.Client(base_url=shared_servers(other).url, timeout=60) as http:
        yield http


def test_on_another_database_it_is_the_same_study(make_lab, elsewhere):
    lab = make_lab(initial_design={"size": 3})
    lived_in(lab)
    content = exported(lab).content

    there = imported(elsewhere, content, None)

    assert there.status_code == 201, there.text
    assert there.json() == lab.show()
    assert elsewhere.get(f"{lab.path}/export").content == content
    assert elsewhere.get(f"{lab.path}/trials").json() == lab.http.get(f"{lab.path}/trials").json()
    assert elsewhere.get(f"{lab.path}/events").json() == lab.http.get(f"{lab.path}/events").json()
    assert suggested(elsewhere, lab.name) == suggested(lab.http, lab.name)


def test_a_worker_gets_its_running_trial_from_the_copy(make_lab, elsewhere):
    lab = make_lab()
    running = lab.ask(worker="panda-1", lease_s=3000)

    imported(elsewhere, exported(lab).content, None)

    [trial] = elsewhere.post(f"{lab.path}/ask", json={"worker": "panda-1"}).json()["trials"]
    assert (trial["number"], trial["point"]) == (running["number"], running["point"])
    assert elsewhere.get(f"{lab.path}/events").json()["events"][-1]["kind"] == "resumed"


def test_a_name_that_is_taken_is_refused_and_a_repeat_gets_the_first_answer(lab):
    content = exported(lab).content
    taken = imported(lab.http, content, None)
    key = {"Idempotency-Key": uuid.uuid4().hex, "Content-Type": "application/json"}
    query = {"name": f"{lab.name}-copy"}

    first, again = (lab.http.post("/v1/studies/import", content=content, params=query, headers=key) for _ in range(2))

    assert (taken.status_code, taken.json()["code"]) == (409, "study-exists")
    assert "?name=" in taken.json()["detail"]
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"


def test_what_is_exported_is_all_that_the_database_has():
    assert [*PortableTrial.model_fields] == [
        column.name for column in Trial.__table__.c if column.name != "study_serial"
    ]


def changed(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(study: dict[str, Any]) -> None:
        *outer, last = path
        for part in outer:
            study = study[part]
        study[last] = to

    return change


def removed(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(study: dict[str, Any]) -> None:
        *outer, last = path
        for part in outer:
            study = study[part]
        del study[last]

    return change


FAULTS = [
    (changed("format", to="optuna"), "/format"),
    (changed("version", to=2), "/version"),
    (removed("events"), "/events"),
    (changed("study", "id", to="panda"), "/study/id"),
    (changed("study", "name", to="a/b"), "/study/name"),
    (changed("study", "space", to={"type": "cube"}), "/study/space/type"),
    (changed("study", "space", "bounds", to=None), "/study/space"),
    (changed("study", "space", "bounds", to=[[1, 1], [0, 1]]), "/study/space/bounds/0"),
    (changed("study", "counts", "failed", to=5), "/study/counts"),
    (changed("study", "last_event", to=300), "/study/last_event"),
    (changed("study", "state", to="paused"), "/study/state"),
    (changed("study", "created_at", to="2026-13-01T00:00:00.000000Z"), "/study/created_at"),
    (changed("trials", 1, "number", to=7), "/trials/1/number"),
    (removed("trials", 0), "/trials/0/number"),
    (removed("trials", 1, "recipe"), "/trials/1/recipe"),
    (changed("trials", 1, "colour", to="red"), "/trials/1/colour"),
    (changed("trials", 1, "state", to="done"), "/trials/1/state"),
    (changed("trials", 1, "state", to="failed"), "/trials/1/told/outcome"),
    (changed("trials", 1, "cost", to=None), "/trials/1/cost"),
    (changed("trials", 1, "cost", to=0.2), "/trials/1/cost"),
    (changed("trials", 1, "cost", to="0.25"), "/trials/1/cost"),
    (changed("trials", 1, "point", to=[0.5]), "/trials/1/point"),
    (changed("trials", 1, "point", to=[[0.5], [0.5]]), "/trials/1/point"),
    (changed("trials", 1, "point", to=[0.5, 0.5]), "/trials/1"),
    (changed("trials", 1, "suggested_point", to=[0.5, "x"]), "/trials/1/suggested_point/1"),
    (changed("trials", 1, "attempt", to=2), "/trials/1/attempt"),
    (changed("trials", 1, "retry_of", to=2), "/trials/1/retry_of"),
    (changed("trials", 1, "first_attempt", to=1), "/trials/1/first_attempt"),
    (changed("trials", 1, "flags", to=["odd"]), "/trials/1/flags/0"),
    (changed("trials", 1, "recipe", "after_event", to=999), "/trials/1/recipe/after_event"),
    (changed("trials", 1, "recipe", "index", to=1), "/trials/1/recipe/index"),
    (changed("trials", 1, "lease_expires_at", to="2026-11-27T12:00:00.000000Z"), "/trials/1/lease_expires_at"),
    (changed("trials", 1, "metrics", to={"force": "2"}), "/trials/1/metrics/force"),
    (changed("events", 2, "position", to=4), "/events/2/position"),
    (removed("events", 2), "/events/2/position"),
    (changed("events", 2, "kind", to="created"), "/events/2/kind"),
    (changed("events", 1, "kind", to="resumed"), "/events/1"),
    (changed("events", 1, "number", to=9), "/events/1"),
    (changed("events", 3, "details", "told", to="completed"), "/events/3/details/told"),
    (changed("events", 3, "kind", to="failed"), "/trials/0"),
]


@pytest.mark.parametrize(("break_it", "pointer"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_no_study_could_be_is_refused_with_its_place_and_changes_nothing(broken_ground, break_it, pointer):
    http, content = broken_ground
    study = json.loads(content)
    break_it(study)
    before = http.get("/v1/studies").json()

    answer = imported(http, json.dumps(study).encode(), f"copy-{uuid.uuid4().hex}")

    assert answer.status_code == 422, answer.text
    assert pointer in [error["pointer"] for error in answer.json()["errors"]], answer.text
    assert http.get("/v1/studies").json() == before


@pytest.fixture(scope="module")
def broken_ground(http):
    """A study with two trials, as it is exported."""
    lab = Lab(http, f"study-{uuid.uuid4()}")
    for cost in (0.5, 0.25):
        lab.tell(lab.ask()["number"], cost=cost)
    return http, exported(lab).content


def test_a_study_that_is_no_json_is_refused(http):
    answer = imported(http, b'{"format": "geodrome-study", "format": "x"}', None)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert "twice" in answer.json()["detail"]


def test_a_large_study_is_no_too_large_body(lab):
    study = json.loads(exported(lab).content)
    study["study"]["metadata"] = {"log": "x" * 5_000_000}

    answer = imported(lab.http, json.dumps(study).encode(), f"{lab.name}-copy")

    assert answer.status_code == 201


def test_an_import_has_a_limit_of_its_own():
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b" " * 1024**2, "more_body": True}

    async def read() -> list[int]:
        app = SimpleNamespace(state=SimpleNamespace(settings=Settings(import_limit_mib=16)))
        request = LargeJsonRequest({"type": "http", "method": "POST", "headers": [], "app": app}, receive)
        return [len(part) async for part in request.stream()]

    with pytest.raises(TooLarge, match="at most 16 MiB"):
        asyncio.run(read())


def test_an_empty_study_is_carried_too(lab):
    assert imported(lab.http, exported(lab).content, f"{lab.name}-copy").status_code == 201
    assert lab.http.get(f"{lab.path}/export", params={"format": "csv"}).text.startswith("number,state,")


def table(lab: Lab) -> list[dict[str, str]]:
    answer = lab.http.get(f"{lab.path}/export", params={"format": "csv"})
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_a_table_has_a_row_for_each_trial_and_a_column_for_each_number(make_lab):
    lab = make_lab(space=PARTS)
    lived_in(lab)

    rows = table(lab)

    trials = lab.trials(limit=1000)
    assert [int(row["number"]) for row in rows] == [trial["number"] for trial in trials]
    for row, trial in zip(rows, trials, strict=True):
        point = trial["point"]
        assert [float(row[f"point.tool[{index}]"]) for index in range(4)] == point["tool"]
        assert float(row["point.gain"]) == point["gain"]
        assert float(row["point.grip[0][1]"]) == point["grip"][0][1]
        assert row["cost"] == ("" if trial["cost"] is None else repr(trial["cost"]))
        assert row["state"] == trial["state"]
    assert rows[1]["metrics.force"] == "0.5"
    assert rows[1]["worker"] == "panda-1"
    assert any(row["flags"] == "late" for row in rows)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_becomes_a_formula(lab, text):
    number = lab.ask(worker=text)["number"]
    lab.tell(number, outcome="failed", reason=text, metrics={text: -1.0})

    [row] = table(lab)

    assert row["reason"] == row["worker"] == f"'{text}"
    assert not any(name.startswith(("=", "+", "-", "@", "\t", "\r")) for name in row)
    assert row[f"metrics.{text}"] == "-1.0", "numbers stay numbers"


def test_commas_quotes_and_lines_stay_within_their_cell(lab):
    reason = 'the arm said "no", then\nstopped'
    lab.tell(lab.ask()["number"], outcome="failed", reason=reason)

    [row] = table(lab)

    assert row["reason"] == reason


def test_an_unknown_study_or_form_is_refused(http, lab):
    assert http.get("/v1/studies/nobody/export").json()["code"] == "study-not-found"
    assert http.get(f"{lab.path}/export", params={"format": "xml"}).json()["errors"][0]["pointer"] == "/format"


def test_exports_that_are_not_read_to_their_end_hold_nothing_up(lab):
    """More of them than the server has connections to its database; meanwhile the study goes on."""
    bodies = [{"point": [0.0, 0.001 * index], "cost": index, "metadata": {"log": "x" * 2000}} for index in range(1000)]
    for _ in range(2):
        assert lab.http.post(f"{lab.path}/trials/batch", json={"trials": bodies}).status_code == 201

    for index in range(12):
        with lab.http.stream("GET", f"{lab.path}/export") as answer:
            next(answer.iter_bytes(1000))
            assert lab.http.post(f"{lab.path}/trials", json={"point": [0.0, 0.0], "cost": index}).status_code == 201

    whole = exported(lab).content
    assert [trial["number"] for trial in json.loads(whole)["trials"]] == [*range(1, 2013)]
    assert imported(lab.http, whole, f"{lab.name}-copy").status_code == 201


def test_of_imports_under_one_name_that_come_together_one_is_made(lab):
    content = exported(lab).content

    with ThreadPoolExecutor(4) as people:
        codes = sorted(
            answer.status_code
            for answer in people.map(lambda _: imported(lab.http, content, f"{lab.name}-x"), range(4))
        )

    assert codes == [201, 409, 409, 409]


def test_of_imports_under_several_names_that_come_together_each_has_its_own_id(make_lab, elsewhere):
    lab = make_lab()
    content = exported(lab).content

    with ThreadPoolExecutor(4) as people:
        copies = list(people.map(lambda index: imported(elsewhere, content, f"{lab.name}-{index}"), range(4)))

    assert [copy.status_code for copy in copies] == [201] * 4
    ids = {copy.json()["id"] for copy in copies}
    assert len(ids) == 4
    assert lab.show()["id"] in ids


def test_a_name_for_the_copy_follows_the_rules_of_names(lab):
    answer = imported(lab.http, exported(lab).content, "a/b")

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/name")
