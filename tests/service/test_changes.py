"""Studies that are paused, resumed, closed, changed and deleted; heartbeats; and the events that tell of it all."""

from __future__ import annotations

import time

import pytest


def test_a_paused_study_refuses_asks_until_it_is_resumed(http, lab):
    paused = http.patch(lab.path, json={"state": "paused"})
    refused = http.post(f"{lab.path}/ask", json={"wait_s": 0})
    http.patch(lab.path, json={"state": "active"})

    assert (paused.status_code, paused.json()["state"]) == (200, "paused")
    assert (refused.status_code, refused.json()["code"]) == (409, "study-paused")
    assert lab.ask()["number"] == 1


def test_a_closed_study_stays_closed_but_may_be_described(http, lab):
    http.patch(lab.path, json={"state": "closed"})

    opened = http.patch(lab.path, json={"state": "active"})
    described = http.patch(lab.path, json={"state": "closed", "metadata": {"result": "in the thesis"}})

    assert (opened.status_code, opened.json()["code"]) == (409, "study-closed")
    assert described.json()["metadata"] == {"result": "in the thesis"}
    assert lab.show()["state"] == "closed"


def test_a_spent_budget_can_be_raised(http, make_lab):
    lab = make_lab(budget={"trials": 1})
    lab.tell(lab.ask()["number"], cost=1)
    spent = http.post(f"{lab.path}/ask", json={"wait_s": 0})

    raised = http.patch(lab.path, json={"budget": {"trials": 3}, "lease_s": 5.5})

    assert (spent.status_code, spent.json()["code"]) == (409, "study-closed")
    assert (raised.json()["budget_left"], raised.json()["lease_s"]) == (2, 5.5)
    assert lab.ask()["number"] == 2


def test_a_budget_may_lose_its_limit_and_metadata_may_hold_a_null(http, make_lab):
    lab = make_lab(budget={"trials": 1})

    changed = http.patch(lab.path, json={"budget": {"trials": None}, "metadata": {"a": None}, "lease_s": None})

    assert changed.status_code == 200
    assert (lab.show()["budget"], lab.show()["budget_left"]) == ({"trials": None}, None)
    assert lab.show()["metadata"] == {"a": None}
    assert lab.show()["lease_s"] == lab.created.json()["lease_s"]
    assert lab.ask()["number"] == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"space": {"type": "rotation"}}, "/space"),
        ({"seed": 1}, "/seed"),
        ({"state": "deleted"}, "/state"),
        ({"lease_s": 0}, "/lease_s"),
        ({"budget": {"trials": 0}}, "/budget/trials"),
    ],
)
def test_what_defines_a_study_never_changes_and_values_keep_their_rules(http, lab, body, pointer):
    refused = http.patch(lab.path, json=body)

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert lab.show() == lab.created.json()


def test_a_deleted_study_is_gone_and_its_name_is_free(http, lab):
    lab.tell(lab.ask()["number"], cost=1)

    deleted = http.delete(lab.path)

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert http.get(lab.path).status_code == http.delete(lab.path).status_code == 404
    assert http.post("/v1/studies", json={"name": lab.name, "space": {"type": "rotation"}}).status_code == 201
    assert lab.trials() == []


def test_a_heartbeat_extends_the_lease_by_as_long_as_it_was(http, lab):
    asked = http.post(f"{lab.path}/ask", json={"lease_s": 100}).json()["trials"][0]
    time.sleep(0.05)

    extended = http.post(f"{lab.path}/trials/1/heartbeat").json()
    longer = http.post(f"{lab.path}/trials/1/heartbeat", json={"lease_s": 5000}).json()

    assert asked["lease_expires_at"] < extended["lease_expires_at"] < longer["lease_expires_at"]
    assert {**asked, "lease_expires_at": 0} == {**extended, "lease_expires_at": 0}


def test_a_heartbeat_after_the_lease_takes_the_trial_back(http, make_lab, eventually):
    lab = make_lab(lease_s=0.05)
    lab.ask(worker="panda-1")
    eventually(lambda: lab.trial(1)["state"] == "lost")

    beat = http.post(f"{lab.path}/trials/1/heartbeat", json={"lease_s": 60})

    assert (beat.status_code, beat.json()["state"], beat.json()["worker"]) == (200, "running", "panda-1")
    assert beat.json()["reason"] is None
    assert [trial["state"] for trial in lab.trials()] == ["running", "lost"], "the repeat is withdrawn"
    assert lab.tell(1, cost=1).json()["flags"] == []


def test_only_a_running_trial_has_a_heartbeat(http, lab):
    http.post(f"{lab.path}/trials", json={"point": [0, 0]})
    http.post(f"{lab.path}/trials", json={"point": [0, 0], "cost": 1})

    for number in (1, 2):
        refused = http.post(f"{lab.path}/trials/{number}/heartbeat")
        assert (refused.status_code, refused.json()["code"]) == (409, "outcome-conflict")
        assert refused.json()["stored"]["number"] == number
    assert http.post(f"{lab.path}/trials/3/heartbeat").json()["code"] == "trial-not-found"


def test_events_tell_everything_in_order_page_by_page(http, lab):
    lab.tell(lab.ask(worker="panda-1")["number"], cost=1)
    http.patch(lab.path, json={"state": "paused"})
    http.patch(lab.path, json={"metadata": {"a": 1}})

    pages, after = [], 0
    while after is not None:
        page = http.get(f"{lab.path}/events", params={"after": after, "limit": 4}).json()
        pages.append(page["events"])
        after = page["next_cursor"]

    told = [event for page in pages for event in page]
    assert [len(page) for page in pages] == [4, 2]
    assert [(event["kind"], event["number"]) for event in told] == [
        ("created", None), ("queued", 1), ("running", 1), ("completed", 1), ("paused", None), ("changed", None),
    ]  # fmt: skip
    assert [event["position"] for event in told] == [1, 2, 3, 4, 5, 6]
    assert told[2]["details"] == {"worker": "panda-1"}
    assert told[5]["details"] == {"metadata": {"a": 1}}
    assert [event["at"] for event in told] == sorted(event["at"] for event in told)
