"""Client and study against a scripted network: what is sent, what comes back, which error is raised."""

from __future__ import annotations

import geodrome
import httpx
import pytest
from geodrome.errors import PROBLEMS, FieldError
from geodrome.schemas import TrialState


@pytest.mark.parametrize("code", sorted(PROBLEMS))
def test_every_problem_is_raised_as_its_class(scripted, code):
    sent = PROBLEMS[code](
        "what happened",
        errors=[FieldError("/point", "is off", got=[2.0], rule="norm 1")],
        extra={"stored": {"number": 4}},
    )
    body = sent.body(instance="/v1/studies/arm", request_id="r-1")
    client, _ = scripted(httpx.Response(sent.status, json=body, headers={"Retry-After": "3600"}))

    with pytest.raises(geodrome.Problem) as caught:
        client.study("arm")

    assert type(caught.value) is PROBLEMS[code]
    assert caught.value.detail == "what happened"
    assert caught.value.errors == sent.errors
    assert caught.value.extra == {"stored": {"number": 4}}
    assert caught.value.request_id == "r-1"


def test_address_and_key_come_from_the_environment(monkeypatch, scripted, study_body):
    monkeypatch.setenv("GEODROME_URL", "http://lab:9000")
    monkeypatch.setenv("GEODROME_KEY", "from-environment")
    requests = []

    def answer(request):
        requests.append(request)
        return httpx.Response(200, json=study_body())

    geodrome.Client(transport=httpx.MockTransport(answer)).study("arm")

    assert str(requests[0].url) == "http://lab:9000/v1/studies/arm"
    assert requests[0].headers["Authorization"] == "Bearer from-environment"


def test_a_client_does_not_show_its_key():
    client = geodrome.Client("http://lab:9000", key="secret-of-the-lab")

    assert "secret" not in repr(client) + str(client) + repr(vars(client))


def test_without_anything_the_service_on_this_machine_is_meant(monkeypatch):
    monkeypatch.delenv("GEODROME_URL", raising=False)

    assert geodrome.Client().url == "http://127.0.0.1:8100"


def test_creating_a_study_sends_its_definition_once(scripted, study_body):
    client, script = scripted(httpx.ReadTimeout("slow"), httpx.Response(201, json=study_body()))

    study = client.create_study("arm", space=geodrome.Sphere(dim=2), seed=3, objective={"goal": "maximize"})

    assert study.name == "arm"
    assert script.keys[0] is not None
    assert script.keys[0] == script.keys[1]
    assert script.bodies[1]["space"]["dim"] == 2
    assert script.bodies[1]["seed"] == 3
    assert script.bodies[1]["objective"] == {"goal": "maximize"}
    assert script.bodies[1]["if_exists"] == "error"


def test_a_name_with_a_slash_stays_one_part_of_the_address(scripted, study_body):
    client, script = scripted(httpx.Response(200, json=study_body()))

    client.study("a/b c")

    assert script.requests[0].url.raw_path == b"/v1/studies/a%2Fb%20c"


def test_studies_are_listed_page_after_page(scripted, study_body):
    client, script = scripted(
        httpx.Response(200, json={"studies": [study_body(name="b"), study_body(name="a")], "next_cursor": "x"}),
        httpx.Response(200, json={"studies": [study_body(name="Z")], "next_cursor": None}),
    )

    names = [study.name for study in client.studies(state="active")]

    assert names == ["b", "a", "Z"]
    assert [request.url.query for request in script.requests] == [b"state=active", b"state=active&cursor=x"]


def test_trials_are_listed_page_after_page(scripted, study_body, trial_body):
    client, script = scripted(
        httpx.Response(200, json=study_body()),
        httpx.Response(200, json={"trials": [trial_body(number=1)], "next_cursor": 1}),
        httpx.Response(200, json={"trials": [trial_body(number=2)], "next_cursor": None}),
    )

    numbers = [trial.number for trial in client.study("arm").trials(state=TrialState.RUNNING, worker="w")]

    assert numbers == [1, 2]
    assert [dict(request.url.params) for request in script.requests[1:]] == [
        {"state": "running", "worker": "w", "after": "0"},
        {"state": "running", "worker": "w", "after": "1"},
    ]


def test_an_ask_that_is_not_ready_is_repeated_under_its_key(scripted, study_body, trial_body):
    client, script = scripted(
        httpx.Response(200, json=study_body()),
        httpx.Response(202, headers={"Retry-After": "0"}, json={"detail": "computing"}),
        httpx.Response(200, json={"trials": [trial_body(number=7)]}),
    )

    trial = client.study("arm").ask(worker="panda-1")

    assert trial.number == 7
    assert script.keys[1] is not None
    assert script.keys[1] == script.keys[2]
    assert script.bodies == [{"count": 1, "worker": "panda-1", "wait_s": 30.0, "resume": True}] * 2


def test_an_ask_lets_the_service_think_for_no_more_than_half_the_deadline(scripted, study_body, trial_body):
    client, script = scripted(
        httpx.Response(200, json=study_body()), httpx.Response(200, json={"trials": [trial_body()]}), timeout_s=8
    )

    client.study("arm").ask()

    assert script.bodies[0]["wait_s"] == 4.0


@pytest.mark.parametrize(
    ("act", "body"),
    [
        (lambda trial: trial.tell(cost=0.44), {"outcome": "completed", "cost": 0.44}),
        (lambda trial: trial.tell(cost=1, std=0), {"outcome": "completed", "cost": 1, "std": 0}),
        (lambda trial: trial.tell(costs=[1.0, 2.0]), {"outcome": "completed", "costs": [1.0, 2.0]}),
        (
            lambda trial: trial.tell(cost=1.0, point=(1.0, 0.0, 0.0, 0.0), metrics={"t": 2.0}, metadata={"by": "Ada"}),
            {
                "outcome": "completed",
                "cost": 1.0,
                "point": [1.0, 0.0, 0.0, 0.0],
                "metrics": {"t": 2.0},
                "metadata": {"by": "Ada"},
            },
        ),
        (lambda trial: trial.fail(reason="e-stop"), {"outcome": "failed", "reason": "e-stop"}),
        (lambda trial: trial.lose(reason="no link"), {"outcome": "lost", "reason": "no link"}),
        (lambda trial: trial.abandon(reason="bad sensor"), {"outcome": "abandoned", "reason": "bad sensor"}),
    ],
)
def test_a_tell_sends_exactly_what_was_said(scripted, study_body, trial_body, act, body):
    client, script = scripted(
        httpx.Response(200, json=study_body()),
        httpx.Response(200, json={"trials": [trial_body(number=3)]}),
        httpx.Response(200, json=trial_body(number=3, state=body["outcome"])),
    )
    trial = client.study("arm").ask()

    record = act(trial)

    assert script.requests[-1].url.path == "/v1/studies/5b0c/trials/3/tell"
    assert script.bodies[-1] == body
    assert record.state.value == body["outcome"]
    assert trial.record == record


def test_a_cost_that_is_not_finite_is_never_sent(scripted, study_body, trial_body):
    client, script = scripted(
        httpx.Response(200, json=study_body()), httpx.Response(200, json={"trials": [trial_body()]})
    )
    trial = client.study("arm").ask()

    with pytest.raises(geodrome.InvalidCost, match="say that it failed"):
        trial.tell(cost=float("nan"))

    assert len(script.requests) == 2


def test_a_field_that_a_newer_service_adds_is_tolerated(scripted, study_body):
    client, _ = scripted(httpx.Response(200, json=study_body(mood="good")))

    assert client.study("arm").name == "arm"


def test_the_client_closes_its_connections(scripted, study_body):
    client, _ = scripted(httpx.Response(200, json=study_body()))

    with client:
        client.study("arm")

    with pytest.raises(RuntimeError, match="closed"):
        client.study("arm")


def test_what_changes_of_a_study_travels_at_once(asked, study_body):
    study, script = asked()
    script.answers.append(httpx.Response(200, json=study_body(state="paused")))

    study.update(state="paused", budget={"trials": None}, lease_s=9, metadata={"a": None})

    assert script.bodies == [{"state": "paused", "budget": {"trials": None}, "lease_s": 9, "metadata": {"a": None}}]
    assert study.record.state == "paused"


def test_health_and_readiness_are_asked_for_once(scripted):
    client, script = scripted(
        httpx.Response(200, json={"status": "ok", "version": "0.1.0"}),
        httpx.Response(503, json={"database": False, "compute": True}),
        httpx.ConnectError("refused"),
        httpx.Response(502, html="<h1>proxy</h1>"),
    )

    assert client.health().version == "0.1.0"
    assert client.readiness().database is False
    for _ in range(2):
        with pytest.raises(geodrome.ServiceUnreachable, match="/healthz"):
            client.health()
    assert len(script.requests) == 4


def test_types_of_spaces_come_by_their_names(scripted):
    client, _ = scripted(httpx.Response(200, json={"types": {"real": {"type": "object"}}}))

    assert client.space_types() == {"real": {"type": "object"}}
