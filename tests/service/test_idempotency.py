"""A request under a key has its effect once, however often and however concurrently it is sent."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from geodrome_service.store import idempotency


@pytest.fixture
def key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())}


def test_an_ask_sent_again_gets_the_same_answer(http, lab, key):
    first = http.post(f"{lab.path}/ask", json={"count": 2}, headers=key)
    lab.tell(1, cost=1)

    again = http.post(f"{lab.path}/ask", json={"count": 2}, headers=key)

    assert (again.status_code, again.json()) == (200, first.json())
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(lab.trials()) == 2


def test_a_tell_sent_again_gets_the_same_answer_whatever_happened_since(http, lab, key):
    lab.ask()
    first = http.post(f"{lab.path}/trials/1/tell", json={"cost": 1}, headers=key)
    lab.tell(1, outcome="abandoned")

    again = http.post(f"{lab.path}/trials/1/tell", json={"cost": 1}, headers=key)

    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert lab.trial(1)["state"] == "abandoned"


def test_a_study_made_again_under_its_key_is_made_once(http, study_name, key):
    body = {"name": study_name, "space": {"type": "rotation"}}
    first = http.post("/v1/studies", json=body, headers=key)

    again = http.post("/v1/studies", json=body, headers=key)

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_key_belongs_to_one_body(http, lab, key):
    lab.ask()
    http.post(f"{lab.path}/trials/1/tell", json={"cost": 1}, headers=key)

    answer = http.post(f"{lab.path}/trials/1/tell", json={"cost": 2}, headers=key)

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency-conflict")
    assert lab.trial(1)["cost"] == 1


def test_a_key_belongs_to_one_address(http, lab, key):
    lab.ask()
    lab.ask()
    http.post(f"{lab.path}/trials/1/tell", json={"cost": 1}, headers=key)

    other_trial = http.post(f"{lab.path}/trials/2/tell", json={"cost": 1}, headers=key)
    other_route = http.post(f"{lab.path}/ask", headers=key)

    assert other_trial.json()["code"] == other_route.json()["code"] == "idempotency-conflict"
    assert lab.trial(2)["state"] == "running"


def test_a_refused_request_does_not_use_up_its_key(http, lab, key):
    lab.ask()
    refused = http.post(f"{lab.path}/trials/1/tell", json={"cost": "1"}, headers=key)

    accepted = http.post(f"{lab.path}/trials/1/tell", json={"cost": 1}, headers=key)

    assert (refused.status_code, accepted.status_code) == (422, 200)


def twins(server: str, path: str, body: object, headers: dict[str, str], count: int = 6) -> list[httpx.Response]:
    """The same request from several connections at the same moment."""
    together = threading.Barrier(count)

    def send(_: int) -> httpx.Response:
        with httpx.Client(base_url=server, timeout=60) as http:
            together.wait()
            return http.post(path, json=body, headers=headers)

    with ThreadPoolExecutor(count) as senders:
        return list(senders.map(send, range(count)))


def test_twins_of_an_ask_get_one_trial(server, lab, key):
    answers = twins(server, f"{lab.path}/ask", {"worker": "panda-1", "resume": False}, key)

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert [answer.headers.get("Idempotent-Replayed") for answer in answers].count(None) == 1
    assert len(lab.trials()) == 1


def test_twins_of_a_tell_store_one_outcome(server, lab, key):
    lab.ask()

    answers = twins(server, f"{lab.path}/trials/1/tell", {"cost": 1}, key)

    assert len({answer.text for answer in answers}) == 1
    assert {answer.status_code for answer in answers} == {200}


def test_of_different_outcomes_told_at_once_one_is_stored(server, lab):
    lab.ask()
    together = threading.Barrier(6)

    def tell(cost: int) -> httpx.Response:
        with httpx.Client(base_url=server, timeout=60) as http:
            together.wait()
            return http.post(f"{lab.path}/trials/1/tell", json={"cost": cost})

    with ThreadPoolExecutor(6) as robots:
        answers = list(robots.map(tell, range(6)))

    [accepted] = [answer.json() for answer in answers if answer.status_code == 200]
    conflicts = [answer.json() for answer in answers if answer.status_code == 409]
    assert len(conflicts) == 5
    assert all(conflict["stored"] == accepted for conflict in conflicts)
    assert lab.trial(1) == accepted


def test_keys_are_forgotten_after_a_week(database, now):
    sweeping = "00" + 62 * "f"  # one digest in 256 begins so

    with database.write.begin() as session:
        idempotency.keep(session, "old", request=sweeping, status=200, answer={}, now=now)

    with database.write.begin() as session:
        later = now + timedelta(days=7, seconds=1)
        idempotency.keep(session, "new", request=64 * "f", status=200, answer={}, now=later)
        assert idempotency.find(session, "old") is not None
        idempotency.keep(session, "newer", request=sweeping, status=200, answer={}, now=later)

    with database.read() as session:
        assert idempotency.find(session, "old") is None
        assert idempotency.find(session, "new") is not None
