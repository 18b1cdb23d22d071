"""Events as they happen: from a stream, from pages where there is none, and what ends it all."""

from __future__ import annotations

from itertools import islice

import geodrome
import httpx
import pytest
from geodrome import following
from geodrome.errors import StudyNotFound


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(following, "POLL_S", 0.0)


@pytest.fixture
def followed(scripted, study_body):
    """The positions of what is followed, and the script; the answers come after that of the study."""

    def make(*answers):
        client, script = scripted(httpx.Response(200, json=study_body()), *answers)
        study = client.study("arm")
        script.requests.clear()
        return (event.position for event in study.follow()), script

    return make


def event(position):
    return {"position": position, "at": "2026-11-29T12:00:00Z", "kind": "queued", "number": 1, "details": {}}


def page(*positions, then=None):
    return httpx.Response(200, json={"events": [event(position) for position in positions], "next_cursor": then})


def stream(*positions):
    text = ": keepalive\n\n" + "".join(
        f"id: {position}\nevent: queued\ndata: {httpx.Response(200, json=event(position)).text}\n\n"
        for position in positions
    )
    return httpx.Response(200, text=text, headers={"Content-Type": "text/event-stream"})


def gone():
    body = StudyNotFound("the study was deleted").body(instance="/v1/studies/arm/events", request_id="r")
    return httpx.Response(404, json=body)


def test_a_stream_goes_on_where_the_pages_end_until_the_study_is_deleted(followed):
    positions, script = followed(page(1, then=1), page(2), stream(3, 4), gone())

    seen = list(islice(positions, 4))
    with pytest.raises(geodrome.StudyNotFound):
        next(positions)

    assert seen == [1, 2, 3, 4]
    assert [request.url.params["after"] for request in script.requests] == ["0", "1", "2", "4"]
    assert [request.headers["Accept"] for request in script.requests][2] == "text/event-stream"


def test_a_stream_that_breaks_goes_on_without_a_gap(followed):
    positions, script = followed(
        page(1), stream(2), page(3), httpx.ReadTimeout("silence"), page(), httpx.ConnectError("away"), page(4)
    )

    assert list(islice(positions, 4)) == [1, 2, 3, 4]
    assert [request.url.params["after"] for request in script.requests] == ["0", "1", "2", "3", "3", "3", "3"]


def test_where_no_stream_gets_through_pages_are_asked_for(followed):
    html = [httpx.Response(200, html="<h1>proxy</h1>") for _ in range(2)]
    positions, _ = followed(page(1), html[0], page(2), html[1], page(3))

    assert list(islice(positions, 3)) == [1, 2, 3]
